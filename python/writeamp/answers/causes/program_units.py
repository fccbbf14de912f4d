"""Program units of several pages, padded where a flush cuts them short: of one page."""

from __future__ import annotations

from writeamp.answers.case import Case
from writeamp.answers.cause import Cause
from writeamp.answers.question import Question


def has_large_units(case: Case) -> bool:
    """Return whether a program writes several pages at once."""
    program = case.times.get("program", {})
    page_bytes = program.get("flash_page_bytes", case.drive.page_bytes)
    pages = program.get("planes", 1) * program.get("pages_per_word_line", 1)
    return bool(pages * page_bytes > case.drive.page_bytes)


def _switch(question: Question, case: Case, kind: str) -> Case | None:
    if not has_large_units(case):
        return None
    return case.with_times(
        program__planes=1,
        program__pages_per_word_line=1,
        program__flash_page_bytes=case.drive.page_bytes,
    )


CAUSE = Cause("program units of several pages, and their padding", ("timed",), _switch, at_way=True)
