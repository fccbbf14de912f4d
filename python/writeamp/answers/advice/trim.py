"""TRIM: a tenth of the drive that is never filled, and told so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from writeamp.answers.advice.more_op import with_op
from writeamp.answers.change import Change, Kind
from writeamp.answers.question import Question
from writeamp.models._effective_op import effective_op

_FREE = 0.1


def _changes(question: Question) -> Iterator[Change]:
    case = question.windowed
    # The same data fill nine tenths of such a drive; what is free is spare space.
    roomier = with_op(case.drive, float(effective_op(case.drive.op, 1 - _FREE, 1 - _FREE)))
    yield Change(
        f"TRIM: {_FREE:.0%} of the drive kept free, trimmed and never filled",
        f"{_FREE:.0%} of the capacity, on a drive that much larger",
        replace(case, drive=roomier),
    )


KIND = Kind("trim", _changes)
