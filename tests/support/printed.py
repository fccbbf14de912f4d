"""Published numbers of the papers, typed a second time from the papers' texts.

`papers/tests/printed/NAME.toml` has the numbers in another order than the code. Its `values` are
numbers by item, in which `*` stands for any text. Its tables have an `item` with {row} and
{column}, and `cells` that are two or more spaces apart, with the columns in the first line. A
number is as in the paper: "1,547", "110%", or "100 to 150" for the middle of a range. `complement`
is true for tables of 1 - x.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

import pytest

from places import ROOT
from writeamp_papers import Item


def assert_printed(paper: str, items: Iterable[Item], *, whole: bool = True) -> None:
    """Check the published number of every item against the one that was typed again.

    Checked values are not in a paper. Orderings have no number of their own.

    Args:
        paper: name of the paper.
        items: its items.
        whole: whether these are all items of the short form, so that each number has an item.
    """
    text = (ROOT / f"papers/tests/printed/{paper}.toml").read_text(encoding="utf-8")
    numbers, used = _numbers(tomllib.loads(text)), set()
    printed = [item for item in items if item.origin != "checked" and item.kind != "ordering"]
    untyped = [item.item for item in printed if not _names_of(item.item, numbers)]
    assert not untyped, f"type these from the paper's text into papers/tests/printed/{paper}.toml"
    for item in printed:
        names = _names_of(item.item, numbers)
        used.update(names)
        for name in names:
            assert item.published == pytest.approx(numbers[name], rel=1e-9, abs=1e-12), item
    assert not whole or used == set(numbers), set(numbers) - used


def _numbers(document: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers of a file by item or pattern of items."""
    pairs = [(item, _number(number)) for item, number in document.get("values", {}).items()]
    pairs += [pair for table in document.get("table", []) for pair in _cells(table)]
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def _names_of(item: str, names: Collection[str]) -> list[str]:
    """Return the name of an item, or all patterns that it fits."""
    return [item] if item in names else [name for name in names if fnmatchcase(item, name)]


def _cells(table: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    columns, *rows = (re.split(" {2,}", line) for line in table["cells"].strip().splitlines())
    for name, *numbers in rows:
        for column, printed in zip(columns, numbers, strict=True):
            number = _number(printed)
            item = table["item"].format(row=name, column=column)
            yield item, 1 - number if table.get("complement") else number


def _number(printed: str) -> float:
    low, _, high = printed.partition(" to ")
    if high:
        return (_number(low) + _number(high)) / 2
    digits = printed.removesuffix("%").replace(",", "")
    return float(digits) / (100 if printed.endswith("%") else 1)
