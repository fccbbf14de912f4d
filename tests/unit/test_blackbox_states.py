"""Points in states of the drive: how full it is, and what was written just before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

from collecting import MIXED, READS, WRITES, Formula, measure_on, measured_on, small
from in_process import run
from writeamp._engine import Load, TimedRun
from writeamp.devices.device import Device, device
from writeamp.errors import WriteampError
from writeamp.learn.blackbox.collection import collect
from writeamp.learn.blackbox.designs import DESIGNS, STATES, Design
from writeamp.learn.blackbox.features import find_feature_set
from writeamp.learn.blackbox.measurement_file import (
    TargetRows,
    point_of,
    read_measurements,
    read_rows,
)
from writeamp.learn.blackbox.space import CHARACTERISTICS, WorkloadPoint
from writeamp.learn.blackbox.targets import stopping
from writeamp.learn.blackbox.targets.looks import Look
from writeamp.learn.blackbox.targets.prepared import PreparedDevice
from writeamp.learn.blackbox.targets.simulated import SimulatedTarget
from writeamp.learn.blackbox.training import train

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
SPACE = 8 << 30
MIB = 1 << 20


def workloads(points: list[WorkloadPoint]) -> list[list[float]]:
    return [[getattr(one, name) for name in CHARACTERISTICS] for one in points]


@pytest.mark.parametrize("kind", DESIGNS)
def test_a_design_has_the_same_workloads_whatever_it_varies(kind: str) -> None:
    usual = Design(kind, 40, 3).listed(SPACE)
    varied = Design(kind, 40, 3, vary=STATES).listed(SPACE)
    assert workloads(varied) == workloads(usual)
    of_fill = Design(kind, 40, 3, vary=("fill",)).listed(SPACE)
    assert [one.fill for one in of_fill] == [one.fill for one in varied]
    assert {(one.recent_write_bytes, one.burst_s) for one in of_fill} == {(0, None)}


def test_states_lie_in_their_ranges_and_at_the_ends_that_are_kinds_of_their_own() -> None:
    points = Design("random", 1000, vary=STATES).listed(SPACE)
    fills = [one.fill for one in points]
    assert (min(fills), max(fills)) == (pytest.approx(0.25, abs=0.01), 1.0)
    assert 70 < sum(one == 1 for one in fills) < 130
    writers = [one.recent_write_bytes for one in points if one.has_writes]
    assert 0.16 < sum(one == 0 for one in writers) / len(writers) < 0.24
    some = [one for one in writers if one]
    assert SPACE / 1024 - 512 <= min(some) < max(some) <= SPACE / 16
    assert {one.recent_write_bytes for one in points if not one.has_writes} == {0}
    assert points[:50] == Design("random", 50, vary=STATES).listed(SPACE)
    assert points != Design("random", 1000, seed=1, vary=STATES).listed(SPACE)


def test_recent_writes_are_measured_in_bursts_of_ten_seconds_or_as_long_as_is_said() -> None:
    assert Design(vary="recent-writes").burst_s == 10  # type: ignore[arg-type]
    assert Design(vary=STATES, burst_s="50ms").burst_s == 0.05  # type: ignore[arg-type]
    assert Design(vary=" recent-writes, fill").vary == STATES  # type: ignore[arg-type]
    assert Design(vary=("fill",)).burst_s is None


def test_a_point_of_the_usual_state_means_what_it_did_without_states() -> None:
    assert list(MIXED.to_dict()) == list(CHARACTERISTICS)
    account = TargetRows(Formula())
    varied = [replace(MIXED, fill=0.5), replace(MIXED, burst_s=1.0), MIXED]
    assert len({account.hash_of(one) for one in varied}) == 3


def wa_of(of: Device, fill: float) -> float:
    """Return WA of random writes, after as many as a drive write, over three more."""
    prepared = PreparedDevice.of(of, 1, fill)
    load = Load.spec("io:write=1,qd=4,write_size=4096,write_random=1", prepared.used_pages)
    timed = TimedRun(prepared.new(), load, seed=1, page_bytes=4096, time_ns=10**12)
    looks = []
    for drive_writes in (1, 4):
        while timed.written_bytes < drive_writes * of.capacity_bytes:
            timed.advance(4096)
        looks.append(Look.at(timed))
    programmed, written = (
        getattr(looks[1], name) - getattr(looks[0], name)
        for name in ("programmed_pages", "host_pages")
    )
    return float(programmed / written)


def test_a_drive_that_is_partly_full_is_one_with_fewer_logical_pages() -> None:
    # Nothing is collected in the background, for how much that is depends on logical pages, too.
    whole = device("x25-m", size="64MiB", set={"collection.background": False})
    partly = wa_of(whole, 0.8)
    fewer = replace(whole, logical_pages=round(0.8 * whole.logical_pages))
    assert partly == pytest.approx(wa_of(fewer, 1.0), rel=0.03)
    assert partly < 0.5 * wa_of(whole, 1.0)


def test_a_workload_is_on_the_part_of_a_drive_that_is_full() -> None:
    """After three times the size of the drive, all that is ever written was."""
    point = replace(WRITES, queue_depth=16, recent_write_bytes=192 * MIB, burst_s=0.5)
    target = SimulatedTarget("x25-m", size="64MiB")
    partly, full = (measured_on(target, replace(point, fill=fill)).wa for fill in (0.7, 1.0))
    assert partly is not None
    assert full is not None
    assert partly < 1.6
    assert full > 4


def test_an_array_that_is_partly_full_lies_on_whole_stripes_of_every_member() -> None:
    array = device("raid0:x25-m,x25-m", size="128MiB")
    prepared = PreparedDevice.of(array, 1, 0.5)
    assert prepared.used_pages == array.logical_pages // 2
    alone = PreparedDevice.of(replace(array.members[1], name="x25-m"), 2, 0.5)
    assert prepared.parts[1].state == alone.parts[0].state
    # Its members are aged apart.
    assert prepared.parts[0].state != prepared.parts[1].state
    assert PreparedDevice.of(array, 1).parts[1].state != alone.parts[0].state


def test_a_burst_is_as_long_as_it_should_and_follows_what_should_be_written() -> None:
    point = replace(WRITES, burst_s=0.2, recent_write_bytes=8 * MIB)
    found = measured_on(small(), point)
    assert found.measured_s == pytest.approx(0.2, rel=0.02)
    assert found.recent_write_bytes == pytest.approx(8 * MIB, rel=0.02)
    assert found.run_s > found.measured_s
    assert (found.precision, found.steady) == (None, None)
    at_once = measured_on(small(), replace(WRITES, burst_s=0.2))
    assert (at_once.recent_write_bytes, at_once.run_s) == (0, at_once.measured_s)
    assert measured_on(small(), READS).recent_write_bytes == 0


def test_what_was_written_before_makes_a_drive_slower() -> None:
    """The cache of x25-m takes in 70 MB/s while there are free blocks, and then the flash 39."""
    target = SimulatedTarget("x25-m", size="1GiB")
    fresh, used = (
        measured_on(target, replace(WRITES, queue_depth=16, burst_s=0.5, recent_write_bytes=recent))
        for recent in (0, 256 * MIB)
    )
    assert fresh.bandwidth_mb_s > 65
    assert used.bandwidth_mb_s < 48


def test_no_more_is_written_before_than_a_minute_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "RECENT_NS", 100_000_000)
    found = measured_on(small(), replace(WRITES, burst_s=0.1, recent_write_bytes=1 << 40))
    assert found.run_s == pytest.approx(0.2, rel=0.05)
    assert 0 < (found.recent_write_bytes or 0) < 16 * MIB


def test_a_burst_in_which_nothing_is_answered_is_an_error_of_the_point() -> None:
    outcome = measure_on(small(), replace(READS, read_size_bytes=64 * MIB, burst_s=1e-3))
    assert outcome.error is not None
    assert "no request was completed in a burst of 0.001 s" in outcome.error


def test_other_states_are_other_points_and_the_same_call_goes_on(tmp_path: Path) -> None:
    out, target = tmp_path / "m.parquet", Formula()
    usual, varied = Design("random", 10), Design("random", 10, vary=("fill",))
    assert collect(target, out=out, design=usual).done == 10
    first = collect(target, out=out, design=varied)
    again = collect(target, out=out, design=varied)
    full = sum(one.fill == 1 for one in varied.listed(target.space_bytes))
    assert (first.done, first.skipped, again.done) == (10 - full, full, 0)
    assert collect(target, out=out, design=Design("random", 10, vary=STATES)).done == 10
    points = [point_of(row) for row in read_rows(out)]
    assert points[10 : 20 - full] == [one for one in target.asked[10:] if one.burst_s is None]


class First:
    """Asks for the candidates in their order if it knows the latencies of long runs alone."""

    def least_known(self, known: F64, target: F64, asked: F64, count: int) -> I64:
        """Return the first candidates."""
        assert len(known) < 12
        return np.arange(count)


def test_active_learning_learns_nothing_from_drives_in_other_states(tmp_path: Path) -> None:
    out, design = tmp_path / "m.parquet", Design("active", 12)
    collect(Formula(), out=out, design=Design("grid", 12, burst_s=1.0))
    assert collect(Formula(), out=out, design=design, learner=First()).done == 12
    assert pl.read_parquet(out)["burst_s"].null_count() == 12


def test_a_collection_in_states_is_learnt_from_by_its_modern_features(tmp_path: Path) -> None:
    out, target = tmp_path / "m.parquet", SimulatedTarget("x25-m", size="64MiB")
    collect(target, out=out, design=Design("random", 24, vary=STATES, burst_s=0.01))
    table = read_measurements(out)
    assert (table["working_set_bytes"] / table["fill"]).to_list() == pytest.approx([64 * MIB] * 24)
    assert table["skew"].to_list() == [0.2 * (one > 0) for one in table["write_ratio"]]
    assert find_feature_set("modern").of(table).shape == (24, 12)
    model = train(table, features="modern", model="linear", targets=["throughput"])
    assert model.ranges["fill"].low == table["fill"].min()
    assert model.ranges["recent_write_bytes"].high == table["recent_write_bytes"].max()


def test_nobody_knows_how_full_a_real_target_is(tmp_path: Path) -> None:
    out = tmp_path / "m.parquet"
    collect(Formula(kind="file"), out=out, design=Design("random", 24))
    with pytest.raises(WriteampError, match="fill is unknown in row 0"):
        train(read_measurements(out), features="modern")


@pytest.mark.parametrize("asked", ["--vary fill", "--burst 10s"])
def test_states_of_real_targets_are_refused_before_a_file_is_made(
    tmp_path: Path, asked: str
) -> None:
    done = run(
        "blackbox collect", f"--target {tmp_path}/drive --size 1MiB --out {tmp_path}/m {asked}"
    )
    assert done.status == 2
    assert "--vary and --burst are for simulated targets only; " in done.err
    assert not list(tmp_path.iterdir())
