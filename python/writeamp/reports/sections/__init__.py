"""Sections of a report; each function returns None if the document has no data for it."""

from __future__ import annotations

from collections.abc import Callable

from writeamp.plots.spec import FigureSpec
from writeamp.reports.report import Drawing, Report, Section
from writeamp.reports.sections import (
    advice,
    before_after,
    by_cause,
    details,
    drives,
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
    drives.wear,
    drives.history,
    drives.fleet,
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
    sections = [
        section for make_section in SECTIONS if (section := make_section(report)) is not None
    ]
    if report.picture is None or any(map(_draws_result, sections)):
        return sections
    # The picture of the result comes before its tables.
    at = next((at for at, section in enumerate(sections) if section.title), len(sections))
    return [*sections[:at], _picture(report.picture), *sections[at:]]


def _draws_result(section: Section) -> bool:
    """Return whether a section draws the result, and not only its causes."""
    return section.name != "causes" and any(isinstance(block, Drawing) for block in section.blocks)


def _picture(figure: FigureSpec) -> Section:
    """Return the section with the picture that `--plot` draws."""
    title, _, of = figure.title.partition(": ")
    caption = " · ".join(filter(None, (of, figure.subtitle)))
    return Section("picture", title or "Picture", (Drawing(figure, caption),))
