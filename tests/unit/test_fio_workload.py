"""Jobs of fio as loads: options, refusals, and settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import writeamp as wa
from places import ROOT
from refusals import refused_with
from writeamp.errors import WriteampError
from writeamp.fio.workload import fio_load
from writeamp.learn.blackbox.features.feature_sets import FEATURE_SETS
from writeamp.learn.blackbox.model_input import ModelInput

DRIVE: dict[str, Any] = {"blocks": 64, "pages_per_block": 32, "op": 0.25}
EXAMPLES = ROOT / "examples" / "fio"


def workload_of(path: Path | None = None, command: str | None = None) -> str:
    load = fio_load(path, command)
    assert load is not None
    return load.text


def test_every_example_is_a_load() -> None:
    for path in EXAMPLES.glob("*.fio"):
        assert workload_of(path).startswith("fio:streams=stream(")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--rw=write --nrfiles=2 --fill_device=1", "fill_device; nrfiles. Remove them"),
        ("--rw=write --verify_only", "verify_only. Remove them"),
        ("--rw=write --thinktime=5 --name=b --rw=read --exitall=1", "exitall; thinktime. Remove"),
        ("--rw=write --foo=1", "foo, which fio does not know"),
        ("--rw=write --size=${SIZE}", "whose value is unknown"),
        (
            "--rw=write --offset=x --loops=-2",
            "loops=-2, which fio cannot read as a number; offset=x",
        ),
        ("--rw=write --bssplit=4k/x:8k", "bssplit=4k/x:8k; valid: sizes with per cents"),
        ("--rw=write --zonemode=zbd", "zonemode=zbd"),
        ("--rw=write --fdp=1 --fdp_pli=300", "job 'a' has fdp_pli=300; valid: placement handles"),
        ("--rw=write --fdp=1 --fdp_pli=x", "has fdp_pli=x; valid: placement handles"),
        ("--rw=write --filename=a:b", "several files of job 'a'"),
        ("--rw=write --ioengine=cpuio", "ioengine=cpuio, which writes to no drive"),
        ("--rw=write --numjobs=100000", "the jobs have 100,000 copies; at most 500 are modelled"),
        ("--rw=wirte", "rw=wirte; valid: read, write"),
        ("--rw=randwrite --random_distribution=zipf:1", "zipf:θ (not 1)"),
        ("--rw=randwrite --random_distribution=zoned_abs:60:40", "valid: random, zipf"),
    ],
)
def test_what_is_not_modelled_is_refused(options: str, words: str) -> None:
    with pytest.raises(WriteampError) as raised:
        workload_of(command=f"fio --name=a {options}")
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_lines_of_a_job_file_are_named(tmp_path: Path) -> None:
    job = tmp_path / "bad.fio"
    job.write_text("[a]\nrw=write\nnrfiles=3\n[b]\nrw=write\nread_iolog=x\nnrfiles=2\n")
    with pytest.raises(WriteampError, match=r"nrfiles \(line 3, 7\); read_iolog \(line 6\)"):
        workload_of(job)


def test_options_of_concurrent_jobs_do_not_change_a_single_one() -> None:
    plain = "fio --name=a --rw=randwrite --offset=1m"
    other = "fio --name=a --rw=randwrite --fileoffset=1m --thinktime=5 --startdelay=3 --exitall"
    assert workload_of(command=plain) == workload_of(command=other)


def test_targets_and_reports_do_not_change_a_load() -> None:
    plain = "fio --name=a --filename=/dev/nvme0n1 --rw=randwrite"
    other = (
        f"{plain} --ioengine=libaio --direct=1 --group_reporting --runtime=60 --lat_percentiles=1"
    )
    assert workload_of(command=plain) == workload_of(command=other)


def test_copies_without_a_filename_have_files_of_their_own() -> None:
    sections = "--name=a --rw=write --size=8k --numjobs=2 --name=b --rw=write --size=4k"
    load = workload_of(command=f"fio {sections}")
    assert [part.partition(",")[0] for part in load.split("offset=")[1:]] == ["8192", "16384"]
    named = workload_of(command=f"fio --filename=drive {sections}")
    assert "offset=" not in named


def test_a_job_repeats_its_order_and_independent_draws_do_not() -> None:
    wrong, right = (
        wa.simulate(fio=EXAMPLES / f"looped-randwrite{end}.fio", **DRIVE) for end in ("", "-right")
    )
    assert wrong.wa < 1.05
    assert right.wa == pytest.approx(wa.simulate(workload="uniform", **DRIVE).wa, rel=0.03)
    assert any("4 drive writes" in warning for warning in wrong.warnings)
    assert wrong.to_dict()["workload"] == "looped-randwrite.fio"


def test_repeat_runs_a_job_so_often() -> None:
    command = "fio --name=a --rw=randwrite --size=50% --loops=3"
    result = wa.simulate(fio_run=command, repeat=2, **DRIVE)
    assert result.writes == 3 * result.device.logical_pages
    with refused_with("writes is"):
        wa.simulate(fio_run=command, repeat=1, writes=10**6, **DRIVE)


def test_a_capacity_divides_the_sizes_of_a_job() -> None:
    command = "fio --name=a --rw=randwrite --size=40G --norandommap"
    result = wa.simulate(fio_run=command, capacity="100GB", op=0.2, writes=10**8, replicas=1)
    assert result.to_dict()["scale_factor"] > 10
    assert any("are divided by" in note for note in result.notes)
    assert not any("sprandom" in warning for warning in result.warnings)
    # Of the drive, which was full, the job rewrites the first 40 GiB.
    assert (result.wa, result.steady) == (pytest.approx(2.0, abs=0.9), result.steady)


def test_one_load_is_given_at_a_time() -> None:
    with refused_with("exclude each other"):
        wa.simulate(fio=EXAMPLES / "small-span.fio", workload="uniform", **DRIVE)
    with refused_with("exclude each other"):
        wa.simulate(fio=EXAMPLES / "small-span.fio", fio_run="fio --name=a --rw=write", **DRIVE)


def test_a_comparison_and_a_life_take_jobs() -> None:
    job = EXAMPLES / "looped-randwrite.fio"
    rows = wa.compare(fio=job, managers="single,sepgc", writes=20_000, **DRIVE)
    assert "looped-randwrite.fio" in str(rows.to_dict())
    life = wa.endurance(fio=job, w_max=20, replicas=2, **DRIVE)
    assert life.to_dict()["workload"] == "looped-randwrite.fio"


def test_a_lifetime_takes_jobs() -> None:
    command = "fio --name=a --rw=randwrite --norandommap --randrepeat=0"
    drive: dict[str, Any] = {"device": "tlc-datacenter", "daily_writes": "1TB", "cycles": 20}
    jobs = wa.lifetime(fio_run=command, **drive)
    uniform = wa.lifetime(workload="uniform", **drive)
    assert jobs.wa == pytest.approx(uniform.wa, rel=0.03)
    with refused_with("pass one load"):
        wa.lifetime(fio_run=command, workload="uniform", **drive)


def test_a_black_box_model_takes_a_job(tmp_path: Path) -> None:
    job = tmp_path / "a.fio"
    job.write_text("[a]\nrw=randwrite\nbs=8k\niodepth=4\nioengine=libaio\n")
    features = next(iter(FEATURE_SETS))
    loads: list[dict[str, Any]] = [
        {"fio": job},
        {"fio_run": f"fio {job}"},
        {"workload": "random:bs=8k,write=1,qd=4"},
    ]
    rows = [ModelInput(**load).rows(features).row(0) for load in loads]
    assert rows[0] == rows[1]
    assert rows[0][:3] == rows[2][:3]
    with refused_with("predicts one job"):
        ModelInput(fio_run="fio --name=a --rw=write --name=b --rw=write").rows(features)


def test_an_experiment_keeps_the_load_of_its_job(tmp_path: Path) -> None:
    job = tmp_path / "a.fio"
    job.write_text("[a]\nrw=randwrite\nloops=2\n")
    experiment = wa.Experiment.of("simulate", fio=job, **DRIVE)
    other = wa.Experiment.from_dict(experiment.to_dict())
    assert other.hash == experiment.hash
    job.write_text("[a]\nrw=write\n")
    assert wa.Experiment.of("simulate", fio=job, **DRIVE).hash != experiment.hash
