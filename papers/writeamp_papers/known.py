"""Known differences and incomparable numbers of papers, from data files beside this one.

A difference is pinned with our value, so that it is noticed if it moves: a fault in what is known
to differ would otherwise stay unseen.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from writeamp_papers.items import Item

_DIFFERENCES = Path(__file__).with_name("known_differences.toml")
_NOT_COMPARABLE = Path(__file__).with_name("not_comparable.toml")


@dataclass(frozen=True)
class KnownDifference:
    """Known difference of an item: our value under the default reading, and the reason.

    `ours` is pinned to within `tolerance`, of the "short" form, of the "full" one, or of "every".
    """

    paper: str
    item: str
    ours: float
    tolerance: float
    reason: str
    form: str = "short"

    def holds(self, item: Item) -> bool:
        """Return whether the item still differs, and by as much."""
        return item.verdict == "differs" and abs(item.ours - self.ours) <= self.tolerance


@cache
def known_differences(paper: str, *, full: bool) -> dict[str, KnownDifference]:
    """Return the pinned differences of a paper's short or full form, by item."""
    rows = (KnownDifference(**row) for row in _tables(_DIFFERENCES, "difference"))
    forms = ("full" if full else "short", "every")
    return {row.item: row for row in rows if row.paper == paper and row.form in forms}


@cache
def not_comparable(paper: str) -> dict[str, str]:
    """Return a paper's numbers that no computation can be compared with: reasons by item."""
    rows = _tables(_NOT_COMPARABLE, "number")
    return {row["item"]: row["reason"] for row in rows if row["paper"] == paper}


def without_comparison(paper: str, items: Iterable[Item]) -> list[Item]:
    """Return the items of a paper, those on the list marked as not comparable."""
    reasons = not_comparable(paper)
    return [replace(item, not_comparable=reasons.get(item.item, "")) for item in items]


def surprises(paper: str, items: Iterable[Item], *, full: bool, whole: bool = True) -> list[str]:
    """Return a sentence for each difference that is not pinned, or not as it is pinned.

    Args:
        paper: name of the paper.
        items: its items, judged.
        full: whether they are of the full form.
        whole: whether they are all of them, so that a pinned item that is missing is reported.
    """
    pins = dict(known_differences(paper, full=full))
    found = []
    for item in items:
        pin = pins.pop(item.item, None)
        if pin is None:
            if item.verdict == "differs":
                found.append(f"{item.item}: {item.ours:.6g} differs from {item.published:.6g}")
        elif not pin.holds(item):
            found.append(
                f"{item.item}: pinned as {pin.ours:g} ± {pin.tolerance:g} that differs, is now "
                f"{item.ours:.6g} ({item.verdict})"
            )
    if whole:
        found += [f"{item}: pinned, but there is no such item" for item in pins]
    return found


def _tables(path: Path, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8")).get(name, [])
    return rows
