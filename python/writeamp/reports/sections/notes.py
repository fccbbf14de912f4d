"""Notes: what was assumed, left out or rounded."""

from __future__ import annotations

from writeamp.reports.parts import Bullets, Section
from writeamp.reports.report import Report
from writeamp.reports.values import texts


def notes(report: Report) -> Section | None:
    """Return the notes of the document, those that are no warnings."""
    warnings = texts(report.document, "warnings")
    found = [one for one in texts(report.document, "notes") if one not in warnings]
    return Section("notes", "Notes", (Bullets(found),)) if found else None
