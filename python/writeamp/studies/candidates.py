"""Runs of the drives that a learnt profile may be: each of them alone, and what they mix to."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

from writeamp.devices.candidates import Candidate, Candidates
from writeamp.devices.device import device
from writeamp.errors import RefusedError
from writeamp.runners import Progress, gather_whole, local_runner
from writeamp.runs.runner import drives_that_fit
from writeamp.runs.simulation_result import Result
from writeamp.settings.experiment import Experiment
from writeamp.settings.precondition import Precondition
from writeamp.settings.recorded import is_recording
from writeamp.settings.settings import ComparisonSettings, SimulationSettings
from writeamp.studies.mixture import CandidateRun, Mixture

# A run of one candidate need not be known better than the candidates are.
_PRECISION = 0.004
# A larger drive is simulated by a smaller one, as any capacity is.
_MOST_PAGES = 2**22


def run_mixture(
    experiment: Experiment,
    simulate: Any,
    progress: Progress | None = None,
) -> Mixture:
    """Run the candidates of an experiment that carry its weight, and mix what they come to.

    Args:
        experiment: what to do, on a drive that is known by candidates.
        simulate: runs an experiment on one drive.
        progress: called with the candidates that are done, and how many there are.
    """
    candidates = experiment.candidates
    assert candidates is not None
    carrying = candidates.carrying
    jobs = [alone(experiment, candidates, one) for one in carrying]
    runner = local_runner(len(jobs), most=most_at_once(jobs[0]))
    found = gather_whole(runner, partial(_run, simulate), jobs, progress=progress)
    of_recording = is_recording(experiment.load)
    runs, names, elapsed_s = [], [], 0.0
    for one, result in zip(carrying, found, strict=True):
        if isinstance(result, RefusedError):
            continue
        runs.append(
            CandidateRun(
                one, result.wa, _half_width(result, of_recording=of_recording), result.steady
            )
        )
        names.append(result.plan.load_name)
        elapsed_s += result.elapsed_s
    if not runs:
        refusal = found[0]
        assert isinstance(refusal, RefusedError)
        raise refusal
    left_out = len(carrying) - len(runs)
    refused = f"{left_out} candidates cannot be drives of this size, or serve this load"
    return Mixture(
        profile=str(experiment.device.profile),
        load_name=names[0],
        runs=tuple(runs),
        error=candidates.error,
        drive_notes=(refused,) if left_out else (),
        elapsed_s=elapsed_s,
    )


def _half_width(result: Result, *, of_recording: bool) -> float:
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


def _run(simulate: Any, experiment: Experiment) -> Result | RefusedError:
    """Return the run of one candidate, or why there can be no such drive of this size."""
    try:
        found: Result = simulate(experiment)
    except RefusedError as refusal:
        return refusal
    return found


def most_at_once(experiment: Experiment) -> int:
    """Return how many drives of an experiment with one load fit into memory."""
    from writeamp.runs.inputs import prepare  # noqa: PLC0415

    return drives_that_fit(prepare(experiment).drive)
