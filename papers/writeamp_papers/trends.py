"""Trends and orderings of several values as one number each, for verdicts on papers 2 and 5."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

# "One step in the wrong direction by up to 2% is let pass" (rules of the list of statements).
_LET_PASS = 1.02

# Two values as near as this are the same to a scale model: a tie, and no ordering.
TIE = 0.995


def falls(values: Sequence[float]) -> float:
    """Return the largest ratio of a value to the one before: below 1 if they fall at every step.

    One step that rises by no more than 2% is left out.
    """
    steps = sorted((after / before for before, after in pairwise(values)), reverse=True)
    if len(steps) > 1 and 1 <= steps[0] <= _LET_PASS:
        return steps[1]
    return steps[0]


def rises(values: Sequence[float]) -> float:
    """Return the largest ratio of a value to the one after: below 1 if they rise at every step."""
    return falls(values[::-1])


def spread(values: Iterable[float]) -> float:
    """Return the largest value over the least."""
    all_of_them = list(values)
    return max(all_of_them) / min(all_of_them)


def settled_at(values: Sequence[float], within: float = 0.05) -> int:
    """Return the place, from 1 on, of the first value that all later ones lie near to."""
    for at, value in enumerate(values):
        if all(abs(later / value - 1) <= within for later in values[at:]):
            return at + 1
    return len(values)
