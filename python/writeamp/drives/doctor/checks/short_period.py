"""Check of random writes whose generator comes round too soon."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.traces import TraceFacts

# So many addresses in a row are no chance.
_WINDOW = 48
_MOST_CANDIDATES = 64
# Writes that are enough to tell how even they are, over so many regions of the span.
_FEWEST, _REGIONS = 4096, 16
# Share of writes of one size; spread of regions that is even; share of places that is sparse.
_ALIKE, _UNEVEN, _SPARSE = 0.9, 0.2, 0.7
_FEW = (
    "Writes are spread evenly over the span and leave many places out: the generator of random "
    "addresses has few numbers, or a step that is larger than the writes"
)


def _of_trace(trace: TraceFacts) -> Judgements:
    if trace.is_sequential:
        return
    left_out = _left_out(trace.offsets, trace.lengths)
    if left_out is not None:
        yield Mistake(left_out, message=_FEW, severity="warning")
    period = _period(trace.offsets)
    if period is None:
        return
    distinct = np.unique(trace.offsets[-period:]).size
    # A period that is one pass over all addresses is another mistake, with a check of its own.
    if 1 < distinct < 0.98 * period:
        yield Mistake(
            f"the last {2 * period:,} writes are {period:,} twice, which go to {distinct:,} "
            "addresses"
        )


def _left_out(offsets: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> str | None:
    """Return what says that evenly drawn addresses leave others out; None if nothing does."""
    size = int(np.median(lengths)) if lengths.size >= _FEWEST else 0
    if size <= 0 or np.mean(lengths == size) < _ALIKE:
        return None
    places = (offsets - offsets.min()) // size
    span = int(places.max()) + 1
    regions = np.bincount(places * _REGIONS // span, minlength=_REGIONS)
    distinct = np.unique(places).size
    expected = span * -np.expm1(-places.size / span)
    is_even = regions.min() > 0 and regions.std() < _UNEVEN * regions.mean()
    if span < 16 * _REGIONS or not is_even or distinct > _SPARSE * expected:
        return None
    return (
        f"{places.size:,} writes go to {distinct:,} of {span:,} places all over the span; random "
        f"ones would go to {expected:,.0f}"
    )


def _period(offsets: npt.NDArray[np.int64]) -> int | None:
    """Return after how many writes the last ones come again; None if they do not, twice in full."""
    backwards = offsets[::-1]
    if backwards.size < 2 * _WINDOW:
        return None
    found = np.flatnonzero(backwards[: backwards.size - _WINDOW] == backwards[0])[1:]
    for behind in range(1, _WINDOW):
        found = found[backwards[found + behind] == backwards[behind]]
    for period in found[:_MOST_CANDIDATES]:
        if 2 * period > backwards.size:
            break
        if period >= _WINDOW and np.array_equal(backwards[:period], backwards[period : 2 * period]):
            return int(period)
    return None


CHECK = DoctorCheck(
    "short-period",
    "error",
    "The writes are one sequence again and again: the generator of random addresses has a short "
    "period, and most of the drive is never written",
    "use a generator of 64 bits, or fio with norandommap",
    "SPDK issues 297, 2908",
    {"trace": _of_trace},
)
