"""Results of methods, policies or models in a table, and why methods differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from writeamp.plots.figures.wa_by_policy import WaDot, wa_by_name
from writeamp.reports.headlines.runs import most_trusted
from writeamp.reports.report import Block, Drawing, Paragraph, Report, Rows, Section
from writeamp.reports.values import interval, number, rows, shown, with_bounds, words
from writeamp.results.numbers import interval_name

_Row = Mapping[str, Any]
_TITLES = {"way": "Answers by source", "manager": "Results by policy", "model": "Results by model"}
# Optional columns after name and WA: key in the document, and heading.
_MORE = (
    ("theory_wa", ">WA by theory of uniform writes"),
    ("pe_fairness", ">PE fairness"),
    ("seconds", ">run time, s"),
    ("steady", "steady"),
    ("assumes", "assumes"),
    ("reason", "remark"),
)


def ways(report: Report) -> Section | None:
    """Return the table of rows, and a drawing of their WA."""
    answers = rows(report.document, "rows") or rows(report.document, "models")
    key = next((name for name in _TITLES if answers and all(name in row for row in answers)), None)
    if key is None or not any("wa" in row for row in answers):
        return None
    has_loads = len({words(row, "workload") for row in answers}) > 1
    names = [_name(row, key, has_loads=has_loads) for row in answers]
    more = [
        column for column in _MORE if any(row.get(column[0]) not in (None, "") for row in answers)
    ]
    of_profile = any("wa_ci90" in source for source in (report.document, *answers))
    of_counters = any(
        words(row, "way").startswith("real") and interval(row, "wa") for row in answers
    )
    is_mixed = of_counters or (of_profile and key == "way")
    named = interval_name(of_profile=of_profile, is_mixed=is_mixed)
    table = Rows(
        [key, f">WA [{named}]", *(heading for _, heading in more)],
        [
            [name, with_bounds(number(row, "wa"), interval(row, "wa"))]
            + [_cell(row, column) for column, _ in more]
            for name, row in zip(names, answers, strict=True)
        ],
    )
    blocks: list[Block] = [table]
    drawn = [
        WaDot(name, wa, *(interval(row, "wa") or (wa, wa)), is_sound=not _is_outside(row))
        for name, row in zip(names, answers, strict=True)
        if (wa := number(row, "wa")) is not None
    ]
    if len(drawn) > 1:
        caption = f"Dots are values, lines are their {named}"
        faint = (
            "; grey means outside the model's assumptions" if any(map(_is_outside, answers)) else ""
        )
        figure = wa_by_name(drawn, title="Write amplification of each row", interval=named)
        blocks.insert(0, Drawing(figure, f"{caption}{faint}."))
    return Section("rows", _TITLES[key], tuple(blocks), command=report.with_options("--json"))


def _cell(row: _Row, key: str) -> str:
    seconds = number(row, "seconds") if key == "seconds" else None
    if seconds is not None:
        return f"{seconds:.1f}" if seconds >= 0.1 else "0"
    return "" if row.get(key) in (None, "") else shown(row[key])


def _name(row: _Row, key: str, *, has_loads: bool) -> str:
    if key != "manager":
        return words(row, key)
    load = f"{words(row, 'workload')}: " if has_loads else ""
    return f"{load}{words(row, 'manager')}, {words(row, 'victims')}"


def _is_outside(row: _Row) -> bool:
    is_theory = words(row, "way").startswith(("formula", "mean-field"))
    return row.get("in_domain") is False or (is_theory and bool(words(row, "reason")))


def differences(report: Report) -> Section | None:
    """Return the section on why the results of methods differ."""
    pairs = rows(report.document, "differences")
    if not pairs:
        return None
    intro = Paragraph(
        "Causes of each difference of WA between two rows, measured by switching one cause at a "
        "time."
    )
    agreed = [_between(pair) for pair in pairs if pair.get("agree") is True]
    differ = [pair for pair in pairs if pair.get("agree") is not True]
    # Pairs with the most trusted method come first; other pairs are folded.
    trusted = words(most_trusted(rows(report.document, "rows")) or {}, "way")
    first = [pair for pair in differ if trusted and trusted in _pair(pair)] or differ
    others = [pair for pair in differ if pair not in first]
    columns = ["rows compared", ">difference of WA", "cause", ">part of the difference"]
    blocks: list[Block] = []
    if first:
        blocks += [intro, Rows(columns, list(_lines(first)))]
    if others:
        more = f"{len(others)} other pairs that differ"
        blocks.append(Rows(columns, list(_lines(others)), folded=more))
    if agreed:
        blocks.append(Paragraph(f"Equal within noise: {'; '.join(agreed)}.", "good"))
    return Section("differences", "Why rows differ", tuple(blocks))


def _lines(pairs: list[Mapping[str, Any]]) -> Iterator[list[str]]:
    for pair in pairs:
        difference = number(pair, "wa_difference")
        parts = [(words(cause, "cause"), number(cause, "share")) for cause in rows(pair, "causes")]
        parts.append(("unexplained", number(pair, "unexplained")))
        head = [_between(pair), "–" if difference is None else f"{difference:+.3f}"]
        for cause, share in parts:
            if share is not None and (abs(share) >= 0.0005 or len(parts) == 1):
                yield [*head, cause, f"{share:+.3f}"]
                head = ["", ""]
        if head[0]:
            yield [*head, "no cause above noise", ""]


def _pair(difference: Mapping[str, Any]) -> list[str]:
    between = difference.get("between")
    return [shown(name) for name in between] if isinstance(between, list) else []


def _between(difference: Mapping[str, Any]) -> str:
    return " and ".join(_pair(difference)) or words(difference, "between")
