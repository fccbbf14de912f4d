"""Causes of the differences between the ways of `answer`, each with its share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from writeamp.reports.parts import Paragraph, Rows, Section
from writeamp.reports.report import Report
from writeamp.reports.values import number, rows, shown, words


def differences(report: Report) -> Section | None:
    """Return why rows differ."""
    found = rows(report.document, "differences")
    if not found:
        return None
    intro = Paragraph(
        "Each difference of WA between two ways, and what it comes from: one thing at a time was "
        "switched, and the change counted."
    )
    table = Rows(["between", ">difference of WA", "cause", ">share"], list(_lines(found)))
    return Section("differences", "Why the ways differ", (intro, table))


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


def _between(one: Mapping[str, Any]) -> str:
    between = one.get("between")
    if isinstance(between, list):
        return " and ".join(map(shown, between))
    return words(one, "between")
