"""Runs of the drives that a learnt profile may be: each of them alone, and what they mix to."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from writeamp.devices.candidates import Candidate, Candidates
from writeamp.devices.device import device
from writeamp.runners import Progress, local_runner
from writeamp.runs.drive_result import DriveResult
from writeamp.runs.runner import drives_that_fit
from writeamp.settings.experiment import Experiment
from writeamp.settings.precondition import Precondition
from writeamp.settings.recorded import is_recording
from writeamp.settings.settings import ComparisonSettings, SimulationSettings
from writeamp.studies.mixture import CandidateRun, Mixture
from writeamp.studies.over import Found, Run, over, succeeded

# A run of one candidate need not be known better than the candidates are.
_PRECISION = 0.004
# A larger drive is simulated by a smaller one, as any capacity is.
_MOST_PAGES = 2**22


def over_candidates(
    experiment: Experiment, simulate: Run[DriveResult], progress: Progress | None = None
) -> DriveResult | Mixture:
    """Run an experiment; on a learnt profile, mix the results of all candidates.

    Args:
        experiment: what to do.
        simulate: runs an experiment on one drive.
        progress: called with the candidates that are done, and how many there are; of one drive,
            as `simulate` calls it.
    """
    if experiment.candidates is None:
        return simulate(experiment, progress)
    return mixture_of(experiment, experiment.candidates, simulate, progress)


def mixture_of(
    experiment: Experiment,
    candidates: Candidates,
    simulate: Run[DriveResult],
    progress: Progress | None = None,
) -> Mixture:
    """Run the candidates that carry the weight, and return the mixture of their results."""
    variants = [alone(experiment, candidates, one) for one in candidates.carrying]
    runner = local_runner(len(variants), most=most_at_once(variants[0]))
    mix = partial(_mixed, experiment, candidates)
    return over(variants, mix, simulate, progress, runner=runner)


def others_alone(experiment: Experiment) -> list[Experiment]:
    """Return the experiment on each candidate but the most probable, in its own size."""
    candidates = experiment.candidates
    if candidates is None:
        return []
    return [alone(experiment, candidates, one, may_scale=False) for one in candidates.carrying[1:]]


def mixture_from(
    experiment: Experiment,
    load_name: str,
    found: Iterable[tuple[int, float, tuple[float, float], bool]],
) -> Mixture:
    """Return the mixture of what was found of candidates: number, WA, interval, and steadiness."""
    candidates = experiment.candidates
    assert candidates is not None
    runs = tuple(
        CandidateRun(candidates.carrying[at], wa, (high - low) / 2, is_steady)
        for at, wa, (low, high), is_steady in found
    )
    return Mixture(str(experiment.device.profile), load_name, runs, candidates.error)


def _mixed(experiment: Experiment, candidates: Candidates, found: Found[DriveResult]) -> Mixture:
    """Return the mixture of the candidates that can be drives of this size."""
    results = succeeded(found)
    left_out = len(found) - len(results)
    refused = f"{left_out} candidates cannot be drives of this size, or serve this load"
    of_recording = is_recording(experiment.load)
    return Mixture(
        profile=str(experiment.device.profile),
        load_name=results[0][1].plan.load_name,
        runs=tuple(
            CandidateRun(
                candidates.carrying[at],
                one.wa,
                _half_width(one, of_recording=of_recording),
                one.steady,
            )
            for at, one in results
        ),
        error=candidates.error,
        drive_notes=(refused,) if left_out else (),
        elapsed_s=sum(one.elapsed_s for _, one in results),
    )


def _half_width(result: DriveResult, *, of_recording: bool) -> float:
    """Return how far WA of a candidate may be off.

    The requests of a recording are what is asked about, and each candidate serves them all: what is
    open is where its blocks end. Of any other load it is the WA that lasts.
    """
    if of_recording and result.spread is not None:
        return result.spread.wa_spread
    return (result.ci[1] - result.ci[0]) / 2


def alone(
    experiment: Experiment, candidates: Candidates, one: Candidate, *, may_scale: bool = True
) -> Experiment:
    """Return the experiment on one candidate alone, its runs shared among all of them.

    Args:
        experiment: what to do.
        candidates: all of them.
        one: of these.
        may_scale: let a smaller drive stand for a large one.
    """
    sized = experiment.device
    blocks = None
    if sized.size is sized.capacity is sized.logical_blocks is sized.logical_pages is None:
        blocks = candidates.blocks_of(one)
    is_scaled = may_scale and _scales(experiment)
    settings: dict[str, Any] = {"op": one.op, "pages_per_block": one.erase_unit_pages}
    if blocks is not None and candidates.logical_pages > _MOST_PAGES and is_scaled:
        page_bytes = device(experiment.device.base).page_bytes
        settings["capacity"] = candidates.logical_pages * page_bytes
    elif blocks is not None:
        settings["blocks"] = blocks
    run = experiment.run
    if isinstance(run, ComparisonSettings):
        settings["managers"] = one.manager
        settings["replicas"] = math.ceil(run.replicas / len(candidates.carrying))
    else:
        assert isinstance(run, SimulationSettings)
        settings["manager"] = one.manager
        settings["replicas"] = 1
        if run.writes is None:
            settings["precision"] = max(run.precision, _PRECISION)
    settings["victims"] = one.victims or None
    return replace(replace(experiment, candidates=None).with_settings(**settings), candidates=None)


def _scales(experiment: Experiment) -> bool:
    """Return whether a smaller drive may stand for the one that is meant."""
    load = experiment.load
    has_trace = bool(load.traces) or Precondition.of(load.precondition).trace is not None
    return not has_trace and not experiment.is_timed and not experiment.device.changes_times


def most_at_once(experiment: Experiment) -> int:
    """Return how many drives of an experiment with one load fit into memory."""
    from writeamp.runs.inputs import prepare  # noqa: PLC0415

    return drives_that_fit(prepare(experiment).drive)
