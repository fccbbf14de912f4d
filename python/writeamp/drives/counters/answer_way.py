"""The WA that `writeamp answer` shows from the counters of a real drive."""

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

_ASSUMES = "counters of the drive, in bytes: a partially written page counts with its written bytes"


def _rows(question: Question, findings: Findings, progress: Progress) -> Iterator[WayRow]:
    paths = question.settings.counters
    if paths is None:
        return
    began = time.perf_counter()
    answer = _answer([Path(path) for path in paths], question.settings.model)
    seconds = time.perf_counter() - began
    name = "real drive, since new" if len(paths) == 1 else "real drive, between snapshots"
    if answer.wa is None:
        within = bounds_in_words(answer.wa_low, answer.wa_high)
        is_known = within and within not in answer.reason
        reason = f"WA is {within}: {answer.reason}" if is_known else answer.reason
        yield WayRow.without(name, "real", _ASSUMES, reason, seconds)
        return
    warned = "" if len(paths) > 1 else "over the whole life of the drive, under all its loads"
    assumes = f"{_ASSUMES}; WA by {answer.wa_definition}"
    yield WayRow(
        name, "real", answer.wa, seconds, assumes, warned, bounds=answer.bounds, wa_bytes=answer.wa
    )


def _answer(paths: list[Path], model: str | None) -> DriveCounters:
    snapshots = [read_snapshot(path, model) for path in paths]
    first, last = snapshots[0], snapshots[-1]
    return life_answer(first) if len(snapshots) == 1 else interval_answer(first, last)


WAY = Way("real", _rows, _ASSUMES, needs_load=False)
