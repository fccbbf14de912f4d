"""Causes of the differences between the ways of `answer`, each with its share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from writeamp.reports.report import Block, Paragraph, Report, Rows, Section
from writeamp.reports.sections.ways import most_trusted
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
