"""Drives of a stated capacity, and the smaller ones that stand for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

import writeamp as wa
from in_process import document, refusal, run
from stand_in_runners import EndsEarly
from writeamp._engine import scaled_workload
from writeamp.errors import Interrupted, RefusedError, WriteampError
from writeamp.registry import engine_entries
from writeamp.runs.capacity_error import Scale, ScalingError
from writeamp.studies.capacity import scale as capacity_scale
from writeamp.studies.capacity.scale import scale_of

# A dozen drive writes: enough to be steady.
SHORT = {"capacity": "64GiB", "op": 0.25, "writes": 12 * 2**24, "warmup": 6 * 2**24, "replicas": 1}


@pytest.fixture(scope="module")
def short() -> wa.Result:
    found = wa.simulate(**SHORT)
    assert isinstance(found, wa.Result)
    return found


def test_a_capacity_states_what_was_simulated_for_it(short: wa.Result) -> None:
    said = short.to_dict()
    assert said["capacity_bytes"] == 64 * 2**30
    assert said["simulated_bytes"] == 2 * 2**30 == said["logical_pages"] * said["page_bytes"]
    assert said["scale_factor"] == 32
    assert said["writes"] == 12 * 2**24 // 32
    assert said["op"] == pytest.approx(0.25, rel=1e-3)
    assert (said["pages_per_block"], said["layout"]) == (128, "flat")
    assert any("32 times as large" in note for note in said["notes"])
    # A note on fewer blocks alone would say less.
    assert not any("set it with size" in note for note in short.notes)


def test_the_error_of_scaling_is_part_of_the_interval(short: wa.Result) -> None:
    assert short.scaling is not None
    error = short.scaling.error
    assert short.steady
    half_width = (short.ci[1] - short.ci[0]) / 2
    quarter = wa.simulate(size=2**29, op=0.25, writes=12 * 2**17, warmup=6 * 2**17, replicas=1)
    assert error >= abs(short.wa - quarter.wa)
    assert 0 < error < half_width
    steady = short.steady_state
    assert half_width == pytest.approx(error + (steady.ci_high - steady.ci_low) / 2)


def test_a_result_warns_of_an_error_that_is_large_or_unknown() -> None:
    scale = Scale(2**40, 2**31, 512.0)
    assert ScalingError(scale, 0.01).warnings(2.0) == []
    assert "differ by 5.0%" in str(ScalingError(scale, 0.1).warnings(2.0))
    unknown = ScalingError(scale, float("nan"))
    assert "not known" in str(unknown.warnings(2.0))
    assert unknown.facts()["scaling_error"] is None
    assert unknown.widened((1.5, 2.5)) == (1.5, 2.5)
    assert ScalingError(scale, 1.0).widened((1.5, 2.5)) == (1.0, 3.5), "no drive amplifies below 1"


def test_what_tells_nothing_of_a_run_leaves_the_error_of_scaling_unknown() -> None:
    found = wa.simulate(workload="uniform", capacity="16GB", writes=1000, replicas=1)
    assert isinstance(found, wa.Result)
    assert found.to_dict()["scaling_error"] is None
    assert any("scaling error is not known" in sentence for sentence in found.warnings)


def test_one_life_leaves_the_error_of_scaling_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capacity_scale, "_MOST_PROGRAMS_OF_LIVES", 2**20)
    found = wa.endurance(pages_per_block=8, op=0.25, w_max=30, replicas=1, capacity="1GB")
    assert found.to_dict()["scaling_error"] is None


def test_a_lost_cluster_is_not_taken_for_a_drive_too_small_to_tell_the_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, pages in {"_MOST_PAGES": 4096, "_FEWEST_PAGES": 4096, "_FEWEST_BLOCKS": 64}.items():
        monkeypatch.setattr(capacity_scale, name, pages)
    asked: dict[str, Any] = {"op": 0.25, "pages_per_block": 16, "capacity": "1GiB", "replicas": 1}
    errors: list[WriteampError] = [WriteampError("the cluster is lost")]

    def lose() -> NoReturn:
        raise errors[0]

    with pytest.raises(WriteampError, match="the cluster is lost") as lost:
        wa.compare(managers="single", **asked, runner=EndsEarly(1, lose))
    assert not isinstance(lost.value, RefusedError)
    errors = [RefusedError("too small")]
    (row,) = wa.compare(managers="single", **asked, runner=EndsEarly(1, lose)).to_dict()["rows"]
    assert row["scaling_error"] is None


@pytest.mark.parametrize(
    ("policy", "note", "warning"),
    [
        ("--victims windowed-greedy:window=1000",
         "windowed-greedy:window=1000 is simulated as windowed-greedy(window=31)", ""),
        ("--victims windowed-greedy:window=8", "(window=1)", "window=8 would be 0.25"),
        ("--manager sfs", "", "samples=1024 is not scaled to the simulated drive"),
        ("--wear-leveling youngest-free:reserve=64", "youngest-free(reserve=2)", ""),
    ],
)  # fmt: skip
def test_what_policies_count_in_blocks_is_scaled_or_warned_of(
    policy: str, note: str, warning: str
) -> None:
    found = document("simulate", f"--capacity 64GiB --op 25% --writes 3200 --replicas 1 {policy}")
    own = {"greedy", "cost-benefit", "cost-hotness"}
    assert found["victims"] in policy or found["victims"] in own
    told = [one for one in found["notes"] if "is simulated as" in one]
    assert told[0].endswith(note) if note else not told
    warnings = [one for one in found["warnings"] if "the simulated drive, " in one]
    assert warning in warnings[0] if warning else not warnings


def test_a_comparison_of_a_capacity_names_the_policies_that_were_asked_for() -> None:
    asked = "--capacity 64GiB --op 25% --managers single --writes 3200 --replicas 1 --victims "
    found = document("compare", f"{asked} windowed-greedy:window=1000,windowed-greedy:window=2000")
    rows = [row["victims"] for row in found["rows"]]
    assert rows == ["windowed-greedy:window=1000", "windowed-greedy:window=2000"]
    several = document("compare", f"{asked} windowed-greedy:window=8 --workload uniform,zipf")
    assert len([one for one in several["warnings"] if "window=8 would be" in one]) == 1
    sentence = refusal("compare", f"{asked} windowed-greedy:window=8,windowed-greedy:window=9")
    assert "are both simulated as windowed-greedy(window=1)" in sentence


def test_progress_is_one_rise_over_both_drives_and_ctrl_c_in_the_second_leaves_the_first() -> None:
    told: list[tuple[int, int]] = []
    asked = SHORT | {"writes": 2**23, "warmup": 2**22}
    wa.simulate(**asked, progress=lambda *done: told.append(done))
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1]

    def stop(done: int, expected: int) -> None:
        if 1.05 * done > 0.8 * expected and done > 2**18:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        wa.simulate(**asked, progress=stop)
    part = stopped.value.finished
    assert part.plan.load_name == "uniform"
    assert part.to_dict()["scaling_error"] is None


def test_a_zipf_of_too_large_a_drive_is_refused_with_the_capacity() -> None:
    sentence = refusal("simulate", "--workload zipf:s=0.9 --capacity 100PB")
    assert "give a smaller capacity" in sentence
    assert "ranks_per_page" not in sentence


def test_a_small_capacity_is_simulated_as_it_is() -> None:
    asked = {"op": 0.25, "writes": 100_000, "warmup": 50_000, "replicas": 1}
    by_capacity, by_size = wa.simulate(**asked, capacity="1GB"), wa.simulate(**asked, size="1GB")
    assert by_capacity.causes == by_size.causes
    assert (by_capacity.wa, by_capacity.ci) == (by_size.wa, by_size.ci)
    said = by_capacity.to_dict()
    assert (said["scale_factor"], said["scaling_error"]) == (1, 0)
    assert said["simulated_bytes"] == by_size.device.capacity_bytes


def test_a_capacity_is_in_the_hash_and_excludes_other_sizes() -> None:
    plain = wa.Experiment.of("simulate")
    asked = wa.Experiment.of("simulate", capacity="1.92TB")
    assert asked.hash == wa.Experiment.of("simulate", capacity=1_920_000_000_000).hash
    assert len({plain.hash, asked.hash, asked.with_settings(capacity="1TB").hash}) == 3
    by_size = asked.with_settings(size="1GiB")
    assert by_size.device.capacity is None
    assert by_size.with_settings(capacity="1TB").device.size is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--trace examples/postgres-tpcb.parquet", ["addresses of a trace cannot be scaled"]),
        ("--precondition aged:examples/postgres-tpcb.parquet", ["addresses of a trace"]),
        ("--size 1GiB", ["--size, --blocks, --logical-blocks, --logical-pages"]),
        ("--blocks 64", ["--size, --blocks, --logical-blocks, --logical-pages"]),
        ("--logical-pages 4096", ["--size, --blocks, --logical-blocks, --logical-pages"]),
        ("--timed --device ssd-v", ["cannot be scaled", "give --size"]),
        ("--workload random:qd=4 --device ssd-v", ["cannot be scaled"]),
        ("--device ssd-v --write-cache 1M", ["caches cannot be scaled"]),
        ("--host-bytes 1GB", ["--host-bytes and --capacity"]),
        ("--workload sequential:bs=4k,offset=1M", ["offset=1M", "a position on the drive"]),
        ("--workload io:write_stride=64k", ["write_stride=64k", "the next lap"]),
        ("--workload groups:sizes=1/1,freq=1/9,swap_at=10", ["swap_at=10", "less than one write"]),
        ("--writes 10", ["writes is 10", "less than one page write"]),
        ("--capacity 100", ["at least a page"]),
    ],
)
def test_what_no_smaller_drive_can_stand_for_is_refused_with_the_reason(
    arguments: str, words: list[str]
) -> None:
    capacity = "" if "--capacity" in arguments else "--capacity 1.92TB"
    refusal("simulate", f"--op 7% {capacity} {arguments}", *words)


@pytest.mark.parametrize(
    ("text", "scaled"),
    [
        ("uniform", "uniform"),
        ("uniform:trim=10%", "uniform(trim=0.1)"),
        ("hot-cold:f=0.1,r=0.9", "hot-cold(hot_fraction=0.1,hot_write_fraction=0.9)"),
        ("zipf:s=1.2", "zipf(s=1.2,ranks_per_page=64)"),
        ("zipf:s=1.2,ranks_per_page=2", "zipf(s=1.2,ranks_per_page=128)"),
        ("drift:f=0.1,r=0.9,period=6.4e6,steps=500",
         "drift(hot_fraction=0.1,hot_write_fraction=0.9,period=100000,steps=500)"),
        ("groups:sizes=1/1,freq=1/9,swap_at=6400/12800,period=640",
         "groups(sizes=1/1,frequencies=1/9,swap_at=100/200,swap=first/last,period=10)"),
        ("phases:writes=64/128,of=uniform/zipf",
         "phases(writes=1/2,of=uniform/zipf(s=0.99,ranks_per_page=64))"),
        ("mix:sizes=1/9,weights=9/1,of=zipf(s=0.9)/sequential",
         "mix(sizes=1/9,weights=9/1,of=zipf(s=0.9,ranks_per_page=64)/sequential)"),
        ("io:access=zipf,qd=4", scaled_workload("io:qd=4", 1.0).replace(
            "access=uniform", "access=zipf(s=0.99,ranks_per_page=64)")),
    ],
)  # fmt: skip
def test_a_workload_is_scaled_by_what_its_parameters_declare(text: str, scaled: str) -> None:
    assert scaled_workload(text, 64.0) == scaled
    assert wa.workload(scaled).canonical == scaled


def test_old_spellings_of_zipf_keep_their_form_and_hash() -> None:
    assert wa.workload("zipf").canonical == "zipf(s=0.99)"
    assert wa.workload("zipf:ranks_per_page=1") == wa.workload("zipf")


def test_every_registered_workload_has_an_example_for_smaller_drives_but_for_strides() -> None:
    refused = []
    for entry in engine_entries("workloads"):
        try:
            assert wa.workload(scaled_workload(entry.example, 2.0)).name == entry.name
        except wa.WriteampError as error:
            refused.append(str(error))
    (io,) = refused
    assert "io: read_stride=64k cannot be scaled" in io


def test_scaled_zipf_amplifies_as_the_large_drive_does_and_plain_zipf_does_not() -> None:
    large, factor = {"blocks": 8192, "pages_per_block": 32, "op": 0.1}, 32
    pages = wa.device(**large).logical_pages
    length = {"writes": 10 * pages, "warmup": 6 * pages}
    whole = wa.simulate(**large, **length, workload="zipf:s=1.1", replicas=1).wa
    small = large | {"blocks": 256} | {name: one // factor for name, one in length.items()}
    text = scaled_workload("zipf:s=1.1", factor)

    def mean(workload: str) -> float:
        runs = [wa.simulate(**small, workload=workload, replicas=1, seed=s) for s in range(1, 6)]
        return float(np.mean([run.wa for run in runs]))

    assert mean(text) == pytest.approx(whole, rel=0.02)
    assert abs(mean("zipf:s=1.1") / whole - 1) > 0.04


def test_drives_keep_enough_blocks_beside_those_that_are_open() -> None:
    def simulated(**settings: object) -> int:
        scale = scale_of(wa.Experiment.of("simulate", **settings))
        assert scale is not None
        return scale.simulated_bytes

    assert simulated(capacity="1TiB") == 2 * 2**30
    assert simulated(capacity="1TiB", manager="sepgc") == 8 * 2**30
    assert simulated(capacity="128GiB") == 2 * 2**30
    large_blocks = simulated(capacity="1TiB", pages_per_block=2048, op=0.25)
    assert large_blocks == pytest.approx(2048 * 2048 / 1.25 * 4096, rel=1e-3)
    assert simulated(capacity="100TB", pages_per_block=65536) == 32 * 2**30


def test_a_comparison_of_a_capacity_has_an_error_for_each_manager() -> None:
    found = document(
        "compare",
        "--capacity 64GiB --op 25% --managers single,sepgc --replicas 1 --writes 201326592",
    )
    assert (found["capacity_bytes"], found["simulated_bytes"]) == (64 * 2**30, 2 * 2**30)
    for row in found["rows"]:
        low, high = row["wa_ci95"]
        assert 0 < row["scaling_error"] < (high - low) / 2
        assert low < row["wa"] < high


def test_a_sweep_takes_capacities(tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(
        'verb = "simulate"\n[device]\nop = 0.25\n[run]\nwrites = 201326592\nwarmup = 100663296\n'
        'replicas = 1\n[sweep.axes]\ncapacity = ["64GiB"]\n'
    )
    wa.sweep(file, keep=tmp_path / "points", runner=wa.runners.Here())
    (row,) = wa.sweep_results(tmp_path / "points").to_frame().to_dicts()
    assert row["capacity"] == 64 * 2**30
    assert row["scaling_error"] > 0


def test_lives_say_terabytes_and_drive_writes_a_day_of_the_drive_that_is_meant() -> None:
    drive = {"blocks": 60, "pages_per_block": 16, "op": 0.25, "w_max": 50, "replicas": 4}
    own, meant = wa.endurance(**drive), wa.endurance(**drive, capacity="1.92TB")
    writes = own.host_pages / own.plan.device.logical_pages
    assert own.tbw == pytest.approx(own.host_bytes / 1e12)
    assert meant.tbw == pytest.approx(writes * 1.92)
    assert meant.dwpd() == own.dwpd() == pytest.approx(writes / (5 * 365))
    assert meant.dwpd(3) == pytest.approx(writes / (3 * 365))
    assert meant.years(1e12) == pytest.approx(meant.tbw / 365)
    assert meant.scaling is None, "the size of this drive was given"
    said = meant.to_dict(warranty_years=3)
    assert (said["capacity_bytes"], said["warranty_years"]) == (1_920_000_000_000, 3)
    assert said["tbw_ci95"][0] < said["tbw"] < said["tbw_ci95"][1]
    assert said["dwpd_ci95"][0] < said["dwpd"] < said["dwpd_ci95"][1]
    assert own.to_dict(capacity_bytes=1.92e12)["tbw"] == pytest.approx(said["tbw"])
    for years in (0, -1, float("nan")):
        with pytest.raises(wa.WriteampError, match="warranty_years is"):
            own.dwpd(years)


def test_lives_of_a_capacity_have_the_error_of_scaling_in_their_intervals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(capacity_scale, "_MOST_PROGRAMS_OF_LIVES", 2**20)
    asked = {"pages_per_block": 8, "op": 0.25, "w_max": 60, "replicas": 3}
    told: list[tuple[int, int]] = []
    found = wa.endurance(
        **asked, capacity="1GB", progress=lambda *done: told.append(done), runner=wa.runners.Here()
    )
    size = found.plan.device.capacity_bytes
    assert found.scaling is not None
    assert found.scaling.scale.factor == pytest.approx(1e9 / size, rel=1e-4)
    assert told[-1] == (2 * 3 * 60, 2 * 3 * 60)
    own = wa.endurance(**asked, size=size)
    assert (own.pe_fairness, own.wa) == (found.pe_fairness, found.wa)
    assert found.tbw == pytest.approx(own.tbw * 1e9 / size, rel=1e-4)
    for wide, narrow, error in [
        (found.ci, own.ci, found.scaling.wa),
        (found.endurance_ci95, own.endurance_ci95, found.scaling.endurance_full_drive_writes),
        (found.pe_fairness_ci95, own.pe_fairness_ci95, found.scaling.pe_fairness),
    ]:
        assert error > 0
        assert wide[0] == pytest.approx(max(narrow[0] - error, 0))
    quarter = wa.endurance(**asked, size=size // 4)
    steps = found.scaling.scale.steps
    # The more blocks, the earlier the first is worn out: that does not end as drives grow.
    assert found.pe_fairness < quarter.pe_fairness
    assert found.scaling.pe_fairness >= steps * (quarter.pe_fairness - found.pe_fairness) > 0
    said = found.to_dict()
    assert said["capacity_bytes"] == 10**9
    assert said["simulated_bytes"] == size
    assert {"scaling_error", "endurance_scaling_error", "pe_fairness_scaling_error"} <= said.keys()


def test_the_endurance_verb_prints_wear_years_tbw_and_dwpd() -> None:
    text = "--blocks 60 --pages-per-block 16 --op 0.25 --w-max 20 --replicas 2 --capacity 1TB"
    done = run("endurance", f"{text} --warranty-years 3 --daily-writes 1GiB")
    assert done.status == 0
    for words in (
        "PE fairness", "95% CI", "years of 365 days", "1,073,741,824 bytes a day", "TBW",
        "for 3 years", "of a drive of 1,000,000,000,000 bytes",
    ):  # fmt: skip
        assert words in " ".join(done.out.replace("│", " ").split())
    found = json.loads(run("endurance", f"{text} --json").out)
    assert found["dwpd"] == pytest.approx(found["tbw"] / (5 * 365))
    assert run("endurance", f"{text} --warranty-years 0").status == 2
    trace = "--trace examples/postgres-tpcb.parquet"
    assert "addresses of a trace" in refusal("endurance", f"{trace} --w-max 9 --capacity 1TB")
