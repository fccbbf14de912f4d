"""Tables of `writeamp sweep show`, one for each way to look at results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from writeamp.cli import options
from writeamp.cli.options import stdout
from writeamp.studies.sweep.results import SweepResults
from writeamp.studies.sweep.summary import Group
from writeamp.studies.sweep.tidy import STUDY, word_of
from writeamp.studies.sweep.views.curves import Curves
from writeamp.studies.sweep.views.heat_map import HeatMaps
from writeamp.studies.sweep.views.pareto import Pareto
from writeamp.studies.sweep.views.sensitivity import Sensitivity
from writeamp.studies.sweep.views.view import View

# So many rows are printed; the JSON document has all.
_MOST_ROWS = 200

# Enough digits of a hash to tell a few studies apart.
_STUDY_DIGITS = 12
_HEADINGS = {"wa": "WA"}


def rows_of(found: SweepResults) -> dict[str, Any]:
    """Return the rows of the plain table as JSON types."""
    return {"rows": [group.to_dict() for group in found.groups()]}


def print_view(folder: str, found: SweepResults, view: View | None) -> None:
    """Print what a view shows; without one, the WA of all choices."""
    if isinstance(view, Pareto):
        _print_front(view)
    elif isinstance(view, Sensitivity):
        _print_indices(view)
    elif isinstance(view, Curves | HeatMaps):
        names = view.roles.names
        _print_groups(f"{folder}: {len(view.points)} points", names, view.points)
    else:
        title = f"{folder}: {found.tidy.frame.height} points"
        _print_groups(title, found.tidy.parameters, found.groups())


def _print_groups(title: str, names: Sequence[str], groups: Sequence[Group]) -> None:
    if len({group.version for group in groups}) > 1 and "version" not in names:
        names = [*names, "version"]
    if len({tuple(group.value(name) for name in names) for group in groups}) < len(groups):
        names = [*names, STUDY]
    column = groups[0].column if groups else "wa"
    headings = [_heading(name, [group.value(name) for group in groups]) for name in names]
    columns = [*headings, ">runs", f">{_HEADINGS.get(column, column)}", ">95% CI", "steady"]
    _print_rows(title, columns, [_cells(group, names) for group in groups])


def _cells(group: Group, names: Sequence[str]) -> list[str]:
    return [
        *(_value(group, name) for name in names),
        str(group.runs) if not group.failed else f"{group.runs}, {group.failed} failed",
        _number(group.mean),
        _interval(group.low, group.high),
        _steady(group),
    ]


def _value(group: Group, name: str) -> str:
    word = word_of(group.value(name))
    return word[:_STUDY_DIGITS] if name == STUDY else word


def _steady(group: Group) -> str:
    if group.steady is None:
        return "–"
    found = group.runs - group.failed
    return "yes" if group.steady else "NO" if found == 1 else f"NO, {group.not_steady} of {found}"


def _print_front(view: Pareto) -> None:
    columns = [one.column for one in view.objectives]
    names = [name for name in view.tidy.varying if name not in columns]
    best = [one for one in view.choices if one.to_dict()["standing"] != "dominated"]
    headings = [_heading(name, [one.groups[0].value(name) for one in best]) for name in names]
    rows = []
    for choice in best:
        values = [word_of(choice.groups[0].value(name)) for name in names]
        for group in choice.groups:
            values += [_number(group.mean), _interval(group.low, group.high)]
        rows.append([*values, choice.to_dict()["standing"]])
    pairs = [text for name in columns for text in (f">{_HEADINGS.get(name, name)}", ">95% CI")]
    title = f"{len(best)} of {len(view.choices)} choices are on the Pareto front, or near it"
    _print_rows(title, [*headings, *pairs, "standing"], rows)
    if view.left_out:
        options.note(f"{view.left_out} choices lack one of {', '.join(columns)} and are left out")


def _print_indices(view: Sensitivity) -> None:
    names = list(view.parts[0].choice)
    rows = [
        [
            *(word_of(part.choice[name]) for name in names),
            one.axis,
            one.measure.replace("_", " "),
            _number(one.value),
            _interval(one.to_dict()["low"], one.to_dict()["high"]),
        ]
        for part in view.parts
        for one in part.indices
    ]
    headings = [_heading(name, [part.choice[name] for part in view.parts]) for name in names]
    title = f"What decides {_HEADINGS.get(view.column, view.column)}: {view.method}"
    _print_rows(title, [*headings, "axis", "index", ">value", ">95% CI"], rows)


def _print_rows(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    stdout.print(options.table(title, columns, rows[:_MOST_ROWS]))
    if len(rows) > _MOST_ROWS:
        left = len(rows) - _MOST_ROWS
        stdout.print(f"{left} more rows are in the JSON document of --json")


def _heading(name: str, values: Sequence[Any]) -> str:
    return f">{name}" if all(isinstance(one, int | float | None) for one in values) else name


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}" if abs(value) < 1000 else f"{value:.6g}"


def _interval(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{_number(low)} to {_number(high)}"
