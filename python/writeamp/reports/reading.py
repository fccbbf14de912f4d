"""Function `report`: read back a page of `--report`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from writeamp.files.output import AnyPath
from writeamp.reports.embedding import report_in
from writeamp.reports.markdown import markdown
from writeamp.reports.report import Report
from writeamp.reports.sections import sections_of


@dataclass(frozen=True)
class ReportPage(Report):
    """Report that was read back from a page."""

    def markdown(self) -> str:
        """Return the report as Markdown, with tables of numbers instead of drawings."""
        return markdown(self, sections_of(self))


def report(page: AnyPath) -> ReportPage:
    """Read back the result in a page of `--report`, without running its scripts.

    Returns:
        `ReportPage`: `verb`, `command`, `version`, `document` (the result as printed by `--json`),
        and `markdown()`.

    Raises:
        WriteampError: the file cannot be read, or was not written by `--report`.

    >>> import writeamp as wa
    >>> wa.report("answer.html").document["wa"]  # doctest: +SKIP
    2.7
    """
    return ReportPage(**vars(report_in(Path(page))))
