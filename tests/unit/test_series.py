"""WA over time, and what became of the manager's groups meanwhile, on one clock."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import polars as pl
import pytest

import writeamp as wa
from in_process import run
from writeamp.runs import one_run
from writeamp.runs.simulation_result import EVENT_SCHEMA

# Replicas judge a run; here runs are judged by what is known of them.
simulate = partial(wa.simulate, replicas=1)

SWAP_AT, WRITES = 1_000_000, 3_000_000
SWAP = f"groups:sizes=0.5/0.5,freq=0.1/0.9,swap_at={SWAP_AT}"
DRIVE = {"blocks": 1024, "pages_per_block": 128, "fill": 0.7}


@pytest.fixture(scope="module")
def swapped() -> wa.Result:
    return simulate(
        workload=SWAP, manager="wolf:allocation=closed-form", writes=WRITES, warmup=0, **DRIVE
    )


@pytest.fixture(scope="module")
def filtered() -> wa.Result:
    manager = "wolf:detector=bloom"
    return simulate(workload="tpcc", manager=manager, writes=WRITES, warmup=0, **DRIVE)


def test_intervals_weighed_by_their_pages_give_the_whole_run(swapped: wa.Result) -> None:
    series = swapped.series
    pages = np.diff(series["host_pages"].to_numpy().astype(np.int64), prepend=0)
    assert pages.sum() == swapped.host_pages == WRITES
    assert np.average(series["wa"].to_numpy(), weights=pages) == pytest.approx(swapped.wa)
    causes = {cause: series[f"{cause}_programs"].sum() for cause in swapped.causes}
    assert causes == swapped.causes


def test_blocks_move_after_the_swap_when_wa_rises(swapped: wa.Result) -> None:
    # A clock that counted the fill as well would be 92k pages late.
    soon = pl.col("host_pages").is_between(SWAP_AT, SWAP_AT + 50_000)
    assert set(swapped.events["kind"]) == {"moved"}
    settled = swapped.events.filter(pl.col("host_pages") > SWAP_AT // 2)
    assert settled.filter(soon)["blocks"].sum() > 30
    assert settled.filter(soon)["blocks"].sum() > 2 * settled.filter(~soon)["blocks"].sum()
    series = swapped.series.filter(pl.col("host_pages") > SWAP_AT // 2)
    assert series.filter(soon)["wa"].max() == series["wa"].max()


def test_events_begin_after_the_fill_and_end_with_the_run(
    swapped: wa.Result, filtered: wa.Result
) -> None:
    for result in (swapped, filtered):
        at = result.events["host_pages"].to_numpy().astype(np.int64)
        assert np.all(np.diff(at) >= 0)
        assert at[0] > 0
        assert at[-1] <= WRITES


def test_creations_and_merges_account_for_the_groups_there_are(filtered: wa.Result) -> None:
    created, merged = (filtered.events["kind"].eq(kind).sum() for kind in ("created", "merged"))
    assert min(created, merged) > 10
    first, last = filtered.events["groups"][0], filtered.events["groups"][-1]
    step = {"created": 1, "merged": -1, "moved": 0}[filtered.events["kind"][0]]
    assert first - step + created - merged == last
    moved = filtered.events.filter(pl.col("kind") == "moved")
    assert moved["blocks"].min() > 0
    assert filtered.events["blocks"].sum() == moved["blocks"].sum()


@pytest.mark.parametrize("manager", ["single", "fdp-frequency"])
def test_a_manager_that_tells_no_events_gives_an_empty_table_of_the_same_columns(
    manager: str, swapped: wa.Result
) -> None:
    result = simulate(workload=SWAP, manager=manager, writes=1_000, **DRIVE)
    assert result.events.is_empty()
    assert result.events.schema == swapped.events.schema == pl.Schema(EVENT_SCHEMA)


@pytest.mark.parametrize("workload", [SWAP, "uniform"])
@pytest.mark.parametrize("manager", ["single", "wolf"])
def test_the_document_holds_both_when_asked_for(manager: str, workload: str) -> None:
    arguments = (
        f"--workload {workload} --manager {manager} --blocks 1024 --pages-per-block 128 "
        "--fill 0.7 --writes 300000 --warmup 100000 --json"
    )
    assert json.loads(run("simulate", arguments)[1]).keys().isdisjoint({"series", "events"})
    status, out, _ = run("simulate", f"{arguments} --series")
    found = json.loads(out)
    assert status == 0
    columns = {"host_pages", "wa", "erases", *(f"{cause}_programs" for cause in found["causes"])}
    assert found["series"].keys() >= columns
    assert len({len(column) for column in found["series"].values()}) == 1
    assert found["series"]["host_pages"][-1] == 300_000
    keys = {"host_pages", "kind", "group", "groups", "blocks"}
    assert all(event.keys() == keys for event in found["events"])
    assert bool(found["events"]) == (manager == "wolf" and workload == SWAP)


def test_a_log_that_is_full_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    run = {"workload": "tpcc", "manager": "wolf:detector=bloom", "writes": 200_000, "warmup": 0}
    drive = {"blocks": 128, "pages_per_block": 16, "fill": 0.7}
    events = simulate(**run, **drive).events
    # The engine's log takes longer to fill than a test may.
    monkeypatch.setattr(one_run, "MOST_EVENTS", events.height)
    result = simulate(**run, **drive)
    assert not result.events_complete
    last = result.events["host_pages"][-1]
    assert last < 200_000
    assert (
        f"the manager's log of group changes is full: changes after host page {last:,} are missing"
        in result.notes
    )


def test_the_figure_marks_the_swap_and_what_it_set_in_motion(swapped: wa.Result) -> None:
    spec = swapped.figure()
    (swap,) = [mark.value for mark in spec.instants]
    assert swap == pytest.approx(SWAP_AT / swapped.device.logical_pages)
    (strip,) = spec.strips
    (line,) = strip.lines
    at, blocks = np.array(line.x), np.array(line.y)
    assert blocks[1:-1:2].sum() == swapped.events["blocks"].sum()
    highest = at[at > swap / 2][blocks[at > swap / 2].argmax()]
    assert swap - 0.2 < highest < swap + 0.5


def test_the_figure_marks_every_creation_and_merge(filtered: wa.Result) -> None:
    ticks, bars = filtered.figure().strips
    for line, kind in zip(ticks.lines, ("created", "merged"), strict=True):
        at = filtered.events.filter(kind=kind)["host_pages"].to_numpy()
        assert np.allclose(line.x, at / filtered.device.logical_pages)
    assert bars.filled


@pytest.mark.parametrize(
    ("workload", "swaps"),
    [
        ("groups:sizes=1/1,freq=1/9,swap_at=1e3/3000", [1000, 3000]),
        ("groups(sizes=1/1,swap_at=1000,freq=1/9,period=2e3)", [1000, 3000]),
        ("groups:sizes=1/1,freq=1/9,swap_at=9000", []),
        ("groups:sizes=1/1,freq=1/9", []),
        ("groups:sizes=1/1,freq=1/9,swap_at=never", []),
        ("groups:sizes=1/1,freq=1/9,swap_at=1,period=1", []),
        ("uniform", []),
    ],
)
def test_swaps_within_the_run_are_marked_unless_they_would_hide_the_curve(
    workload: str, swaps: list[int]
) -> None:
    result = simulate(workload=workload, writes=5_000, warmup=0, **DRIVE)
    pages = [mark.value * result.device.logical_pages for mark in result.figure().instants]
    assert pages == pytest.approx(swaps)
