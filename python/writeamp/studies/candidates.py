"""Runs on the probable drives that a learnt profile describes, and the mixture of results."""

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
from writeamp.studies.over import Outcomes, Run, over, succeeded

# WA differs between candidates by more than this share of WA, so a higher precision of one run is
# useless.
_PRECISION = 0.004
# Drives with more pages than this are simulated by a smaller drive, as for a requested capacity.
_MOST_PAGES = 2**22


def over_candidates(
    experiment: Experiment, simulate: Run[DriveResult], progress: Progress | None = None
) -> DriveResult | Mixture:
    """Run an experiment; on a learnt profile, mix the results of all probable candidates.

    Args:
        experiment: experiment to run.
        simulate: runs an experiment on one drive.
        progress: called with the number of candidates done and the total; on a single drive, as
            `simulate` calls it.
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
    """Run the candidates that together have 95% of the probability, and mix their results."""
    variants = [alone(experiment, candidates, candidate) for candidate in candidates.carrying]
    runner = local_runner(len(variants), most=most_at_once(variants[0]))
    mix = partial(_mixed, experiment, candidates)
    return over(variants, mix, simulate, progress, runner=runner)


def others_alone(experiment: Experiment) -> list[Experiment]:
    """Return the experiment on each probable candidate except the most probable, at full size."""
    candidates = experiment.candidates
    if candidates is None:
        return []
    return [
        alone(experiment, candidates, candidate, may_scale=False)
        for candidate in candidates.carrying[1:]
    ]


def mixture_from(
    experiment: Experiment,
    load_name: str,
    results: Iterable[tuple[int, float, tuple[float, float], bool]],
) -> Mixture:
    """Return the mixture of results, each a candidate's index, WA, interval and steadiness."""
    candidates = experiment.candidates
    assert candidates is not None
    runs = tuple(
        CandidateRun(candidates.carrying[index], wa, (high - low) / 2, is_steady)
        for index, wa, (low, high), is_steady in results
    )
    return Mixture(
        str(experiment.device.profile),
        load_name,
        runs,
        candidates.error,
        sequential_factor=candidates.sequential_factor,
    )


def _mixed(
    experiment: Experiment, candidates: Candidates, outcomes: Outcomes[DriveResult]
) -> Mixture:
    """Return the mixture of the candidates that could be run at the requested size."""
    results = succeeded(outcomes)
    left_out = len(outcomes) - len(results)
    refused = (
        f"{left_out} candidate drives were left out, because they cannot have the requested size "
        "or run this load"
    )
    of_recording = is_recording(experiment.load)
    return Mixture(
        profile=str(experiment.device.profile),
        load_name=results[0][1].plan.load_name,
        runs=tuple(
            CandidateRun(
                candidates.carrying[index],
                result.wa,
                _half_width(result, of_recording=of_recording),
                result.steady,
            )
            for index, result in results
        ),
        error=candidates.error,
        drive_notes=(refused,) if left_out else (),
        sequential_factor=candidates.sequential_factor,
        elapsed_s=sum(result.elapsed_s for _, result in results),
    )


def _half_width(result: DriveResult, *, of_recording: bool) -> float:
    """Return the uncertainty of a candidate's WA.

    For a recording, all candidates serve the same requests, and only the place where blocks end in
    the sequence of writes is unknown. The uncertainty is then the spread of WA over drive sizes.
    For other loads it is the half width of the confidence interval.
    """
    if of_recording and result.spread is not None:
        return result.spread.wa_spread
    return (result.ci[1] - result.ci[0]) / 2


def alone(
    experiment: Experiment, candidates: Candidates, candidate: Candidate, *, may_scale: bool = True
) -> Experiment:
    """Return the experiment on one candidate, with fewer replicas, as several candidates run.

    Args:
        experiment: experiment to run.
        candidates: all candidates.
        candidate: candidate to run on.
        may_scale: whether a large drive may be scaled down.
    """
    sized = experiment.device
    blocks = None
    if sized.size is sized.capacity is sized.logical_blocks is sized.logical_pages is None:
        blocks = candidates.blocks_of(candidate)
    is_scaled = may_scale and _scales(experiment)
    settings: dict[str, Any] = {"op": candidate.op, "pages_per_block": candidate.erase_unit_pages}
    if blocks is not None and candidates.logical_pages > _MOST_PAGES and is_scaled:
        page_bytes = device(experiment.device.base).page_bytes
        settings["capacity"] = candidates.logical_pages * page_bytes
    elif blocks is not None:
        settings["blocks"] = blocks
    run = experiment.run
    if isinstance(run, ComparisonSettings):
        settings["managers"] = candidate.manager
        settings["replicas"] = math.ceil(run.replicas / len(candidates.carrying))
    else:
        assert isinstance(run, SimulationSettings)
        settings["manager"] = candidate.manager
        settings["replicas"] = 1
        if run.writes is None:
            settings["precision"] = max(run.precision, _PRECISION)
    settings["victims"] = candidate.victims or None
    return replace(replace(experiment, candidates=None).with_settings(**settings), candidates=None)


def _scales(experiment: Experiment) -> bool:
    """Return whether the experiment may run on a scaled-down drive."""
    load = experiment.load
    has_trace = bool(load.traces) or Precondition.of(load.precondition).trace is not None
    return not has_trace and not experiment.is_timed and not experiment.device.changes_times


def most_at_once(experiment: Experiment) -> int:
    """Return how many simulated drives of an experiment with one load fit in memory."""
    from writeamp.runs.inputs import prepare  # noqa: PLC0415

    return drives_that_fit(prepare(experiment).drive)
