"""Policies that cannot run on a drive: the reason, and the smallest op at which they can."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from typing import Any

from writeamp.devices.device import Device
from writeamp.errors import RefusedError, WriteampError
from writeamp.registry.specs import Spec
from writeamp.runs.inputs import prepare
from writeamp.runs.one_run import new_simulation
from writeamp.runs.plan import Plan
from writeamp.runs.refusals import check_memory
from writeamp.settings.experiment import Experiment

# The search for an op tries whole per cents up to this; a larger op is taken for a slip.
_MOST_PERCENT = 300
# Begins the general advice at the end of the engine's sentences.
_ADVICE = "; use "


def refusal(plan: Plan, drive: Device, seed: int) -> RefusedError | None:
    """Return why a drive cannot run a plan, or None if it can.

    Raises:
        WriteampError: the memory is too small, or a user's policy fails.
    """
    check_memory("the drive needs", drive.geometry.bytes_needed(drive.logical_pages))
    try:
        new_simulation(plan, drive, seed)
    except RefusedError as error:
        return error
    return None


def reason_and_op(
    error: RefusedError, experiment: Experiment, plan: Plan, op: float, seed: int
) -> tuple[str, float | None]:
    """Return why a policy cannot run, and the smallest op at which it can, or None.

    Args:
        error: why the policy cannot run.
        experiment: experiment with one load.
        plan: plan of the run, with the requests of a trace.
        op: op of the drive.
        seed: seed of the run.
    """
    working = _working_op(experiment, plan, op, seed)
    return _reason_with_op(str(error), working), working


def _reason_with_op(reason: str, working_op: float | None) -> str:
    """Return a reason that ends with an op that works, if there is one, instead of advice.

    >>> _reason_with_op("the drive is too small for dac; use a larger op or more blocks", 0.17)
    'the drive is too small for dac; --op 0.17 works'
    """
    if working_op is None:
        return reason
    return f"{reason.partition(_ADVICE)[0]}; --op {working_op:g} works"


def _working_op(experiment: Experiment, plan: Plan, op: float, seed: int) -> float | None:
    changes: dict[str, Any] = {"precondition": "none"}
    if not isinstance(plan.load, Spec):
        # The requests are in pages already, so that no probe reads the trace again.
        changes |= {"trace": plan.load, "mapping": "compact", "trace_device": None}

    def runs_at(percent: int) -> bool:
        try:
            drive = prepare(experiment.with_settings(**changes, op=percent / 100)).drive
            return refusal(plan, drive, seed) is None
        except WriteampError:
            return False

    return _least_working_op(runs_at, op)


def _least_working_op(runs_at: Callable[[int], bool], op: float) -> float | None:
    """Return the smallest op above `op`, in whole per cents, at which a policy runs, or None.

    Args:
        runs_at: whether the policy runs at an op in per cent; it also runs at every larger op.
        op: op at which it does not run.
    """
    tried = range(math.floor(op * 100) + 1, _MOST_PERCENT + 1)
    if not tried or not runs_at(tried[-1]):
        return None
    return tried[bisect_left(tried[:-1], True, key=runs_at)] / 100
