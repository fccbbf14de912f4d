"""Forms of the reproduction: the share of the paper's measurements that each makes."""

from __future__ import annotations

from dataclasses import dataclass

GIB = 1 << 30


@dataclass(frozen=True)
class Form:
    """Measurements of each device in one form.

    Attributes:
        cells: of the paper's grid (`workloads.cells`), on a flash drive.
        disk_cells, array_cells: the same on the disk and on the array.
        stretch: cells of the grid that one drive runs back to back; the next stretch begins on
            another.
        lead: cells before those of a stretch that its drive runs unmeasured, if there are any.
        flash_bytes: what a flash drive shows its host; a minute's run is shorter by as much.
        disk_s: the length of a run on the disk, which is as large as it is.
        sizes, steps: of the workload-specific models' grid (`workloads.specific`).
        window_requests: mean requests of a trace in one window; None for those of a minute.
        windows: of a trace; the first two thirds train.
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
    array_cells=12_500,
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
    # Two drives, each as busy as one, take longest.
    array_cells=300,
    stretch=900,
    lead=0,
    flash_bytes=2 * GIB,
    disk_s=3.0,
    # Few enough to be quick, and more than the features of a kind by far.
    sizes=28,
    steps=2,
    window_requests=400,
    windows=180,
)


def form_of(*, full: bool) -> Form:
    """Return the long form or the short one."""
    return FULL if full else SHORT
