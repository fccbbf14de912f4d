"""Checks that every reproduction of a paper must pass, whatever the paper says."""

from __future__ import annotations

from writeamp_papers import PAPERS, Findings, Item, surprises

# Of a paper's comparable items, at most so many may be declared not comparable.
_NOT_COMPARABLE = {"four-level": 0.25, "verschoren2019": 0.05}
_OTHERS = 0.15

# Of what matches, so much must differ if everything that we compute were twice as large.
_FOUND_OF_DOUBLED = 0.9


def assert_reproduced(paper: str, found: Findings) -> None:
    """Check the verdicts of a paper's short form, found by `Paper.run`."""
    assert surprises(paper, found.items) == []
    names = [item.item for item in found.items]
    assert len(set(names)) == len(names)
    readings = [reading.name for reading in PAPERS[paper].readings]
    assert all(list(item.values) == readings for item in found.items)
    left_out = found.count()["not-comparable"]
    assert left_out <= _NOT_COMPARABLE.get(paper, _OTHERS) * len(found.comparable())
    assert_doubling_is_found(found)


def assert_doubling_is_found(found: Findings) -> None:
    """Check that most of what matches would differ if our values were twice as large."""
    matching = [item for item in found.items if item.verdict in ("match", "match-if")]
    decided = [item for item in matching if _is_moved(item)]
    differing = [item for item in decided if item.scaled(2).verdict == "differs"]
    assert decided
    assert len(differing) >= _FOUND_OF_DOUBLED * len(decided), [
        item.item for item in decided if item not in differing
    ]


def _is_moved(item: Item) -> bool:
    """Return whether doubling can decide: no ordering, and no bound far from what agrees."""
    if item.kind != "bound":
        return item.kind == "value"
    return not any(item.agrees(ours) and item.agrees(2 * ours) for ours in item.values.values())
