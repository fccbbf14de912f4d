"""Write amplification of a mistake, as the doctor and as `simulate` compute it."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import writeamp as wa
from writeamp.drives.doctor.finding import Finding
from writeamp.drives.doctor.small_drive import SmallDrive
from writeamp.fio.zipf import FioSkew

DRIVE = SmallDrive().device
PAGES = DRIVE.logical_pages
STEADY: dict[str, Any] = {"writes": 90 * PAGES, "warmup": 30 * PAGES}


def finding(command: str, name: str) -> Finding:
    """Return the finding of a check about a command of fio."""
    (found,) = (one for one in wa.doctor(run=command).findings if one.id == name)
    return found


class Case(NamedTuple):
    """Options of a job, its mistake, the corrected options, and the settings of both runs."""

    options: str
    name: str
    right: str
    run: dict[str, Any]
    right_run: dict[str, Any]


INDEPENDENT = "--norandommap --randrepeat=0"
IN_PARTS = "--loops=4 --bs=64k --numjobs=2 --size=50% --offset_increment=50%"
TIMED = "--norandommap --time_based --runtime=1h"
EMPTY = {"precondition": "none"}
CASES = [
    Case("--loops=4", "looped-permutation", f"--loops=4 {INDEPENDENT}", STEADY, STEADY),
    Case(IN_PARTS, "looped-permutation", f"{IN_PARTS} {INDEPENDENT}", STEADY, STEADY),
    Case(f"--size=40% {TIMED}", "small-span", f"{TIMED} --randrepeat=0", STEADY | EMPTY, STEADY),
    Case(
        "--norandommap --io_size=150%",
        "too-few-writes",
        f"--io_size=150% {INDEPENDENT}",
        {"writes": 3 * PAGES // 2, "warmup": 0, **EMPTY},
        STEADY,
    ),
    Case(f"--bs=512 {TIMED}", "misaligned", f"--bs=4k {TIMED} --randrepeat=0", STEADY, STEADY),
]


@pytest.mark.parametrize("case", CASES, ids=[case.options for case in CASES])
def test_wa_of_a_mistake_is_that_of_the_simulated_job(case: Case) -> None:
    job = "fio --name=job --filename=drive --rw=randwrite"
    found = finding(f"{job.replace('drive', '/dev/nvme0n1')} {case.options}", case.name)
    # Pages have the size of large blocks.
    page = {"page_bytes": "64k"} if "bs=64k" in case.options else {}
    drive = wa.device(op=0.15, pages_per_block=64, logical_blocks=256, **page)
    for options, run, estimate in (
        (case.options, case.run, found.wa_now),
        (case.right, case.right_run, found.wa_fixed),
    ):
        job_settings: dict[str, Any] = {"device": drive, "fio_run": f"{job} {options}"}
        result = wa.simulate(**job_settings, seed=1, replicas=1, **run)
        assert estimate is not None
        assert estimate.wa == pytest.approx(result.wa_bytes, rel=1e-9)
        if run == STEADY:
            # By its defaults, the verb writes until WA is steady.
            steady = wa.simulate(**job_settings)
            assert estimate.wa == pytest.approx(steady.wa_bytes, rel=0.01)


def test_blocks_that_are_not_reached_are_spare_space_on_an_empty_drive() -> None:
    job = (
        "fio --name=a --filename=/dev/nvme0n1 --direct=1 --rw=randwrite --bs=4k --norandommap "
        "--random_distribution=zipf:0.8 --size=10G --loops=10"
    )
    found = finding(job, "unreached-blocks")
    # The drive of the verb is 32 times as large. WA is sensitive to which blocks are reached.
    blocks = 2_621_440
    drive: dict[str, Any] = {"capacity": "10GiB", "op": 0.15, "pages_per_block": 64}
    drive |= {"precondition": "none", "replicas": 1, "writes": 25 * blocks}
    simulated = wa.simulate(fio_run=job, **drive)
    assert found.wa_now is not None
    assert found.wa_fixed is not None
    assert found.wa_now.wa == pytest.approx(simulated.wa, rel=0.05)
    right = wa.simulate(workload="zipf:s=0.8", **drive)
    assert found.wa_fixed.wa == pytest.approx(right.wa, rel=0.05)
    assert found.wa_now.wa < found.wa_fixed.wa - 2
    addresses = simulated.to_dict()["addresses"]
    skew = FioSkew.of("zipf:0.8", blocks)
    assert skew is not None
    assert addresses["count"] == blocks
    assert addresses["reachable_share"] == pytest.approx(skew.touched_share())
    # Each run draws the same blocks.
    assert addresses["touched_share"] == pytest.approx(skew.touched_share(10 * blocks))


@pytest.mark.parametrize("distribution", ["pareto:0.2", "zipf:0.8 --randrepeat=0"])
def test_other_jobs_do_not_reach_all_blocks_either(distribution: str) -> None:
    job = (
        "fio --name=a --filename=/dev/nvme0n1 --direct=1 --rw=randwrite --bs=4k --loops=10 "
        f"--random_distribution={distribution} --size=1800G"
    )
    found = finding(job, "unreached-blocks")
    assert found.wa_now is not None
    assert found.wa_fixed is not None
    assert found.wa_now.wa < 1.5
    assert found.wa_fixed.wa > 4.5


def test_a_load_that_cannot_be_simulated_has_a_note_with_the_reason() -> None:
    report = wa.doctor(run="fio --name=a --filename=/dev/sdb --rw=randwrite --loops=3 --flow=1")
    (found,) = (one for one in report.findings if one.id == "looped-permutation")
    assert (found.wa_now, found.wa_fixed) == (None, None)
    assert any("WA of looped-permutation was not simulated" in note for note in report.notes)
    assert any("flow. Remove them" in note for note in report.notes)
