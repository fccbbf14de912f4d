"""Known differences and incomparable numbers of papers, from the file `known.toml` of each.

A known difference is an item that differs from the print for an understood reason. It is pinned:
its computed value is stored, so that a change of the value is reported.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from writeamp_papers.items import Item

# Forms of a reproduction. "part" is the part of a paper that `make test` runs, if it is less than
# the short form.
Form: TypeAlias = Literal["part", "short", "full"]

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class KnownDifference:
    """Known difference of an item: its value under the default reading, and the reason.

    `ours` is the expected computed value, within `tolerance` (absolute).
    """

    ours: float
    tolerance: float
    reason: str

    def holds(self, item: Item) -> bool:
        """Return whether the item still differs, with the pinned value."""
        is_near = item.ours == self.ours or abs(item.ours - self.ours) <= self.tolerance
        return item.verdict == "differs" and is_near


@cache
def known_differences(paper: str, form: Form) -> dict[str, KnownDifference]:
    """Return the known differences of a form of a paper's reproduction, by item.

    Those of form "every" belong to short and full reproductions.
    """
    forms = (form,) if form == "part" else (form, "every")
    return {
        item: KnownDifference(ours, tolerance, group["reason"])
        for group in _tables(paper, "difference")
        if group.get("form", "short") in forms
        for item, (ours, tolerance) in group["pins"].items()
    }


@cache
def not_comparable(paper: str) -> dict[str, str]:
    """Return the reasons why numbers of a paper cannot be computed, by item."""
    groups = _tables(paper, "not_comparable")
    return {item: group["reason"] for group in groups for item in group["items"]}


def without_comparison(paper: str, items: Iterable[Item]) -> list[Item]:
    """Return a paper's items, with the reason in those that cannot be compared."""
    reasons = not_comparable(paper)
    return [replace(item, not_comparable=reasons.get(item.item, "")) for item in items]


def surprises(
    paper: str, items: Iterable[Item], form: Form = "short", *, whole: bool = True
) -> list[str]:
    """Return a sentence for each difference that is not known or has changed.

    Args:
        paper: name of the paper.
        items: items of the paper, with values.
        form: form of the reproduction that computed the items.
        whole: whether `items` has all items of the paper; only then are known differences reported
            whose item is missing.
    """
    pins = dict(known_differences(paper, form))
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
                f"{item.item}: known.toml expects {pin.ours:g} ± {pin.tolerance:g}, "
                f"but the value is now {item.ours:.6g} ({item.verdict})"
            )
    if whole:
        sentences += [
            f"{item}: in known.toml, but the paper has no item of this name" for item in pins
        ]
    return sentences


def _tables(paper: str, name: str) -> list[dict[str, Any]]:
    """Return tables of a paper's file; a paper without a file has none."""
    path = _FOLDER / paper.replace("-", "_") / "known.toml"
    if not path.exists():
        return []
    tables: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8")).get(name, [])
    return tables
