"""Check of intervals that are too short for the unit of a counter."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.inputs import Counters, ResultDocument, checks_of

_NAME = "interval against granularity"


def _of(source: Counters | ResultDocument) -> Judgements:
    for check in checks_of(source):
        if check.name == _NAME and check.verdict == "doubt":
            yield Mistake(check.evidence)


CHECK = DoctorCheck(
    "coarse-counters",
    "warning",
    "Between the snapshots, a counter rose by too few units for a precise WA",
    "write more between the snapshots: at least 100 units",
    "docs/real-drives.md",
    {"counters": _of, "result": _of},
)
