"""Units of counters, learned from how far they moved for a known amount."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from writeamp.drives.counters.amounts import UNITS
from writeamp.drives.counters.facts import Facts
from writeamp.results.any_result import AnyResult
from writeamp.units.byte_sizes import shown_bytes

# A counter that moved by fewer counts fits several units, or moved for another reason.
_FEWEST_COUNTS = 10
# Those that the kernel counts are exact but for what is on its way.
_EXACT_PART, _EXACT_BYTES = Fraction(1, 100), 16 << 20
# Beside what somebody wrote, the file system and others write too.
_OTHERS_PART, _OTHERS_BYTES = Fraction(1, 10), 64 << 20


@dataclass(frozen=True)
class LearnedUnit:
    """Unit of a counter, if it counts what the host writes.

    Attributes:
        label: of the counter.
        before, after: its counts.
        bytes_per_count_low, bytes_per_count_high: what one count can be; a counter of the flash
            counts as much or more, as WA is 1 or more. The high one is None of a single count.
        unit: the name of the known unit that alone fits; None if none or several do.
        reason: why there is none; "" if there is one.
    """

    label: str
    before: int
    after: int
    bytes_per_count_low: float
    bytes_per_count_high: float | None
    unit: str | None
    reason: str


@dataclass(frozen=True, eq=False)
class Calibration(AnyResult):
    """Units of a drive's counters.

    Attributes:
        written_bytes: that were written to the drive.
        is_exact: by the kernel's count; else what was asked for, beside which others wrote.
        counters: those that moved.
        model, firmware: of the drive.
    """

    written_bytes: int
    is_exact: bool
    counters: tuple[LearnedUnit, ...]
    model: str | None
    firmware: str | None

    def _records(self) -> Sequence[Mapping[str, Any]]:
        return [vars(one) for one in self.counters]

    def to_dict(self) -> dict[str, Any]:
        """Return the calibration as JSON types."""
        return {**vars(self), "counters": [dict(vars(one)) for one in self.counters]}


def calibration_of(
    before: Facts, after: Facts, written_bytes: int, *, is_exact: bool
) -> Calibration:
    """Return the units that the counters of two snapshots can be of.

    Args:
        before, after: facts of one drive.
        written_bytes: in between.
        is_exact: the kernel counted them; else others may have written up to a tenth more.
    """
    part, slack = (_EXACT_PART, _EXACT_BYTES) if is_exact else (_OTHERS_PART, _OTHERS_BYTES)
    low = written_bytes * (1 - (part if is_exact else Fraction(0)))
    high = written_bytes * (1 + part) + slack
    found = tuple(_learned(before, after, Fraction(low), Fraction(high)))
    return Calibration(written_bytes, is_exact, found, after.model, after.firmware)


def _learned(before: Facts, after: Facts, low: Fraction, high: Fraction) -> Iterator[LearnedUnit]:
    earlier = _counts(before)
    for label, count in _counts(after).items():
        if label not in earlier or count <= earlier[label]:
            continue
        counts = count - earlier[label]
        fitting = [
            unit
            for unit in UNITS.values()
            if unit.low == unit.high
            and (counts - 1) * unit.nominal <= high
            and (counts + 1) * unit.nominal >= low
        ]
        reason = _reason(counts, [one.name for one in fitting], high)
        yield LearnedUnit(
            label,
            earlier[label],
            count,
            float(low / (counts + 1)),
            float(high / (counts - 1)) if counts > 1 else None,
            fitting[0].name if not reason else None,
            reason,
        )


def _counts(facts: Facts) -> dict[str, int]:
    return {one.label: one.count for one in facts.counters} | dict(facts.raws)


def _reason(counts: int, fitting: list[str], written: Fraction) -> str:
    """Return why no unit is learned; "" if one is."""
    if counts < _FEWEST_COUNTS:
        return (
            f"it moved by {counts} only; if it counts writes, write at least "
            f"{shown_bytes(round(written / counts * 10 * _FEWEST_COUNTS))}"
        )
    if len(fitting) > 1:
        return f"{' and '.join(fitting)} fit: write ten times as much"
    return "" if fitting else "no known unit fits: it counts something else, or others wrote"
