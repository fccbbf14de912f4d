"""Base of all views of sweep results: a figure, a table and a JSON document."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.studies.sweep.summary import Group
from writeamp.studies.sweep.tidy import STUDY, Tidy, word_of

# Number of digits shown of a hash, enough to distinguish a few studies.
_STUDY_DIGITS = 12
_HEADINGS = {"wa": "WA"}


class View(Drawn):
    """View of sweep results, which can be drawn."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the view as JSON types."""

    @abstractmethod
    def _records(self) -> list[dict[str, Any]]:
        """Return the rows of the view, as JSON types."""


def card_of_groups(title: str, names: Sequence[str], groups: Sequence[Group]) -> Card:
    """Return one row for each group of replicas: its settings, and the mean with its interval."""
    if len({group.version for group in groups}) > 1 and "version" not in names:
        names = [*names, "version"]
    if len({tuple(group.value(name) for name in names) for group in groups}) < len(groups):
        names = [*names, STUDY]
    headings = [heading(name, [group.value(name) for group in groups]) for name in names]
    column = groups[0].column if groups else "wa"
    columns = [*headings, ">runs", f">{column_title(column)}", ">95% CI", "steady"]
    rows = [
        [
            *(_value(group, name) for name in names),
            str(group.runs) if not group.failed else f"{group.runs}, {group.failed} failed",
            number_in_words(group.mean),
            interval_in_words(group.low, group.high),
            _steady(group),
        ]
        for group in groups
    ]
    return Card(title, rows, columns)


def _value(group: Group, name: str) -> str:
    word = word_of(group.value(name))
    return word[:_STUDY_DIGITS] if name == STUDY else word


def _steady(group: Group) -> str:
    if group.steady is None:
        return "–"
    successful = group.runs - group.failed
    return (
        "yes"
        if group.steady
        else "NO"
        if successful == 1
        else f"NO, {group.not_steady} of {successful}"
    )


def heading(name: str, values: Sequence[Any]) -> str:
    """Return the heading of a setting's column; it is right-aligned if all values are numbers."""
    return f">{name}" if all(isinstance(value, int | float | None) for value in values) else name


def column_title(column: str) -> str:
    """Return the title of a column of results in a table."""
    return _HEADINGS.get(column, column)


def number_in_words(value: float | None) -> str:
    """Return a number with four decimals, or six digits if it is large; a dash for None."""
    return "–" if value is None else f"{value:.4f}" if abs(value) < 1000 else f"{value:.6g}"


def interval_in_words(low: float | None, high: float | None) -> str:
    """Return both ends of an interval, or a dash."""
    if low is None or high is None:
        return "–"
    return f"{number_in_words(low)} to {number_in_words(high)}"


def beside(tidy: Tidy, named: Sequence[str]) -> list[str]:
    """Return the axes that have no role in a plot, since they vary together with one that has."""
    return [name for name in tidy.varying if name not in named]


def without_axis(count: int, axis: str) -> str:
    """Return a phrase for the subtitle: the number of points without a value on an axis."""
    return f" · {count} points without {axis} are left out" if count else ""


def subtitle_of(tidy: Tidy, groups: Sequence[Group], named: Sequence[str]) -> str:
    """Return the subtitle: settings that are equal for all points, and the number of points."""
    fixed = [
        f"{name} = {word_of(tidy.frame[name][0])}"
        for name in (*tidy.parameters, "op", "workload", "manager")
        if name not in named and name in tidy.settings and tidy.frame[name].n_unique() == 1
    ]
    runs, failed = (sum(getattr(group, name) for group in groups) for name in ("runs", "failed"))
    each = sorted({group.runs for group in groups})
    counted = f"{each[0]}" if each[0] == each[-1] else f"{each[0]} to {each[-1]}"
    times = "" if each == [1] else f" × {counted} runs"
    words = [*dict.fromkeys(fixed), f"{len(groups)} points{times}"]
    if failed:
        words.append(f"{failed} of {runs} runs failed and are left out")
    return " · ".join(words)
