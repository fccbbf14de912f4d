"""One published number beside ours, and the verdict that follows from the two."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from writeamp.presentation.numbers import json_number

Verdict: TypeAlias = Literal["match", "erratum", "underdetermined", "differs"]

VERDICTS: tuple[Verdict, ...] = ("match", "erratum", "underdetermined", "differs")

# What a note says of an open detail of which no choice leads to the published value.
NONE_AGREES = "none of these agrees"

# A published 1.24 stands for 1.235 too, whose distance in binary is a hair above 0.005.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Item:
    """A published value, ours, and what to make of the two.

    `tolerance` is the absolute distance that still counts as the same value. The verdict is
    "match", "erratum" (the printed value is known wrong, and ours is the corrected one),
    "underdetermined" (the paper leaves open a detail that decides the value) or "differs".
    """

    item: str
    published: float
    ours: float
    tolerance: float
    verdict: Verdict
    note: str
    bound: bool = False
    """True if the paper states an upper bound rather than a value."""

    def to_dict(self) -> dict[str, Any]:
        """Return the item as JSON types; a value that is no finite number becomes null."""
        found = dict(vars(self))
        del found["bound"]  # for the table; the document's keys are fixed
        found["ours"] = json_number(self.ours)
        return found


@dataclass(frozen=True)
class Erratum:
    """What the print should say, how closely ours must agree with it, and why the print is wrong.

    `corrected` is worked out by other means than ours, or the agreement would say nothing.
    """

    corrected: float
    tolerance: float
    why: str


@dataclass(frozen=True)
class OpenDetail:
    """A detail that the paper leaves open, our choice, and our value under each choice tried."""

    detail: str
    choice: str
    values: Mapping[str, float]

    @property
    def effect(self) -> float:
        """How far apart the choices lie."""
        return max(self.values.values()) - min(self.values.values())

    def sentence(self) -> str:
        """Return the detail, our choice and its effect."""
        values = ", ".join(f"{value:.4g} {label}" for label, value in self.values.items())
        return f"left open: {self.detail}; ours: {self.choice}; effect: {values}"


def compared(
    item: str,
    published: float,
    ours: float,
    tolerance: float,
    *,
    note: str = "",
    erratum: Erratum | None = None,
    open_detail: OpenDetail | None = None,
) -> Item:
    """Judge our value of an item that the paper states.

    Args:
        item: what the number is, and where the paper has it.
        published: the value as printed.
        ours: the value as computed here.
        tolerance: largest absolute difference of a match.
        note: what a reader should know whatever the verdict.
        erratum: given where the print is known to be wrong.
        open_detail: given where the paper's text does not fix the value.

    Returns:
        "underdetermined" if the open detail decides: our value agrees under one choice of it and
        not under another, or under none while the choices differ by more than the tolerance; else
        "match" if the values agree; "erratum" if ours is the corrected value; or "differs".
    """
    found = Item(item, published, ours, tolerance, "differs", note)
    return _judged(found, lambda value: _near(value, published, tolerance), erratum, open_detail)


def at_most(
    item: str,
    published: float,
    ours: float,
    tolerance: float = 0.0,
    *,
    note: str = "",
    open_detail: OpenDetail | None = None,
) -> Item:
    """Judge our value against an upper bound that the paper states ("less than 1.2")."""
    found = Item(item, published, ours, tolerance, "differs", note, bound=True)
    most = published + tolerance + _ROUNDING * abs(published)
    return _judged(found, lambda value: value <= most, None, open_detail)


def within(item: str, low: float, high: float, ours: float, *, note: str = "") -> Item:
    """Judge our value against a range, of which the middle and half the width are shown."""
    found = compared(item, (low + high) / 2, ours, (high - low) / 2)
    return replace(found, note=_joined(f"{low:g} to {high:g}", note))


def _judged(
    item: Item,
    agrees: Callable[[float], bool],
    erratum: Erratum | None,
    open_detail: OpenDetail | None,
) -> Item:
    """Return the item with its verdict, and a note that says what decided it."""
    values = tuple(open_detail.values.values()) if open_detail else ()
    if agrees(item.ours) and all(map(agrees, values)):
        return replace(item, verdict="match")
    if not agrees(item.ours):
        if erratum and _near(item.ours, erratum.corrected, erratum.tolerance):
            return replace(item, verdict="erratum", note=_joined(erratum.why, item.note))
        decides = open_detail and (any(map(agrees, values)) or open_detail.effect > item.tolerance)
        if not (decides and math.isfinite(item.ours)):
            return item
    # A choice that happens to agree is no match while another, as good, would not.
    sentence = open_detail.sentence() if open_detail else ""
    none_agrees = "" if any(map(agrees, values)) else NONE_AGREES
    return replace(item, verdict="underdetermined", note=_joined(sentence, none_agrees, item.note))


def _near(ours: float, other: float, tolerance: float) -> bool:
    return abs(ours - other) <= tolerance + _ROUNDING * abs(other)


def _joined(*sentences: str) -> str:
    return "; ".join(sentence for sentence in sentences if sentence)
