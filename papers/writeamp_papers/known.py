"""Known differences and incomparable numbers of papers, from data files in this folder.

A known difference is an item that differs from the print for an understood reason. It is pinned:
its computed value is stored, so that a change of the value is reported.
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
    """Known difference of an item: its value under the default reading, and the reason.

    `ours` is the expected computed value, within `tolerance` (absolute). `form` states whether the
    difference is known in "short" reproductions, in "full" ones, or in "every" one.
    """

    paper: str
    item: str
    ours: float
    tolerance: float
    reason: str
    form: str = "short"

    def holds(self, item: Item) -> bool:
        """Return whether the item still differs, with the pinned value."""
        return item.verdict == "differs" and abs(item.ours - self.ours) <= self.tolerance


@cache
def known_differences(paper: str, *, full: bool) -> dict[str, KnownDifference]:
    """Return the known differences of a paper's short or full reproduction, by item."""
    rows = (KnownDifference(**row) for row in _tables(_DIFFERENCES, "difference"))
    forms = ("full" if full else "short", "every")
    return {row.item: row for row in rows if row.paper == paper and row.form in forms}


@cache
def not_comparable(paper: str) -> dict[str, str]:
    """Return the reasons why numbers of a paper cannot be computed, by item."""
    rows = _tables(_NOT_COMPARABLE, "number")
    return {row["item"]: row["reason"] for row in rows if row["paper"] == paper}


def without_comparison(paper: str, items: Iterable[Item]) -> list[Item]:
    """Return a paper's items, with the reason in those that cannot be compared."""
    reasons = not_comparable(paper)
    return [replace(item, not_comparable=reasons.get(item.item, "")) for item in items]


def surprises(paper: str, items: Iterable[Item], *, full: bool, whole: bool = True) -> list[str]:
    """Return a sentence for each difference that is not known or has changed.

    Args:
        paper: name of the paper.
        items: items of the paper, with values.
        full: whether the items are from a full reproduction.
        whole: whether `items` has all items of the paper; only then are known differences reported
            whose item is missing.
    """
    pins = dict(known_differences(paper, full=full))
    sentences = []
    for item in items:
        pin = pins.pop(item.item, None)
        if pin is None:
            if item.verdict == "differs":
                sentences.append(
                    f"{item.item}: the computed {item.ours:.6g} differs from the published "
                    f"{item.published:.6g}"
                )
        elif not pin.holds(item):
            sentences.append(
                f"{item.item}: known_differences.toml expects {pin.ours:g} ± {pin.tolerance:g}, "
                f"but the value is now {item.ours:.6g} ({item.verdict})"
            )
    if whole:
        sentences += [
            f"{item}: in known_differences.toml, but the paper has no item of this name"
            for item in pins
        ]
    return sentences


def _tables(path: Path, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8")).get(name, [])
    return rows
