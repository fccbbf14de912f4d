"""Drawing of WA of several sources, policies or models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from writeamp.plots.figures.wa_by_policy import WaDot, wa_by_name
from writeamp.reports.report import Drawing, Report, Section
from writeamp.reports.values import interval, number, numbers, rows, words
from writeamp.results.numbers import interval_name

_Row = Mapping[str, Any]
_Ends = tuple[float, float] | None
_TITLES = {"way": "WA by source", "manager": "WA by policy", "model": "WA by model"}


def ways(report: Report) -> Section | None:
    """Return a drawing of the WA of at least two rows."""
    if "drives" in report.document:  # the models of a fleet are drawn in `drives.py`
        return None
    answers = rows(report.document, "rows") or rows(report.document, "models")
    key = next((name for name in _TITLES if answers and all(name in row for row in answers)), None)
    if key is None:
        return None
    has_loads = len({words(row, "workload") for row in answers}) > 1
    drawn = [
        WaDot(
            _name(row, key, has_loads=has_loads),
            wa,
            *(_ends(row) or (wa, wa)),
            is_sound=not _is_doubtful(row),
        )
        for row in answers
        if (wa := number(row, "wa")) is not None
    ]
    if len(drawn) < 2:
        return None
    name = _name_of_intervals(report.document, answers)
    lines = f", lines are their {name}" if name else ""
    is_any = any(map(_is_doubtful, answers))
    faint = "; grey means outside the model's assumptions, or not steady" if is_any else ""
    figure = wa_by_name(drawn, title="Write amplification of each row", interval=name)
    drawing = Drawing(figure, f"Dots are values{lines}{faint}.")
    return Section("rows", _TITLES[key], (drawing,))


def _ends(row: _Row) -> _Ends:
    """Return the interval of a row, or the bounds that counters allow."""
    bounds = numbers(row, "wa_bounds")
    return (bounds[0], bounds[1]) if len(bounds) == 2 else interval(row, "wa")


def _name_of_intervals(document: _Row, answers: Sequence[_Row]) -> str:
    """Return the names of the rows' intervals; pages of older versions do not have them."""
    names = {words(row, "interval") for row in answers} - {""}
    if names:
        return " or ".join(sorted(names))
    of_profile = any("wa_ci90" in source for source in (document, *answers))
    is_mixed = any(words(row, "way").startswith("real") for row in answers)
    name = interval_name(of_profile=of_profile, is_mixed=is_mixed)
    return name if any(map(_ends, answers)) else ""


def _name(row: _Row, key: str, *, has_loads: bool) -> str:
    if key != "manager":
        return words(row, key)
    load = f"{words(row, 'workload')}: " if has_loads else ""
    return f"{load}{words(row, 'manager')}, {words(row, 'victims')}"


def _is_doubtful(row: _Row) -> bool:
    is_theory = words(row, "way").startswith(("formula", "mean-field"))
    is_outside = row.get("in_domain") is False or (is_theory and bool(words(row, "reason")))
    return is_outside or row.get("steady") is False
