"""The space of workloads, and designs of points in it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from collecting import MIXED, READS, WRITES
from writeamp._engine import Load
from writeamp.errors import WriteampError
from writeamp.learn.blackbox import designs
from writeamp.learn.blackbox.designs import DESIGNS, Design, grid_points, latin_hypercube_points
from writeamp.learn.blackbox.space import CHARACTERISTICS, GRID, KIB, WorkloadPoint, grid, grid_size


@pytest.mark.parametrize("point", [READS, WRITES, MIXED])
def test_a_point_is_a_timed_workload_of_the_engine(point: WorkloadPoint) -> None:
    load = Load.spec(point.spec, 10_000)
    assert load.is_timed()
    assert load.has_writes() == point.has_writes


def test_what_has_no_effect_does_not_tell_points_apart() -> None:
    assert replace(READS, write_size_bytes=8 * KIB, write_stride_bytes=KIB) == READS
    assert replace(WRITES, write_stride_bytes=KIB) == WRITES


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"write_ratio": 1.5}, "write_ratio is 1.5"),
        ({"write_ratio": float("nan")}, "write_ratio is nan"),
        ({"queue_depth": 0}, "queue_depth is 0"),
        ({"write_size_bytes": 0}, "write_size_bytes is 0"),
        ({"read_size_bytes": 1000}, "multiple of 512"),
        ({"read_randomness": -0.1}, "read_randomness is -0.1"),
        ({"write_stride_bytes": 100}, "multiple of 512"),
        ({"fill": 0}, "fill is 0"),
        ({"fill": 1.5}, "fill is 1.5"),
        ({"recent_write_bytes": -1}, "recent_write_bytes is -1"),
        ({"recent_write_bytes": 512}, "the long run does not depend on"),
        ({"burst_s": -1.0}, "burst is -1"),
    ],
)
def test_a_value_outside_its_domain_is_refused(change: dict[str, float], words: str) -> None:
    with pytest.raises(WriteampError, match=words):
        replace(MIXED, **change)  # type: ignore[arg-type]


def test_a_job_of_fio_has_one_pattern_and_one_stride() -> None:
    assert MIXED.of_one_pattern() == replace(MIXED, write_stride_bytes=0)
    sequential = replace(MIXED, write_randomness=0.0, read_randomness=0.0)
    assert sequential.of_one_pattern().read_stride_bytes == 64 * KIB
    assert READS.of_one_pattern() == READS


def test_sizes_and_strides_are_rounded_up_to_sectors() -> None:
    odd = replace(MIXED, write_size_bytes=512, write_stride_bytes=5 * KIB)
    whole = odd.in_sectors(4 * KIB)
    assert (whole.write_size_bytes, whole.write_stride_bytes) == (4 * KIB, 8 * KIB)
    assert whole.read_size_bytes == 64 * KIB


def test_the_grid_has_each_workload_of_papers_values_once() -> None:
    points = list(grid())
    of_a_direction = 5 * (1 + 2 * 5)  # sizes, and random or 0 and 50% random with 5 strides
    mixed, pure = 3 * 4 * of_a_direction**2, 2 * 4 * of_a_direction
    assert len(points) == len(set(points)) == mixed + pure == grid_size()


def test_a_subsample_of_the_grid_takes_every_value_about_equally_often() -> None:
    points = list(grid_points(600, 0))
    for name in ("write_ratio", "queue_depth"):
        counts = Counter(getattr(point, name) for point in points)
        assert set(counts) == set(GRID[name])
        assert max(counts.values()) < 1.5 * min(counts.values())
    sizes = Counter(point.write_size_bytes for point in points if point.has_writes)
    assert max(sizes.values()) < 1.2 * min(sizes.values())


def test_a_larger_subsample_of_the_grid_begins_with_the_smaller_one() -> None:
    assert Design("grid", 50).listed(1 << 30) == Design("grid", 80).listed(1 << 30)[:50]


def test_the_whole_grid_can_be_asked_for_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    # A smaller grid, and so few draws that some cells are left for the end.
    monkeypatch.setitem(GRID, "queue_depth", (4,))
    monkeypatch.setitem(GRID, "write_ratio", (0.0, 0.25, 1.0))
    monkeypatch.setattr(designs, "_GRID_DRAWS", 1 << 10)
    assert set(Design("grid", grid_size()).listed(1 << 30)) == set(grid())
    with pytest.raises(WriteampError, match=f"has {grid_size()} workloads"):
        Design("grid", grid_size() + 1)


@pytest.mark.parametrize("design", DESIGNS)
def test_a_design_is_decided_by_its_seed(design: str) -> None:
    assert Design(design, 20, 1).listed(1 << 30) == Design(design, 20, 1).listed(1 << 30)
    assert Design(design, 20, 1).listed(1 << 30) != Design(design, 20, 2).listed(1 << 30)


def test_points_that_are_drawn_lie_within_the_grid_and_at_its_ends() -> None:
    points = list(latin_hypercube_points(200, 0))
    for name in CHARACTERISTICS:
        values = [getattr(point, name) for point in points]
        assert max(values) <= max(GRID[name])
    assert sum(not point.has_writes for point in points) == 20
    assert sum(not point.has_reads for point in points) == 20
    depths = [point.queue_depth for point in points]
    assert (min(depths), max(depths)) == (1, 64)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"kind": "gird"}, "did you mean 'grid'"),
        ({"points": 0}, "points is 0"),
        ({"seed": -1}, "design_seed is -1"),
        ({"vary": "filling"}, "unknown state 'filling'"),
        ({"vary": ""}, "unknown state ''"),
        ({"vary": 3}, "vary is 3; it must name states"),
        ({"burst_s": 0}, "burst is 0"),
        ({"burst_s": "2h"}, "burst is '2h'|burst is 7200"),
        ({"kind": "active", "vary": "fill"}, "--vary and --burst need one of the designs mixed"),
        ({"kind": "active", "burst_s": 1}, "--vary and --burst need one of the designs mixed"),
    ],
)
def test_a_design_that_cannot_be_is_refused(given: dict[str, object], words: str) -> None:
    with pytest.raises(WriteampError, match=words):
        Design(**given)  # type: ignore[arg-type]
