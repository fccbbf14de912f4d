"""Check of random writes from a generator with a short period."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.traces import TraceFacts

# Length of a sequence of addresses whose repetition cannot be chance, in writes.
_WINDOW = 48
_MOST_CANDIDATES = 64
# Fewest writes for a check of evenness, and number of regions whose writes are compared.
_FEWEST, _REGIONS = 4096, 16
# Least share of writes of one size. Largest standard deviation / mean of writes per region that
# count as even. Largest share of the expected distinct addresses that counts as too few.
_ALIKE, _UNEVEN, _SPARSE = 0.9, 0.2, 0.7
_FEW = (
    "Writes are spread evenly over the span but leave out many places: the generator of random "
    "addresses has few numbers, or its step is larger than the writes"
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
    # A period that covers all addresses once is the mistake `looped-permutation`.
    if 1 < distinct < 0.98 * period:
        yield Mistake(
            f"the last {2 * period:,} writes are one sequence of {period:,} writes, twice, to "
            f"{distinct:,} addresses"
        )


def _left_out(offsets: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> str | None:
    """Return evidence that writes spread evenly over the span but skip many addresses, or None."""
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
        f"{places.size:,} writes go to {distinct:,} of {span:,} places all over the span. Random "
        f"writes would go to {expected:,.0f}"
    )


def _period(offsets: npt.NDArray[np.int64]) -> int | None:
    """Return the period of the last writes, in writes; None if they are not two full periods."""
    backwards = offsets[::-1]
    if backwards.size < 2 * _WINDOW:
        return None
    repeats = np.flatnonzero(backwards[: backwards.size - _WINDOW] == backwards[0])[1:]
    for distance in range(1, _WINDOW):
        repeats = repeats[backwards[repeats + distance] == backwards[distance]]
    for period in repeats[:_MOST_CANDIDATES]:
        if 2 * period > backwards.size:
            break
        if period >= _WINDOW and np.array_equal(backwards[:period], backwards[period : 2 * period]):
            return int(period)
    return None


CHECK = DoctorCheck(
    "short-period",
    "error",
    "The writes repeat one sequence: the generator of random addresses has a short "
    "period, and most of the drive is never written",
    "use a 64-bit generator, or fio with norandommap",
    "SPDK issues 297, 2908",
    {"trace": _of_trace},
)
