"""Counters of a real drive, over its life or between two snapshots."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from writeamp.answers.question import Question
from writeamp.answers.way import Findings, Way, WayRow
from writeamp.drives.counters.answer import interval_answer, life_answer
from writeamp.drives.counters.reading import read_snapshot
from writeamp.drives.counters.result import DriveCounters
from writeamp.results.numbers import bounds_in_words
from writeamp.runners import Progress

_ASSUMES = "counters of the drive, in bytes: a page written in part counts with its bytes"


def _rows(question: Question, findings: Findings, progress: Progress) -> Iterator[WayRow]:
    given = question.settings.counters
    if given is None:
        return
    began = time.perf_counter()
    found = _answer([Path(one) for one in given], question.settings.model)
    seconds = time.perf_counter() - began
    way = "real drive, since new" if len(given) == 1 else "real drive, between snapshots"
    if found.wa is None:
        within = bounds_in_words(found.wa_low, found.wa_high)
        is_known = within and within not in found.reason
        reason = f"WA is {within}: {found.reason}" if is_known else found.reason
        yield WayRow.without(way, "real", _ASSUMES, reason, seconds)
        return
    warned = "" if len(given) > 1 else "over all its life, whatever it was written"
    assumes = f"{_ASSUMES}; {found.wa_definition}"
    yield WayRow(way, "real", found.wa, seconds, assumes, warned, bounds=found.bounds)


def _answer(paths: list[Path], model: str | None) -> DriveCounters:
    snapshots = [read_snapshot(path, model) for path in paths]
    first, last = snapshots[0], snapshots[-1]
    return life_answer(first) if len(snapshots) == 1 else interval_answer(first, last)


WAY = Way("real", _rows, _ASSUMES)
