"""Comparison of two results: settings and numbers before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from writeamp.plots.figures.wa_by_policy import WaDot, wa_by_name
from writeamp.reports.report import Block, Drawing, Paragraph, Report, Rows, Section
from writeamp.reports.values import interval, number, rows, shown, with_bounds, words

_MOST_ROWS = 200


def before_after(report: Report) -> Section | None:
    """Return the settings and metrics that differ."""
    document = report.document
    if not {"settings", "numbers", "equal"} <= document.keys():
        return None
    return Section("difference", "Before and after", tuple(_blocks(document)))


def _blocks(document: Mapping[str, Any]) -> Iterator[Block]:
    settings, metrics = rows(document, "settings"), rows(document, "numbers")
    if settings:
        yield Rows(
            ["settings that differ", "before", "after"],
            [
                [words(setting, "key"), shown(setting.get("a")), shown(setting.get("b"))]
                for setting in settings
            ],
        )
    drawn = [
        WaDot(f"{words(metric, 'key')}, {when}", value, *(interval(metric, side) or (value, value)))
        for metric in metrics
        if words(metric, "key").rpartition(".")[2] == "wa"
        for side, when in (("a", "before"), ("b", "after"))
        if (value := number(metric, side)) is not None
    ]
    if drawn:
        yield Drawing(
            wa_by_name(
                drawn[:40], title="Write amplification before and after", interval="interval"
            ),
            "Dots are values, lines are their intervals.",
        )
    if metrics:
        yield Rows(
            ["metrics that differ", ">before", ">after", ">change", "verdict"],
            [_line(metric) for metric in metrics[:_MOST_ROWS]],
        )
    if len(metrics) > _MOST_ROWS:
        yield Paragraph(
            f"… and {len(metrics) - _MOST_ROWS} more metrics, which `writeamp report FILE --json` "
            "prints.",
            "muted",
        )
    equal = number(document, "equal")
    if equal:
        yield Paragraph(f"{equal:.0f} other metrics are equal.", "muted")


def _line(metric: Mapping[str, Any]) -> list[str]:
    relative = number(metric, "relative")
    return [
        words(metric, "key"),
        with_bounds(number(metric, "a"), interval(metric, "a")),
        with_bounds(number(metric, "b"), interval(metric, "b")),
        "" if relative is None else f"{relative:+.2%}",
        words(metric, "verdict"),
    ]
