"""Registry of the kinds of sweep points, used by files, the command line and workers."""

from __future__ import annotations

from writeamp.errors import unknown
from writeamp.studies.sweep.kinds.experiments import ExperimentKind
from writeamp.studies.sweep.kinds.kind import PointKind
from writeamp.studies.sweep.kinds.theory import MeanFieldKind, PredictionKind

KINDS: dict[str, PointKind] = {
    kind.name: kind
    for kind in (
        ExperimentKind("simulate"),
        ExperimentKind("compare"),
        ExperimentKind("endurance"),
        PredictionKind(),
        MeanFieldKind(),
    )
}


def find_kind(name: str) -> PointKind:
    """Return the kind of sweep points with this name; an unknown name is a `WriteampError`."""
    if name not in KINDS:
        raise unknown("kind of points", name, KINDS)
    return KINDS[name]
