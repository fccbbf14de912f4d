"""Drawing of two compared results: WA before and after."""

from __future__ import annotations

from writeamp.plots.figures.wa_by_policy import WaDot, wa_by_name
from writeamp.reports.report import Drawing, Report, Section
from writeamp.reports.values import interval, number, rows, words

_MOST_DOTS = 40


def before_after(report: Report) -> Section | None:
    """Return a drawing of each WA that differs, or None for other documents."""
    document = report.document
    if not {"settings", "numbers", "equal"} <= document.keys():
        return None
    drawn = [
        WaDot(
            f"{words(metric, 'name') or words(metric, 'key')}, {when}",
            value,
            *(interval(metric, side) or (value, value)),
        )
        for metric in rows(document, "numbers")
        if words(metric, "key").rpartition(".")[2] == "wa"
        for side, when in (("a", "A"), ("b", "B"))
        if (value := number(metric, side)) is not None
    ]
    if not drawn:
        return None
    name = "interval" if any(dot.high > dot.low for dot in drawn) else ""
    figure = wa_by_name(drawn[:_MOST_DOTS], title="Write amplification of A and B", interval=name)
    lines = ", lines are their intervals" if name else ""
    drawing = Drawing(figure, f"Dots are values{lines}.")
    return Section("difference", "WA of A and B", (drawing,))
