"""Comparison of two results: settings and numbers before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from writeamp.plots.figures.wa_by_policy import WaDot, wa_by_name
from writeamp.reports.report import Block, Drawing, Paragraph, Report, Rows, Section
from writeamp.reports.values import interval, number, rows, shown, with_bounds, words

_MOST_ROWS = 200


def before_after(report: Report) -> Section | None:
    """Return what was set and found differently."""
    document = report.document
    if not {"settings", "numbers", "equal"} <= document.keys():
        return None
    return Section("difference", "Before and after", tuple(_blocks(document)))


def _blocks(document: Mapping[str, Any]) -> Iterator[Block]:
    settings, found = rows(document, "settings"), rows(document, "numbers")
    if settings:
        yield Rows(
            ["set differently", "before", "after"],
            [[words(one, "key"), shown(one.get("a")), shown(one.get("b"))] for one in settings],
        )
    drawn = [
        WaDot(f"{words(one, 'key')}, {when}", value, *(interval(one, side) or (value, value)))
        for one in found
        if words(one, "key").rpartition(".")[2] == "wa"
        for side, when in (("a", "before"), ("b", "after"))
        if (value := number(one, side)) is not None
    ]
    if drawn:
        yield Drawing(
            wa_by_name(
                drawn[:40], title="Write amplification before and after", interval="interval"
            ),
            "Dots are the values, lines their intervals.",
        )
    if found:
        yield Rows(
            ["found", ">before", ">after", ">change", "verdict"],
            [_line(one) for one in found[:_MOST_ROWS]],
        )
    if len(found) > _MOST_ROWS:
        yield Paragraph(
            f"… and {len(found) - _MOST_ROWS} more, which are inside the page.", "muted"
        )
    equal = number(document, "equal")
    if equal:
        yield Paragraph(f"{equal:.0f} further numbers are equal.", "muted")


def _line(one: Mapping[str, Any]) -> list[str]:
    relative = number(one, "relative")
    return [
        words(one, "key"),
        with_bounds(number(one, "a"), interval(one, "a")),
        with_bounds(number(one, "b"), interval(one, "b")),
        "" if relative is None else f"{relative:+.2%}",
        words(one, "verdict"),
    ]
