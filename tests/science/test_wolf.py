"""Wolf and FDP (paper 3): theory, sudden changes of the workload, groups found by filters."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import brentq, minimize_scalar

import writeamp as wa
from places import TRACE
from refusals import refused_with
from writeamp import _engine
from writeamp.devices.policy import Policy

FILL = 0.7
BLOCKS, PAGES_PER_BLOCK = 1024, 128
COLD_HOT = "mix(sizes=0.5/0.5,weights=0.1/0.9)"
HOT_COLD = "mix(sizes=0.5/0.5,weights=0.9/0.1)"


def drive(layout: str = "flat", blocks: int = BLOCKS) -> wa.Device:
    """Return a drive of paper 3's proportions and an eighth of its size, flat or with its LUNs."""
    if layout == "flat":
        return wa.device(blocks=blocks, pages_per_block=PAGES_PER_BLOCK, fill=FILL)
    return wa.device("eagletree", blocks=blocks, fill=FILL, layout=layout)


def simulation(
    manager: str, load: str, device: wa.Device, victims: str | None = None
) -> _engine.Simulation:
    """Return a drive that has been filled."""
    built = _engine.Simulation(
        Policy(manager, victims, None).drive(device),
        _engine.Load.spec(load, device.logical_pages),
        seed=1,
        batch_pages=_engine.DEFAULT_BATCH_PAGES,
    )
    built.fill(0, device.logical_pages)
    return built


def migrations(run: _engine.Simulation, writes: int) -> int:
    """Return the pages that collection moves while the host writes so many."""
    before = run.counters()["gc"]
    assert run.run(writes) == writes
    return run.counters()["gc"] - before


def steady_wa(manager: str, load: str, device: wa.Device, victims: str | None = None) -> float:
    """Return write amplification after ten times the drive."""
    run = simulation(manager, load, device, victims)
    run.run(10 * device.physical_pages)
    writes = 10 * device.physical_pages
    return 1 + migrations(run, writes) / writes


def theory(pages: float, op_pages: float) -> float:
    """Return the write amplification of uniform writes by eq. 3."""
    fill = pages / (pages + op_pages)
    delta = brentq(lambda d: (d - 1) / math.log(d) - fill, 1e-12, 1 - 1e-9)
    return float(1 / (1 - delta))


@pytest.mark.parametrize("layout", ["flat", "striped-per-lun"])
def test_uniform_writes_in_one_group_amplify_as_theory_says(layout: str) -> None:
    for manager in ("wolf", "wolf:detector=none"):
        assert 1.845 <= steady_wa(manager, "uniform", drive(layout)) <= 1.885


@pytest.mark.parametrize(("layout", "most_above"), [("flat", 0.01), ("striped-per-lun", 0.02)])
def test_two_groups_reach_the_optimum_of_theory(layout: str, most_above: float) -> None:
    device = drive(layout)
    logical, op = device.logical_pages, device.physical_pages - device.logical_pages

    def amplification(share: float) -> float:
        cold, hot = theory(logical / 2, op * (1 - share)), theory(logical / 2, op * share)
        return 0.1 * cold + 0.9 * hot

    least = minimize_scalar(amplification, bounds=(0.05, 0.95), method="bounded").fun
    found = steady_wa("wolf:allocation=optimal", f"phases:writes=1e9,of={COLD_HOT}", device)
    assert -0.015 <= found / least - 1 <= most_above


def test_a_floor_keeps_space_for_a_group_that_is_hardly_written() -> None:
    device = drive()
    half, op = device.logical_pages / 2, device.physical_pages - device.logical_pages
    load = "groups:sizes=1/1,freq=1/99"
    kept = 0.2 * half
    expected = 0.01 * theory(half, kept) + 0.99 * theory(half, op - kept)
    found = steady_wa("wolf:allocation=optimal,floor=0.2", load, device)
    assert found == pytest.approx(expected, rel=0.02)


def extra_migrations(manager: str, writes: int) -> float:
    """Return what a swap of 10% and 90% costs, as a share of the drive (fig. 8)."""
    device = drive()
    before = 5 * device.physical_pages
    counts = []
    for after in (HOT_COLD, COLD_HOT):
        run = simulation(manager, f"phases:writes={before}/1e9,of={COLD_HOT}/{after}", device)
        run.run(before)
        counts.append(migrations(run, writes))
    return (counts[0] - counts[1]) / device.physical_pages


def test_wolf_moves_space_when_frequencies_swap_and_the_sooner_the_shorter_it_remembers() -> None:
    writes = 5 * drive().physical_pages
    assert extra_migrations("wolf", writes) <= 0.03
    assert 0.05 <= extra_migrations("wolf:weight=0.003", writes) <= 0.12


def test_movement_operations_can_be_limited() -> None:
    device, writes = drive(blocks=256), 4 * drive(blocks=256).logical_pages
    moved = {}
    for moves in ("0", "1", "999999", "unlimited"):
        run = simulation(
            f"wolf:moves={moves}", f"phases:writes=1e5/1e9,of={HOT_COLD}/{COLD_HOT}", device
        )
        assert run.run(writes) == writes
        events = run.events()
        per_interval = Counter()  # type: Counter[int]
        for at, blocks in zip(events["host_pages"], events["moved_blocks"], strict=True):
            per_interval[int(at)] += int(blocks)
        moved[moves] = per_interval, run.counters()
    assert sum(moved["0"][0].values()) == 0
    assert max(moved["1"][0].values()) == 1 < max(moved["unlimited"][0].values())
    assert moved["999999"] == moved["unlimited"]


def test_fdp_moves_pages_instead_and_pays_most_if_collection_keeps_the_old_class() -> None:
    writes = 10 * drive().physical_pages
    assert 1.2 <= extra_migrations("fdp-frequency", writes) <= 1.9
    assert 0.15 <= extra_migrations("fdp-frequency:class=current", writes) <= 0.4


def test_classes_of_fdp_are_not_starved_on_a_new_drive() -> None:
    run = {"workload": "groups:sizes=1/1/1/1/1,freq=1/2/4/8/16", "manager": "fdp-frequency"}
    device = {"blocks": 256, "pages_per_block": 64, "fill": 0.7}
    assert wa.simulate(**run, **device, writes=60_000, warmup=0).wa < 1.9


def test_space_that_follows_collection_leaves_the_log_of_a_database_next_to_none() -> None:
    run = {"blocks": 1024, "pages_per_block": 64, "op": 0.2, "workload": "database"}
    found = {
        allocation: wa.simulate(
            **run, manager=f"wolf:allocation={allocation}", writes=2_000_000, warmup=1_000_000
        ).wa
        for allocation in ("optimal", "marginal")
    }
    assert found["marginal"] < 0.9 * found["optimal"]


def test_lru_within_groups_migrates_somewhat_more_than_greedy() -> None:
    load = f"phases:writes=1e9,of={COLD_HOT}"
    greedy, fifo = (steady_wa("wolf", load, drive(), victims) for victims in ("greedy", "fifo"))
    assert 1.01 <= (fifo - 1) / (greedy - 1) <= 1.05


def skewed_pages(logical_pages: int, writes: int) -> np.ndarray:
    """Return writes after TPC-C's initial data (fig. 9): two clusters, a tail, and a cold half."""
    random = np.random.default_rng(1)
    share = np.array([0.23, 0.23, 0.002])
    low, high, tail = (share * logical_pages).astype(int)
    updates = np.zeros(logical_pages)
    updates[:low] = random.normal(25, 5, low).clip(1)
    updates[low : low + high] = random.normal(200, 40, high).clip(1)
    updates[low + high : low + high + tail] = np.exp(random.uniform(5.7, 9.5, tail))
    cumulative = np.cumsum(random.permutation(updates))
    drawn = np.searchsorted(cumulative, random.random(writes) * cumulative[-1])
    return drawn.astype(np.uint32)


def skewed_run(manager: str, device: wa.Device) -> tuple[float, _engine.Simulation]:
    """Return the steady write amplification under such writes, and the run."""
    writes = 40 * device.physical_pages
    pages = skewed_pages(device.logical_pages, writes)
    load = _engine.Load.trace(
        ops=np.zeros(writes, np.uint8),
        first_pages=pages,
        counts=np.ones(writes, np.uint32),
        passes=1,
    )
    run = _engine.Simulation(
        Policy(manager, None, None).drive(device), load, seed=1, batch_pages=1024
    )
    run.fill(0, device.logical_pages)
    run.run(writes // 2)
    return 1 + migrations(run, writes // 2) / (writes // 2), run


def test_filters_find_groups_that_are_created_and_merged_as_the_skew_asks_for() -> None:
    device = drive()
    one_group, _ = skewed_run("single", device)
    found, run = skewed_run("wolf:detector=bloom", device)
    assert 1.17 < found < 1 + 0.6 * (one_group - 1)
    events = run.events()
    kinds = Counter(events["kind"])
    assert min(kinds["created"], kinds["merged"]) > 50
    assert kinds["moved"] > 0
    created, merged = (
        np.flatnonzero(np.array(events["kind"]) == kind) for kind in ("created", "merged")
    )
    assert 2 + len(created) - len(merged) == events["groups"][-1]
    late = events["groups"][events["host_pages"] > 20 * device.physical_pages]
    assert 4 <= np.mean(late) <= 12
    assert np.all(np.diff(events["host_pages"].astype(np.int64)) >= 0)


def test_uniform_writes_leave_two_groups_at_the_end() -> None:
    run = simulation("wolf:detector=bloom,interval=0.01", "uniform", drive())
    run.run(20 * drive().physical_pages)
    assert run.events()["groups"][-1] <= 4


def test_a_trace_needs_a_detector_and_runs_with_one() -> None:
    for manager in ("wolf", "fdp-frequency"):
        with pytest.raises(wa.WriteampError, match=f"{manager} needs hints on the group"):
            wa.simulate(trace=TRACE, op=0.4, manager=manager, repeat=1)
        result = wa.simulate(trace=TRACE, op=0.4, manager=f"{manager}:detector=bloom", repeat=1)
        assert result.wa > 1


@pytest.mark.parametrize("manager", ["wolf", "wolf:detector=bloom", "fdp-frequency:class=current"])
@pytest.mark.parametrize("layout", ["flat", "striped-per-lun"])
def test_tiny_drives_work_or_are_refused(manager: str, layout: str) -> None:
    shape = {"blocks": 16 if layout == "flat" else 32, "pages_per_block": 4, "layout": layout}
    ran, refusals = 0, []
    for fill in (0.2, 0.5, 0.7, 0.8, 0.9, 0.95):
        try:
            result = wa.simulate(
                "eagletree",
                "hot-cold:f=0.2,r=0.8",
                **shape,
                fill=fill,
                manager=manager,
                writes=5_000,
            )
        except wa.WriteampError as error:
            refusals.append(str(error))
        else:
            ran += 1
            assert result.wa >= 1
    assert all("too small" in refusal for refusal in refusals)
    assert ran > (2 if layout == "flat" else 0)


@pytest.mark.parametrize(
    ("manager", "options", "words"),
    [
        ("wolf", {"victims": "random"}, ["wolf", "greedy, fifo"]),
        ("wolf", {"layout": "striped"}, ["wolf", "striped-per-lun"]),
        (
            "wolf:allocation=even",
            {},
            ["allocation=even", "optimal, effective-size, marginal, size or frequency"],
        ),
        ("wolf:detector=blom", {}, ["detector=blom", "oracle, bloom, interval or none"]),
        ("wolf:groups=3", {}, ["detector=bloom", "groups= is only valid"]),
        ("wolf:detector=bloom,groups=few", {}, ["groups=few", "adaptive"]),
        ("wolf:detector=bloom,max_groups=1", {}, ["max_groups=1", "from 2 to 255"]),
        ("wolf:interval=0", {}, ["interval=0", "above 0"]),
        ("fdp-frequency:class=next", {}, ["class=next", "last or current"]),
        ("fdp-frequency:class=last,detector=bloom", {}, ["class=", "detector=oracle"]),
        ("fdp-frequency:groups=3", {}, ["groups=", "detector=bloom"]),
        ("wolf:max_groups=1", {"workload": "hot-cold:f=0.1,r=0.9"}, ["2 groups", "at most 1"]),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(
    manager: str, options: dict[str, str], words: list[str]
) -> None:
    run = {"workload": "uniform", "layout": "flat", **options}
    with refused_with(*words):
        wa.simulate("eagletree", blocks=128, pages_per_block=8, manager=manager, writes=100, **run)


def test_groups_are_looked_at_no_more_often_than_there_may_be_groups() -> None:
    manager = "wolf:detector=bloom,interval=1e-9,max_groups=8,allocation=marginal"
    result = wa.simulate(drive(), workload="zipf:s=1", manager=manager, writes=200_000)
    looks = np.asarray(result.events["host_pages"])
    assert looks.size > 100
    assert np.gcd.reduce(np.diff(looks)) % 8 == 0


LIFE_DRIVE: dict[str, Any] = {"blocks": 512, "pages_per_block": 64, "op": 0.2, "replicas": 1}


@pytest.fixture(scope="module")
def uniform() -> wa.Result:
    return wa.simulate(
        **LIFE_DRIVE, workload="uniform", manager="wolf-interval", writes=400_000, warmup=100_000
    )


def test_pages_of_uniform_writes_live_for_about_a_drive_write_at_any_age(
    uniform: wa.Result,
) -> None:
    known = uniform.lives.filter((pl.col("seen") > 200) & (pl.col("intervals") == 4))
    assert known.height > 20
    rest = (known["rest_pages"] / uniform.device.logical_pages).log(2).mean()
    # The mean logarithm of an exponential life of one drive write is 0.83 octaves below its mean.
    assert rest == pytest.approx(-0.83, abs=0.25)


def test_the_scan_sees_each_page_once_in_a_drive_write_and_forgets_by_half_in_four(
    uniform: wa.Result,
) -> None:
    assert uniform.lives["seen"].sum() == pytest.approx(
        4 / 0.6931 * uniform.device.logical_pages, rel=0.1
    )


def test_classes_are_told_apart_by_the_number_of_intervals(uniform: wa.Result) -> None:
    assert (uniform.lives["age_pages"] > 0).all()
    assert set(uniform.lives["intervals"]) == {0, 1, 2, 4}
    never = pl.col("usual_pages") == 0
    assert set(uniform.lives.filter(never)["intervals"]) == {0}
    assert 0 not in set(uniform.lives.filter(~never)["intervals"])


def test_lives_are_drawn(uniform: wa.Result, tmp_path: Path) -> None:
    uniform.plot_lives(tmp_path / "lives.svg")
    drawn = (tmp_path / "lives.svg").read_text()
    assert "rewritten every" in drawn
    assert "remaining lifetime" in drawn


def test_managers_that_learn_no_lives_say_so() -> None:
    single = wa.simulate(**LIFE_DRIVE, workload="uniform", writes=20_000, warmup=0)
    assert single.lives.is_empty()
    with pytest.raises(wa.WriteampError, match="wolf-interval"):
        single.plot_lives()
