"""Joining of sentences that differ in their numbers only."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?")


def kind_of(sentence: str) -> str:
    """Return the kind of a sentence, the same for all that differ in numbers only."""
    return _NUMBER.sub("#", sentence)


def as_one(sentences: Sequence[str]) -> str:
    """Return sentences of one kind as one, with the least and the most of each number.

    >>> as_one(["rises by 0.5 in 10 batches", "rises by 0.25 in 10 batches"])
    'rises by 0.25–0.5 in 10 batches'
    """
    numbers = zip(*(_NUMBER.findall(one) for one in sentences), strict=True)
    ranges = iter([_range(found) for found in numbers])
    return _NUMBER.sub(lambda _: next(ranges), sentences[0])


def _range(numbers: Sequence[str]) -> str:
    def value(text: str) -> float:
        return float(text.replace(",", ""))

    least, most = min(numbers, key=value), max(numbers, key=value)
    return least if value(least) == value(most) else f"{least}–{most}"
