"""Sections of a report; each function returns None if the document has no data for it."""

from __future__ import annotations

from collections.abc import Callable

from writeamp.reports.report import Report, Section
from writeamp.reports.sections import (
    advice,
    before_after,
    by_cause,
    details,
    findings,
    phases,
    run_drawings,
    summary,
    tables,
    ways,
    what_if,
)

# Functions of the sections, in the order of the page.
SECTIONS: tuple[Callable[[Report], Section | None], ...] = (
    summary.summary,
    findings.findings,
    phases.phases,
    ways.ways,
    tables.tables,
    before_after.before_after,
    advice.advice,
    by_cause.by_cause,
    run_drawings.latencies,
    run_drawings.over_time,
    run_drawings.blocks,
    what_if.what_if,
    details.notes,
    details.details,
)


def sections_of(report: Report) -> list[Section]:
    """Return the sections of a report that are not empty."""
    return [section for make_section in SECTIONS if (section := make_section(report)) is not None]
