"""Skew: uniform random writes to the pages that the load writes."""

from __future__ import annotations

from dataclasses import replace

from writeamp._engine import Load as EngineLoad
from writeamp.answers.case import Case
from writeamp.answers.cause import THEORY, Cause
from writeamp.answers.question import Question
from writeamp.answers.window import as_trace, drawn
from writeamp.registry.specs import Spec
from writeamp.settings.settings import LoadSettings

UNIFORM = "uniform"
# Of a smaller share of the pages that are not written, nobody would speak of cold data.
_ALL = 0.995
_DRIVE_WRITES, _AGEING_DRIVE_WRITES, _MOST_PAGES = 6, 16, 1 << 22


def _switch(question: Question, case: Case, kind: str) -> Case | None:
    load = case.plan.load
    if isinstance(load, Spec):
        if load == Spec.of("workloads", UNIFORM):
            return None
        return uniform_on(case)
    written = question.written_pages
    if written >= _ALL * case.held_pages:
        return uniform_on(case)
    engine = EngineLoad.spec(UNIFORM, written, case.drive.page_bytes)
    later, earlier = (
        drawn(
            engine,
            seed=question.plan.seed + times,
            pages=min(times * case.drive.logical_pages, _MOST_PAGES),
            used=written,
            page_bytes=case.drive.page_bytes,
        )
        for times in (_DRIVE_WRITES, _AGEING_DRIVE_WRITES)
    )
    return replace(case, plan=as_trace(question.plan, later, earlier), is_pass=False)


def uniform_on(case: Case) -> Case:
    """Return the case of uniform writes to all pages that hold data, until their WA is known."""
    plan = case.plan
    load = Spec.of("workloads", UNIFORM)
    host = LoadSettings(
        workload=load,
        utilization=case.held_pages / case.drive.logical_pages,
    )
    run = replace(plan.run, writes=None, warmup="auto", replicas=1, precision=0.001)
    uniform = replace(
        plan, load=load, load_name=UNIFORM, host=host, run=run, earlier=None, before=None
    )
    return replace(case, plan=uniform, is_pass=False)


CAUSE = Cause("skew: some pages are written more often than others", THEORY, _switch)
