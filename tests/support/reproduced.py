"""Checks that every reproduction of a paper must pass, whatever the paper says."""

from __future__ import annotations

from dataclasses import replace

from item_values import assert_values
from printed import assert_printed
from writeamp_papers import PAPERS, Findings, Item, surprises

# Of a paper's comparable items, at most so many may be declared not comparable.
_NOT_COMPARABLE = {"four-level": 0.25, "verschoren2019": 0.05}
_OTHERS = 0.15

# Papers whose stored values are those of the part that `make test` runs.
_STORED_AS_PARTS = {"four-level", "huang2011"}

# Least relative change of a value whose tolerance is 0, above the tolerance of binary rounding.
_LEAST = 1e-6


def assert_reproduced(paper: str, found: Findings) -> None:
    """Check the verdicts of a paper's short form, found by `Paper.run`."""
    assert surprises(paper, found.items) == []
    names = [item.item for item in found.items]
    assert len(set(names)) == len(names)
    readings = [reading.name for reading in PAPERS[paper].readings]
    assert all(list(item.values) == readings for item in found.items)
    assert all(any(item.values[one] != item.ours for item in found.items) for one in readings[1:])
    left_out = found.count()["not-comparable"]
    assert left_out <= _NOT_COMPARABLE.get(paper, _OTHERS) * len(found.comparable())
    assert_matches_can_fail(paper, found)
    if paper not in _STORED_AS_PARTS:
        assert_values(paper, found.items)


def assert_matches_can_fail(paper: str, found: Findings) -> None:
    """Check published numbers, and that matches turn if the computed values change."""
    assert_printed(paper, found.items)
    assert_matches_turn(found)
    assert_doubling_is_found(found)


def assert_matches_turn(found: Findings) -> None:
    """Check that each match turns if its value moves by twice its tolerance, or over its bound.

    A value moves in both directions. An ordering is turned around.
    """
    for item in found.items:
        if item.verdict == "match":
            staying = [
                change for change in _turning(item) if _plus(item, change).verdict == "match"
            ]
            assert not staying, item


def _turning(item: Item) -> tuple[float, ...]:
    least = _LEAST * max(1.0, abs(item.published))
    if item.kind == "ordering":
        return (2 * (item.published - item.ours),)
    if item.kind == "bound":
        return (item.published - item.ours + 2 * item.tolerance + least,)
    change = 2 * item.tolerance + least
    return (-change, change)


def _plus(item: Item, change: float) -> Item:
    return replace(item, values={name: ours + change for name, ours in item.values.items()})


def assert_doubling_is_found(found: Findings) -> None:
    """Check that no tolerance or range is so wide that a value, its double and its half match."""
    for item in found.items:
        if item.kind == "value" and item.verdict in ("match", "match-if"):
            ours = item.values[item.reading or ""]
            assert not (item.agrees(2 * ours) and item.agrees(ours / 2)), item
