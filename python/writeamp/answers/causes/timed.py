"""Causes of difference between the timed run, the simulation, and the window of both."""

from __future__ import annotations

from dataclasses import replace

from writeamp.answers.case import Case
from writeamp.answers.cause import WINDOWED, Cause
from writeamp.answers.question import Question
from writeamp.devices.times import canonical, tables_of

_TIMED = ("timed",)


def _without_slc(question: Question, case: Case, kind: str) -> Case | None:
    """Take away the SLC cache, which takes writes before the other flash does."""
    return _without_table(case, "slc")


def _without_table(case: Case, name: str) -> Case | None:
    """Return the case without one table of times, if the run programmed pages for its cause."""
    if not case.programmed[name]:
        return None
    tables = tables_of(case.drive.times_json)
    del tables[name]
    return replace(case, drive=replace(case.drive, times_json=canonical(tables, name)))


def _has_large_units(case: Case) -> bool:
    """Return whether a program writes several pages at once."""
    program = case.times.get("program", {})
    page_bytes = program.get("flash_page_bytes", case.drive.page_bytes)
    pages = program.get("planes", 1) * program.get("pages_per_word_line", 1)
    return bool(pages * page_bytes > case.drive.page_bytes)


def _units_of_a_page(question: Question, case: Case, kind: str) -> Case | None:
    """Program single pages, instead of units that are padded where a flush cuts them short."""
    if not _has_large_units(case):
        return None
    return case.with_times(
        program__planes=1,
        program__pages_per_word_line=1,
        program__flash_page_bytes=case.drive.page_bytes,
    )


def _has_cache(case: Case) -> bool:
    """Return whether writes are answered from memory."""
    return bool(case.times.get("write_cache", {}).get("bytes", 0))


def _without_write_cache(question: Question, case: Case, kind: str) -> Case | None:
    """Take away the write cache, in which writes to one page merge."""
    # Without a cache to gather them, every write would pad a unit of several pages.
    if _has_large_units(case) or not _has_cache(case):
        return None
    return case.with_times(write_cache__bytes=0)


def _writes_table(case: Case) -> bool:
    """Return whether the mapping table is on the flash."""
    return bool(case.times.get("map_cache", {}).get("bytes", 0))


def _table_in_memory(question: Question, case: Case, kind: str) -> Case | None:
    """Keep all of the mapping table in memory."""
    return case.with_times(map_cache__bytes=0) if _writes_table(case) else None


def _collects_early(case: Case) -> bool:
    """Return whether idle dies collect."""
    return bool(case.times.get("collection", {}).get("background", False))


def _collected_when_needed(question: Question, case: Case, kind: str) -> Case | None:
    """Collect only when a block is needed, not earlier in the background."""
    return case.with_times(collection__background=False) if _collects_early(case) else None


def _without_refresh(question: Question, case: Case, kind: str) -> Case | None:
    """Refresh no data, though it was read often or is old."""
    return _without_table(case, "refresh")


def _untimed(question: Question, case: Case, kind: str) -> Case | None:
    """Run without time, if nothing else of time is left than requests under way together."""
    # What was not switched off by a cause of its own must not be explained by this one.
    if _has_cache(case) or _writes_table(case) or _collects_early(case):
        return None
    return replace(case, is_timed=False)


def _part_of_load(question: Question, case: Case, kind: str) -> Case | None:
    """Take the part of the load that slow ways run, from where it begins."""
    return None if question.window.is_whole else question.windowed


CAUSES: tuple[Cause, ...] = (
    Cause("SLC cache", _TIMED, _without_slc, at_way=True),
    Cause(
        "program units of several pages, and their padding",
        _TIMED,
        _units_of_a_page,
        at_way=True,
    ),
    Cause("write cache, in which writes merge", _TIMED, _without_write_cache, at_way=True),
    Cause("mapping-table writes", _TIMED, _table_in_memory, at_way=True),
    Cause(
        "collection in the background, before it is needed",
        _TIMED,
        _collected_when_needed,
        at_way=True,
    ),
    Cause("refresh", _TIMED, _without_refresh, at_way=True),
    Cause(
        "time: requests under way together, and times of the flash",
        _TIMED,
        _untimed,
        at_way=True,
    ),
    Cause("a part of the load: few drive writes of it, or one pass", WINDOWED, _part_of_load),
)
