"""Finite number of blocks, of which some are open or held free: many more at the same op."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from writeamp.answers.case import Case
from writeamp.answers.cause import THEORY, Cause
from writeamp.answers.question import Question

# With so many blocks, those that are open or held free are no visible part of the spare ones.
_MANY = 4096
_MOST_PAGES = 1 << 21


def _switch(question: Question, case: Case, kind: str) -> Case | None:
    drive = case.drive
    times = min(ceil(_MANY / drive.geometry.blocks), _MOST_PAGES // drive.physical_pages)
    if times < 2:
        return None
    larger = replace(
        drive,
        blocks_per_plane=drive.blocks_per_plane * times,
        logical_pages=drive.logical_pages * times,
    )
    # A larger drive is steady after so many more writes, where the user says how many there are.
    run = case.plan.run
    longer = replace(
        run,
        writes=run.writes and run.writes * times,
        warmup=run.warmup * times if isinstance(run.warmup, int) else run.warmup,
    )
    return replace(case.with_plan(run=longer), drive=larger, held_pages=case.held_pages * times)


CAUSE = Cause("finite drive: blocks that are open or held free", THEORY, _switch, of_drive=True)
