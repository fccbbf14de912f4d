"""Rows that each have a WA (ways to answer, policies, models), and why the ways differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from writeamp.plots.figures.wa_by_policy import WaDot, wa_by_name
from writeamp.reports.report import Block, Drawing, Paragraph, Report, Rows, Section
from writeamp.reports.values import interval, number, rows, shown, with_bounds, words
from writeamp.results.numbers import interval_name

_Row = Mapping[str, Any]
# Ways of `answer`, the most trusted one first, and what each is in a sentence.
_WAYS = {
    "real": "the real drive, by its counters,",
    "simulate": "simulation",
    "virtual": "the virtual drive",
    "timed": "simulation in virtual time",
    "mean-field": "the mean field",
    "formula": "the formula",
}
_TITLES = {"way": "The answer, each way", "manager": "Each policy", "model": "Each model"}
# Columns after name and WA, those that some row has: the key and the heading.
_MORE = (
    ("theory_wa", ">theory of uniform writes"),
    ("pe_fairness", ">PE fairness"),
    ("seconds", ">seconds"),
    ("steady", "steady"),
    ("assumes", "assumes"),
    ("reason", "remark"),
)


def ways(report: Report) -> Section | None:
    """Return the table, and a drawing of its values."""
    found = rows(report.document, "rows") or rows(report.document, "models")
    key = next((one for one in _TITLES if found and all(one in row for row in found)), None)
    if key is None or not any("wa" in row for row in found):
        return None
    has_loads = len({words(row, "workload") for row in found}) > 1
    names = [_name(row, key, has_loads=has_loads) for row in found]
    more = [one for one in _MORE if any(row.get(one[0]) not in (None, "") for row in found)]
    of_profile = any("wa_ci90" in one for one in (report.document, *found))
    of_counters = any(words(row, "way").startswith("real") and interval(row, "wa") for row in found)
    is_mixed = of_counters or (of_profile and key == "way")
    named = interval_name(of_profile=of_profile, is_mixed=is_mixed)
    table = Rows(
        [key, f">WA [{named}]", *(heading for _, heading in more)],
        [
            [name, with_bounds(number(row, "wa"), interval(row, "wa"))]
            + [_cell(row, one) for one, _ in more]
            for name, row in zip(names, found, strict=True)
        ],
    )
    blocks: list[Block] = [table]
    drawn = [
        WaDot(name, wa, *(interval(row, "wa") or (wa, wa)), is_sound=not _is_outside(row))
        for name, row in zip(names, found, strict=True)
        if (wa := number(row, "wa")) is not None
    ]
    if len(drawn) > 1:
        caption = f"Dots are the values, lines their {named}"
        faint = (
            "; grey is outside of what the model assumes" if any(map(_is_outside, found)) else ""
        )
        figure = wa_by_name(drawn, title="Write amplification of each row", interval=named)
        blocks.insert(0, Drawing(figure, f"{caption}{faint}."))
    return Section("rows", _TITLES[key], tuple(blocks), command=report.with_options("--json"))


def most_trusted(found: Sequence[_Row]) -> _Row | None:
    """Return the row of the way that is trusted most; None if no row has an answer."""
    for way in _WAYS:
        for row in found:
            if words(row, "way").startswith(way) and number(row, "wa") is not None:
                return row
    return next((row for row in found if number(row, "wa") is not None), None)


def in_words(way: str) -> str:
    """Return a way as it stands in a sentence."""
    return next((said for begins, said in _WAYS.items() if way.startswith(begins)), way)


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
    """Return why rows differ."""
    found = rows(report.document, "differences")
    if not found:
        return None
    intro = Paragraph(
        "Each difference of WA between two ways, and what it comes from: one thing at a time was "
        "switched, and the change counted."
    )
    agreed = [_between(one) for one in found if one.get("agree") is True]
    differ = [one for one in found if one.get("agree") is not True]
    # Of the pairs that differ, those with what is trusted most say it all.
    trusted = words(most_trusted(rows(report.document, "rows")) or {}, "way")
    first = [one for one in differ if trusted and trusted in _pair(one)] or differ
    others = [one for one in differ if one not in first]
    columns = ["between", ">difference of WA", "cause", ">share"]
    blocks: list[Block] = []
    if first:
        blocks += [intro, Rows(columns, list(_lines(first)))]
    if others:
        more = f"{len(others)} other pairs that differ"
        blocks.append(Rows(columns, list(_lines(others)), folded=more))
    if agreed:
        blocks.append(Paragraph(f"Within noise of each other: {'; '.join(agreed)}.", "good"))
    return Section("differences", "Why the ways differ", tuple(blocks))


def _lines(found: list[Mapping[str, Any]]) -> Iterator[list[str]]:
    for one in found:
        whole = number(one, "wa_difference")
        parts = [(words(cause, "cause"), number(cause, "share")) for cause in rows(one, "causes")]
        parts.append(("unexplained", number(one, "unexplained")))
        head = [_between(one), "–" if whole is None else f"{whole:+.3f}"]
        for cause, share in parts:
            if share is not None and (abs(share) >= 0.0005 or len(parts) == 1):
                yield [*head, cause, f"{share:+.3f}"]
                head = ["", ""]
        if head[0]:
            yield [*head, "no cause above the noise", ""]


def _pair(one: Mapping[str, Any]) -> list[str]:
    between = one.get("between")
    return [shown(each) for each in between] if isinstance(between, list) else []


def _between(one: Mapping[str, Any]) -> str:
    return " and ".join(_pair(one)) or words(one, "between")
