"""Base of all views of results: a figure, a table and a document."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.results.frames import flat
from writeamp.studies.sweep.summary import Group
from writeamp.studies.sweep.tidy import STUDY, Tidy, word_of

# What tells rows apart that no reader could.
_FOR_PROGRAMS = ("version", STUDY)


class View(Drawn):
    """View of results, drawn from them."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the view as JSON types."""

    @abstractmethod
    def _records(self) -> list[dict[str, Any]]:
        """Return the rows of the view, as JSON types."""

    def card(self) -> Card:
        """Return the view as a table."""
        return card_of_rows(self.figure().title, self._records())


def card_of_rows(title: str, records: Sequence[dict[str, Any]]) -> Card:
    """Return rows as a table, without what is the same hash or version in all."""
    rows = [flat(one) for one in records]
    names = list(dict.fromkeys(name for one in rows for name in one if name not in _FOR_PROGRAMS))
    return Card(title, [[word_of(one.get(name)) for name in names] for one in rows], names)


def beside(tidy: Tidy, named: Sequence[str]) -> list[str]:
    """Return the axes without a role in a picture, which go ahead with those that have one."""
    return [name for name in tidy.varying if name not in named]


def without_axis(count: int, axis: str) -> str:
    """Return the subtitle's words on choices that have no place on an axis."""
    return f" · {count} points without {axis} are left out" if count else ""


def subtitle_of(tidy: Tidy, groups: Sequence[Group], named: Sequence[str]) -> str:
    """Return the subtitle: what all points of a picture share, and how many there are."""
    fixed = [
        f"{name} = {word_of(tidy.frame[name][0])}"
        for name in (*tidy.parameters, "op", "workload", "manager")
        if name not in named and name in tidy.settings and tidy.frame[name].n_unique() == 1
    ]
    runs, failed = (sum(getattr(one, name) for one in groups) for name in ("runs", "failed"))
    each = sorted({one.runs for one in groups})
    counted = f"{each[0]}" if each[0] == each[-1] else f"{each[0]} to {each[-1]}"
    times = "" if each == [1] else f" × {counted} runs"
    words = [*dict.fromkeys(fixed), f"{len(groups)} points{times}"]
    if failed:
        words.append(f"{failed} of {runs} runs failed and are left out")
    return " · ".join(words)
