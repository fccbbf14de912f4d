"""Measurements of a device: the paper's grid, its figures, and the specific models' grid."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from writeamp.learn.blackbox.space import WorkloadPoint
from writeamp.runners import gather_whole, local_runner, processors
from writeamp_papers.bench import Bench
from writeamp_papers.huang2011.devices import ARRAY, DEVICES, DISK
from writeamp_papers.huang2011.printed import SPECIFIC_DEVICES
from writeamp_papers.huang2011.runs import WAYS, Stretch, Way, measured, way_on
from writeamp_papers.huang2011.store import Store
from writeamp_papers.huang2011.workloads import curves, grid, specific

GIB = 1 << 30


@dataclass(frozen=True)
class Form:
    """Extent of the measurements of each device: in full, in short, or the part that tests run.

    Attributes:
        cells: number of workloads of the paper's grid (`workloads.cells`) on a flash drive.
        disk_cells, array_cells: numbers of workloads on the disk and on the array.
        stretch: number of workloads that one drive runs back to back; then a new drive continues.
        lead: number of the preceding workloads that a new drive runs first, unmeasured.
        flash_bytes: capacity of a flash drive. The minute of a run is scaled in proportion.
        disk_s: length of a run on the disk in seconds; the disk has its full size.
        sizes, steps: numbers of request sizes, and of steps of randomness and stride, in the grid
            of the workload-specific models (`workloads.specific`).
        window_requests: mean number of requests per window of a trace; None for windows of a
            minute.
        windows: number of windows of a trace; models are trained on the first two thirds.
    """

    cells: int
    disk_cells: int
    array_cells: int
    stretch: int
    lead: int
    flash_bytes: int
    disk_s: float
    sizes: int
    steps: int
    window_requests: int | None
    windows: int


FULL = Form(
    cells=12_500,
    disk_cells=12_500,
    # Two drives at full load take longest; all cells would take 2.6 hours of processor time.
    array_cells=2_500,
    stretch=1250,
    lead=125,
    flash_bytes=8 * GIB,
    disk_s=10.0,
    sizes=32,
    steps=9,
    window_requests=None,
    windows=180,
)
SHORT = Form(
    cells=900,
    disk_cells=900,
    # The array simulates two drives at full load, which takes longest, so it runs fewer workloads.
    array_cells=300,
    stretch=900,
    lead=0,
    flash_bytes=2 * GIB,
    disk_s=3.0,
    # 77 different sizes, so that the rarest kinds of workload have 77 rows; of shares and strides,
    # only the ends, for speed.
    sizes=100,
    steps=2,
    window_requests=400,
    windows=180,
)
# 25 s of processor time: every item has a value, but from few workloads on small drives.
# With fewer requests, a search trace may be without writes.
PART = Form(
    cells=40,
    disk_cells=40,
    array_cells=20,
    stretch=24,
    lead=4,
    flash_bytes=GIB // 2,
    disk_s=1.0,
    sizes=6,
    steps=2,
    window_requests=350,
    windows=45,
)
# Tests replace the short form by the part.
FORMS = {"full": FULL, "short": SHORT}


def form_of(*, full: bool) -> Form:
    """Return the extent of full or of short measurements."""
    return FORMS["full" if full else "short"]


# A simulated drive takes a few hundred megabytes of memory, so few run at once.
_MOST_THREADS = 4
_SEED = 2
_SEEDS_OF_A_STRETCH = 1_000_000
# Initial estimates of the computing time of a run in seconds; finished runs correct them.
_FLASH_S, _DISK_S = 0.025, 0.3

_STORE = Store()


@dataclass(frozen=True)
class Runs:
    """Measurements of a device in one way: a row for each run, with its workload's parameters.

    Attributes:
        grid: rows of the paper's grid of workloads, or of a part of the grid.
        curves: rows of each curve of Figs. 3 to 7, by the names of `workloads.curves`.
        specific: rows of the workload-specific models' grid; none on devices without such models.
    """

    grid: pl.DataFrame
    curves: dict[str, pl.DataFrame]
    specific: pl.DataFrame


class _Clock:
    """Estimate of the time of the remaining runs, from finished ones of this process."""

    def __init__(self) -> None:
        self.taken_s = self.expected_s = 0.0

    def left_s(self, stretches: Iterable[Stretch]) -> float:
        expected = sum(map(_expected_s, stretches))
        pace = self.taken_s / self.expected_s if self.expected_s else 1.0 / processors()
        return expected * pace


_CLOCK = _Clock()


def runs_of(bench: Bench, device: str) -> dict[str, Runs]:
    """Measure a device in every way (`runs.WAYS`), and return the rows by the way's name.

    Series that are saved, in this process or the bench's folder, are not measured again.

    Raises:
        WriteampError: a workload cannot be run.
    """
    form = form_of(full=bench.full)
    by_way = {way.name: stretches(device, way_on(device, way), form) for way in WAYS}
    distinct = dict.fromkeys(stretch for several in by_way.values() for stretch in several)
    todo = [stretch for stretch in distinct if _STORE.get(stretch, bench.resume) is None]
    if todo:
        _measure(bench, device, todo)
    return {
        way.name: _split(by_way[way.name], _points(device, way_on(device, way), form), bench)
        for way in WAYS
    }


def stretches(device: str, way: Way, form: Form) -> list[Stretch]:
    """Return all runs of a device, divided into series that each run on a new drive.

    Runs of the figures and of the specific models follow the grid, on the drive of its last series.
    """
    cells, curve_points, specific_points = _points(device, way, form)
    runs = []
    for first in range(0, len(cells), form.stretch):
        points = cells[first : first + form.stretch]
        is_last = first + form.stretch >= len(cells)
        after = [*(point for points in curve_points.values() for point in points), *specific_points]
        runs.append(
            Stretch(
                device,
                way,
                tuple(cells[max(0, first - form.lead) : first]),
                tuple([*points, *after] if is_last else points),
                form.flash_bytes,
                form.disk_s,
                _SEED + first * _SEEDS_OF_A_STRETCH,
            )
        )
    return runs


_Points = tuple[list[WorkloadPoint], dict[str, list[WorkloadPoint]], list[WorkloadPoint]]


def _points(device: str, way: Way, form: Form) -> _Points:
    cells = {DISK: form.disk_cells, ARRAY: form.array_cells}.get(device, form.cells)
    has_kinds = device in SPECIFIC_DEVICES
    specific_points = specific(form.sizes, form.steps) if has_kinds else []
    return grid(cells, each_once=way.each_once), curves(), specific_points


def _measure(bench: Bench, device: str, todo: Sequence[Stretch]) -> None:
    runner = bench.runner or local_runner(len(todo), _MOST_THREADS)
    began, left = time.perf_counter(), list(todo)

    def keep(at: int, rows: list[tuple[float, ...]]) -> None:
        nonlocal began
        _STORE.put(todo[at], rows, bench.resume)
        left.remove(todo[at])
        _CLOCK.expected_s += _expected_s(todo[at])
        now = time.perf_counter()
        _CLOCK.taken_s += now - began
        began = now
        _tell(bench, device, left)

    _tell(bench, device, left)
    gather_whole(runner, measured, todo, each=keep, progress=bench.progress)


def _tell(bench: Bench, device: str, left: Sequence[Stretch]) -> None:
    """Report the runs left on the current device, and the estimated time for all devices."""
    names = list(DEVICES)
    later = names[names.index(device) + 1 :]
    form = form_of(full=bench.full)
    others = [
        stretch
        for name in later
        for way in dict.fromkeys(way_on(name, candidate) for candidate in WAYS)
        for stretch in stretches(name, way, form)
        if _STORE.get(stretch, bench.resume) is None
    ]
    runs = sum(len(stretch.points) for stretch in left)
    bench.step(
        f"{runs} runs left on {device} (device {len(names) - len(later)} of {len(names)}), "
        f"about {_CLOCK.left_s([*left, *others]):.0f} s left for all devices"
    )


def _expected_s(stretch: Stretch) -> float:
    a_run_s = _DISK_S if stretch.device == DISK else _FLASH_S
    return a_run_s * (len(stretch.lead) + len(stretch.points))


def _split(of: Sequence[Stretch], points: _Points, bench: Bench) -> Runs:
    cells, curve_points, specific_points = points
    every = [
        *cells,
        *(point for curve in curve_points.values() for point in curve),
        *specific_points,
    ]
    characteristics = pl.DataFrame([point.to_dict() for point in every])
    metrics = pl.concat([_known(stretch, bench) for stretch in of])
    rows = pl.concat([characteristics, metrics], how="horizontal")
    curves_found, first = {}, len(cells)
    for name, curve in curve_points.items():
        curves_found[name] = rows.slice(first, len(curve))
        first += len(curve)
    return Runs(rows.head(len(cells)), curves_found, rows.slice(first))


def _known(stretch: Stretch, bench: Bench) -> pl.DataFrame:
    rows = _STORE.get(stretch, bench.resume)
    assert rows is not None, "it was measured before"
    return rows
