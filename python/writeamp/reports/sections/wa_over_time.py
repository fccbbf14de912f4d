"""WA over time: a line over the writes of the run."""

from __future__ import annotations

from writeamp.reports.charts.over_time import over_time
from writeamp.reports.parts import Drawing, Section
from writeamp.reports.report import Report
from writeamp.reports.values import number, numbers, table, words


def wa_over_time(report: Report) -> Section | None:
    """Return the line, with the mean of what was counted."""
    found = table(report.more, "over_time")
    x, wa = numbers(found, "x"), numbers(found, "wa")
    if len(x) < 2 or len(x) != len(wa):
        return None
    mean = number(found, "mean")
    drawn = over_time(
        x,
        wa,
        x_words=words(found, "x_words"),
        mean=mean,
        warmup=number(found, "warmup") or 0,
    )
    caption = "Each point is the mean of an interval"
    caption += "." if mean is None else "; the dashed line is the mean."
    facts = "" if mean is None else f"The mean is {mean:.4g}."
    command = None
    if report.verb == "simulate":
        command = report.with_options("--series", "--json")
    return Section("over-time", "Over time", (Drawing(drawn, caption, facts),), command=command)
