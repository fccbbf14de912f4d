"""Lives of a drive that is known by candidates, from that of the most probable one.

Wear evens out alike on drives that the same windows may be of, so that what they differ in is how
much flash they have, and how often each host page is written to it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from writeamp.settings.experiment import Experiment
from writeamp.studies.candidates import run_mixture
from writeamp.studies.mixture import CandidateRun, Mixture
from writeamp.studies.simulation import simulate_drive
from writeamp.units.ratios import logical_of


@dataclass(frozen=True)
class Factors:
    """Factors of all candidates over the most probable one: median, low and high of 95%."""

    wa: tuple[float, float, float] = (1.0, 1.0, 1.0)
    years: tuple[float, float, float] = (1.0, 1.0, 1.0)
    candidates: int = 1


def factors(more_op: float, **settings: Any) -> Factors:
    """Return the factors of a drive under a load; all 1 of a profile that is one drive.

    Args:
        more_op: what every candidate has beside its own op.
        settings: drive, load and policy, those of `writeamp.simulate`.
    """
    experiment = Experiment.of("simulate", **settings)
    if experiment.candidates is None:
        return Factors()
    asked = replace(experiment, candidates=experiment.candidates.with_more_op(more_op))
    found = run_mixture(asked, simulate_drive)
    best = found.runs[0]
    # Erases of the drive for each drive write.
    wear = replace(found, runs=tuple(replace(one, wa=_wear(one)) for one in found.runs))
    return Factors(
        wa=tuple(wa / best.wa for wa in _ends(found)),  # type: ignore[arg-type]
        years=tuple(_wear(best) / each for each in _of_life(wear)),  # type: ignore[arg-type]
        candidates=len(found.runs),
    )


def _wear(one: CandidateRun) -> float:
    return logical_of(one.wa, one.candidate.op)


def _ends(found: Mixture) -> tuple[float, float, float]:
    low, high = found.ci
    return found.wa, low, high


def _of_life(wear: Mixture) -> tuple[float, float, float]:
    """Return wear at the median, and at the ends of life: the most wear is the shortest life."""
    middle, low, high = _ends(wear)
    return middle, high, low
