"""TRIM, beyond the space that it frees: the same writes without it, and as much spare space."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from writeamp.answers.case import Case
from writeamp.answers.cause import THEORY, Cause
from writeamp.answers.question import Question
from writeamp.answers.window import as_trace, page_trace
from writeamp.devices.device import Device
from writeamp.traces.pages import PageTrace
from writeamp.traces.touching import OPS


def _switch(question: Question, case: Case, kind: str) -> Case | None:
    window = question.window
    if not (window.requests.op == OPS["trim"]).any():
        return None
    used = window.requests.logical_pages
    drive = _with_room(case.drive, case.held_pages, used)
    earlier = window.plan.earlier and _writes(window.plan.earlier)
    plan = as_trace(question.plan, _writes(window.requests), earlier)
    return Case(plan, drive, drive.logical_pages, is_pass=question.is_trace)


def _with_room(drive: Device, held_pages: int, used_pages: int) -> Device:
    """Return a drive that all used pages fit, with as much spare space for each that holds data."""
    share = drive.physical_pages / held_pages
    blocks = ceil(used_pages * share / (drive.planes * drive.pages_per_block))
    larger = replace(drive, blocks_per_plane=blocks, logical_pages=used_pages)
    return replace(larger, logical_pages=max(used_pages, round(larger.physical_pages / share)))


def _writes(requests: PageTrace) -> PageTrace:
    is_write = requests.op == OPS["write"]
    return page_trace(
        requests.op[is_write],
        requests.start[is_write],
        requests.count[is_write],
        requests.logical_pages,
        requests.page_bytes,
    )


CAUSE = Cause("TRIM, beyond the space that it frees", THEORY, _switch)
