"""Check of intervals that are short against the unit of a counter."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.inputs import Counters, ResultDocument, checks_of

_NAME = "interval against granularity"


def _of(given: Counters | ResultDocument) -> Judgements:
    for one in checks_of(given):
        if one.name == _NAME and one.verdict == "doubt":
            yield Mistake(one.evidence)


CHECK = DoctorCheck(
    "coarse-counters",
    "warning",
    "Between the snapshots a counter moved by so few of its units that WA is not known",
    "write more between the snapshots: at least 100 units",
    "docs/real-drives.md",
    {"counters": _of, "result": _of},
)
