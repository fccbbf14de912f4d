"""Order of the writes: pages drawn at random, each as often as the load writes it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from writeamp.answers.case import Case
from writeamp.answers.cause import THEORY, Cause
from writeamp.answers.question import Question
from writeamp.answers.window import as_trace, page_writes
from writeamp.registry.specs import Spec
from writeamp.traces.pages import PageTrace
from writeamp.traces.touching import OPS

# Workloads whose pages are drawn independently as they are.
_INDEPENDENT = ("uniform", "zipf", "hot-cold")
_MOST_KNOWN = 1 << 23
_DRIVE_WRITES, _AGEING_DRIVE_WRITES, _MOST_PAGES = 6, 16, 1 << 22


def _switch(question: Question, case: Case, kind: str) -> Case | None:
    load = question.plan.load
    if isinstance(load, Spec) and load.name in _INDEPENDENT:
        return None
    random = np.random.default_rng(question.plan.seed)
    requests = question.window.requests
    known = _written(requests, random)
    earlier, later = (
        page_writes(
            random.choice(known, min(times * case.drive.logical_pages, _MOST_PAGES)),
            requests.logical_pages,
            requests.page_bytes,
        )
        for times in (_AGEING_DRIVE_WRITES, _DRIVE_WRITES)
    )
    return replace(case, plan=as_trace(question.plan, later, earlier), is_pass=False)


def _written(requests: PageTrace, random: np.random.Generator) -> npt.NDArray[np.uint32]:
    """Return the pages that are written, each as often as it is, or of many a sample."""
    is_write = requests.op == OPS["write"]
    start, count = requests.start[is_write], requests.count[is_write]
    if requests.host_pages > _MOST_KNOWN:
        few = random.random(start.size) < _MOST_KNOWN / requests.host_pages
        start, count = start[few], count[few]
    ends = np.cumsum(count, dtype=np.int64)
    within = np.arange(ends[-1]) - np.repeat(ends - count, count)
    return np.asarray(np.repeat(start, count) + within, np.uint32)


CAUSE = Cause("order of the writes (runs, phases, loops)", THEORY, _switch)
