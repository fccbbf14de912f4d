"""Items: a published number, the computed number, and the verdict on both."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, TypeAlias

from writeamp.results.numbers import json_number

Verdict: TypeAlias = Literal[
    "match", "match-if", "erratum", "differs", "not-comparable", "fitted", "input", "checked"
]
VERDICTS: tuple[Verdict, ...] = (
    "match",
    "match-if",
    "erratum",
    "differs",
    "not-comparable",
    "fitted",
    "input",
    "checked",
)
# Verdicts of items whose printed number is compared with a computed one.
COMPARABLE: tuple[Verdict, ...] = ("match", "match-if", "differs")

# Computed value of an item: a number, if it is equal under all readings (interpretations of the
# paper); otherwise a number by name of the reading, the default first.
Values: TypeAlias = float | Mapping[str, float]

# Kind of the published value: a number or a range (its middle is `published`); an upper bound; or
# an ordering or trend, which holds if the computed value is below `published`.
Kind: TypeAlias = Literal["value", "bound", "ordering"]

# Where the computed value comes from: "computed", a computation of the printed number; "fitted", a
# computation whose parameters were fitted to the printed number; "input", a copy of the printed
# number, or what follows from copies by arithmetic; "checked", a computation that is compared with
# another computation instead of the paper.
Origin: TypeAlias = Literal["computed", "fitted", "input", "checked"]

_EVERY_READING = "every reading"

# Tolerance for binary rounding: 1.235 is printed as 1.24, but differs by slightly more than 0.005
# in floating point.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Erratum:
    """Correction of a misprint: the right value, its absolute tolerance, and the reason.

    `corrected` must come from a calculation other than that of the item's computed value; otherwise
    their agreement proves nothing.
    """

    corrected: float
    tolerance: float
    why: str


@dataclass(frozen=True)
class Item:
    """Published value, computed value under each joint reading, and their comparison.

    Attributes:
        item: name of the number with its place in the paper, unique within a paper.
        published: the number as printed, the middle of a printed range, or a printed bound.
        values: computed values by name of the reading; the first is of the default reading.
        tolerance: largest absolute difference at which values agree.
        kind, origin: see `Kind` and `Origin`.
        note: remark for readers, independent of the verdict.
        erratum: set if the print is known to be wrong.
        statement: id of the statement in the list made from the paper alone.
        not_comparable: why a program cannot compute the number.
    """

    item: str
    published: float
    values: Mapping[str, float]
    tolerance: float
    kind: Kind = "value"
    origin: Origin = "computed"
    note: str = ""
    erratum: Erratum | None = None
    statement: str = ""
    not_comparable: str = ""

    @property
    def ours(self) -> float:
        """Computed value under the default reading."""
        return next(iter(self.values.values()))

    @property
    def bound(self) -> bool:
        """True if `published` is an upper bound."""
        return self.kind in ("bound", "ordering")

    @property
    def verdict(self) -> Verdict:
        """Verdict of the comparison, from the numbers alone.

        "match" if the computed and the published value agree under the default reading, "match-if"
        if only under another reading, "erratum" if the computed value is the corrected one, and
        "differs" otherwise. "fitted", "input" and "checked" replace "match" for items that do not
        test a computation against the print; such items are never "match-if". "not-comparable" if
        `not_comparable` is set.
        """
        if self.not_comparable:
            return "not-comparable"
        if self.agrees(self.ours):
            return "match" if self.origin == "computed" else self.origin
        if self.erratum and _near(self.ours, self.erratum.corrected, self.erratum.tolerance):
            return "erratum"
        return "match-if" if self.reading and self.origin == "computed" else "differs"

    @property
    def reading(self) -> str | None:
        """First reading under which the values agree, or None."""
        return next((name for name, ours in self.values.items() if self.agrees(ours)), None)

    def agrees(self, ours: float) -> bool:
        """Return whether a computed value is finite and agrees with the published one."""
        if not math.isfinite(ours):
            return False
        if self.kind == "ordering":
            return ours < self.published
        if self.kind == "bound":
            return ours <= self.published + self.tolerance + _ROUNDING * abs(self.published)
        return _near(ours, self.published, self.tolerance)

    def under(self, readings: Iterable[str]) -> Item:
        """Return the item with a value for each of the readings, in their order.

        Raises:
            ValueError: the item has values for some of the readings only.
        """
        names = list(readings)
        if set(self.values) == {_EVERY_READING}:
            return replace(self, values=dict.fromkeys(names, self.ours))
        if set(self.values) != set(names):
            raise ValueError(f"{self.item!r} has values of {list(self.values)}, not of {names}")
        return replace(self, values={name: self.values[name] for name in names})

    def scaled(self, factor: float) -> Item:
        """Return the item with all computed values multiplied by a factor (for tests)."""
        return replace(self, values={name: factor * ours for name, ours in self.values.items()})

    def to_dict(self) -> dict[str, Any]:
        """Return the item as JSON types, non-finite values as null."""
        return {
            "item": self.item,
            "published": self.published,
            "ours": json_number(self.ours),
            "tolerance": self.tolerance,
            "verdict": self.verdict,
            "reading": self.reading,
            "values": {name: json_number(ours) for name, ours in self.values.items()},
            "bound": self.bound,
            "kind": self.kind,
            "statement": self.statement,
            "note": self.full_note(),
        }

    def full_note(self) -> str:
        """Return the reason of the verdict, followed by the note."""
        if self.verdict == "not-comparable":
            return _joined(self.not_comparable, self.note)
        if self.verdict == "erratum" and self.erratum:
            return _joined(self.erratum.why, self.note)
        if self.verdict == "match-if":
            return _joined(f"{self.values[self.reading or '']:.4g} under {self.reading}", self.note)
        return self.note


def compared(
    item: str,
    published: float,
    ours: Values,
    tolerance: float,
    *,
    note: str = "",
    erratum: Erratum | None = None,
    statement: str = "",
) -> Item:
    """Compare a computed value with one that the paper states.

    Args:
        item: name of the number, with its place in the paper.
        published: the value as printed.
        ours: the computed value.
        tolerance: largest absolute difference of a match.
        note: remark for readers, independent of the verdict.
        erratum: set if the print is known to be wrong.
        statement: id in the list of the paper's statements.
    """
    return Item(
        item,
        published,
        _by_reading(ours),
        tolerance,
        note=note,
        erratum=erratum,
        statement=statement,
    )


def at_most(
    item: str,
    published: float,
    ours: Values,
    tolerance: float = 0.0,
    *,
    note: str = "",
    erratum: Erratum | None = None,
    statement: str = "",
) -> Item:
    """Compare a computed value with an upper bound that the paper states ("less than 1.2")."""
    item_of_bound = compared(
        item, published, ours, tolerance, note=note, erratum=erratum, statement=statement
    )
    return replace(item_of_bound, kind="bound")


def ordered(
    item: str, ours: Values, *, below: float = 1.0, note: str = "", statement: str = ""
) -> Item:
    """Check an ordering or a trend: the value must be less than `below`; equality fails.

    `below` is 1 for a ratio of two values, and 0 for a difference.
    """
    item_of_order = compared(item, below, ours, 0.0, note=note, statement=statement)
    return replace(item_of_order, kind="ordering")


def within(
    item: str, low: float, high: float, ours: Values, *, note: str = "", statement: str = ""
) -> Item:
    """Compare a computed value with a range.

    The item shows the middle of the range as `published`, and half its width as `tolerance`.
    """
    note = _joined(f"{low:g} to {high:g}", note)
    return compared(item, (low + high) / 2, ours, (high - low) / 2, note=note, statement=statement)


def typed_in(item: Item) -> Item:
    """Return the item as an input: its value was copied from the paper, or follows from copies."""
    return replace(item, origin="input")


def fitted_to(item: Item) -> Item:
    """Return the item as fitted: parameters behind its computed value were fitted to the print."""
    return replace(item, origin="fitted")


def checked(item: Item) -> Item:
    """Return the item with origin "checked": its published number is from another calculation."""
    return replace(item, origin="checked")


def _by_reading(ours: Values) -> Mapping[str, float]:
    return ours if isinstance(ours, Mapping) else {_EVERY_READING: float(ours)}


def _near(ours: float, other: float, tolerance: float) -> bool:
    return abs(ours - other) <= tolerance + _ROUNDING * abs(other)


def _joined(*sentences: str) -> str:
    return "; ".join(sentence for sentence in sentences if sentence)


# In a rising or falling sequence, one step may go in the wrong direction by up to 2%. The rule was
# set with the list of the papers' statements.
_LET_PASS = 1.02

# `below` of orderings on scaled-down drives: ratios from this value to 1 are too close to prove an
# order, so they fail.
TIE = 0.995


def falls(values: Sequence[float]) -> float:
    """Return the largest ratio of a value to the previous one: below 1 if all steps fall.

    One step that rises by at most 2% is ignored.
    """
    steps = sorted((after / value for value, after in pairwise(values)), reverse=True)
    if len(steps) > 1 and 1 <= steps[0] <= _LET_PASS:
        return steps[1]
    return steps[0]


def rises(values: Sequence[float]) -> float:
    """Return the largest ratio of a value to the next one: below 1 if all steps rise.

    One step that falls by at most 2% is ignored.
    """
    return falls(values[::-1])


def spread(values: Iterable[float]) -> float:
    """Return the ratio of the largest value to the smallest."""
    all_of_them = list(values)
    return max(all_of_them) / min(all_of_them)


def settled_at(values: Sequence[float], within: float = 0.05) -> int:
    """Return the number, from 1, of the first value that all later ones are near.

    They differ from it by at most the share `within`.
    """
    for at, value in enumerate(values):
        if all(abs(later / value - 1) <= within for later in values[at:]):
            return at + 1
    return len(values)
