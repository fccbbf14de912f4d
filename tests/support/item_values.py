"""Stored bounds, tolerances and values of the papers' items; no fault hides within them.

After an intended change of values, `WRITEAMP_WRITE_VALUES=1 pytest papers/tests/science` writes
these files again; their difference shows which values changed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable

import pytest

from places import ROOT
from writeamp_papers import Item

# Simulations give the same counts everywhere, but fits of times may differ by this share.
_SAME = 0.001
# Errors of counts below this are rounding errors of floating point.
_LEAST = 1e-6


def assert_values(paper: str, items: Iterable[Item], *, fitted: str = "(?!)") -> None:
    """Compare the items of a paper with stored ones, under each reading.

    Args:
        paper: name of the paper.
        items: its items.
        fitted: regular expression of the names of items whose values are not stored, because they
            depend on fitted models.
    """
    path = ROOT / f"papers/tests/values/{paper}.json"
    found = {
        item.item: _short(item, with_values=not re.search(fitted, item.item))
        for item in items
        if not item.not_comparable
    }
    if os.environ.get("WRITEAMP_WRITE_VALUES"):
        lines = [
            f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(numbers)}"
            for name, numbers in found.items()
        ]
        path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert found.keys() == stored.keys()
    near = {name: pytest.approx(numbers, _SAME, _LEAST) for name, numbers in stored.items()}
    assert [name for name, numbers in found.items() if numbers != near[name]] == []


def _short(item: Item, *, with_values: bool) -> list[float]:
    """Return bound, tolerance and values of an item to five digits.

    If all readings have the same value, it is there once.
    """
    values = list(item.values.values()) if with_values else []
    if len(set(values)) == 1:
        values = values[:1]
    return [float(f"{number:.5g}") for number in (item.published, item.tolerance, *values)]
