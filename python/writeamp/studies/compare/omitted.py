"""Rows of a comparison that cannot run on the drive: the reason, and an op at which they can."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from writeamp.devices.device import Device
from writeamp.errors import RefusedError, WriteampError
from writeamp.fields.old_names import with_old_names
from writeamp.registry.specs import Spec
from writeamp.runs.inputs import prepare
from writeamp.runs.one_run import new_simulation
from writeamp.runs.plan import Plan
from writeamp.runs.refusals import check_memory
from writeamp.settings.experiment import Experiment
from writeamp.studies.compare.row import row_name

# The search for an op tries whole per cents up to this; a larger op is taken for a slip.
_MOST_PERCENT = 300
# Begins the general advice at the end of the engine's sentences.
_ADVICE = "; use "


@dataclass(frozen=True)
class OmittedRow:
    """Row of a comparison whose policy cannot run on the drive.

    Attributes:
        plan: plan of its first run, without the requests of a trace.
        place: index of the row in the requested order.
        reason: sentence on why it cannot run; it ends with an op that works, if there is one.
        working_op: smallest op in whole per cents at which it can run, or None.
        with_victims, with_load: as in `Row`.
    """

    plan: Plan
    place: int
    reason: str
    working_op: float | None = None
    with_victims: bool = False
    with_load: bool = False

    @property
    def workload(self) -> str:
        """Load: a workload, or the name of a trace."""
        return self.plan.load_name

    @property
    def manager(self) -> str:
        """Block manager, as requested."""
        return self.plan.policy.manager

    @property
    def victims(self) -> str:
        """Victim policy: the requested one, or the manager's own."""
        return self.plan.policy.victims

    @property
    def policy(self) -> str:
        """Name of the manager, with its victim policy if other rows have a different one."""
        return row_name(self.manager, self.victims if self.with_victims else None)

    @property
    def name(self) -> str:
        """Unique name of the row."""
        return row_name(self.policy, None, self.workload if self.with_load else None)

    def to_dict(self, like: Mapping[str, Any]) -> dict[str, Any]:
        """Return the row as JSON types, with the keys of a finished row and null for its results.

        Args:
            like: a finished row.
        """
        return with_old_names(
            {key: _nothing_like(value) for key, value in like.items()}
            | {
                "workload": self.workload,
                "manager": self.manager,
                "victims": self.victims,
                "reason": self.reason,
                "working_op": self.working_op,
            }
        )


class NoRowFitsError(RefusedError):
    """Error for a comparison of which no row can run on its drive; it names the first row.

    Attributes:
        omitted: all rows, at least one.
    """

    def __init__(self, omitted: tuple[OmittedRow, ...]) -> None:
        """Store the rows."""
        super().__init__(f"{omitted[0].name}: {omitted[0].reason}")
        self.omitted = omitted

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild the error from its rows, since exceptions are pickled with their sentence."""
        return type(self), (self.omitted,)


def _nothing_like(value: Any) -> Any:
    """Return null, or an object or interval of nulls."""
    if isinstance(value, Mapping):
        return dict.fromkeys(value)
    return [None, None] if isinstance(value, list) and len(value) == 2 else None


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
    """Return the reason of an omitted row, and the smallest op at which it can run, or None.

    Args:
        error: why the row cannot run.
        experiment: experiment with one load.
        plan: plan of the row, with the requests of a trace.
        op: op of the drive.
        seed: seed of the run.
    """
    working = _working_op(experiment, plan, op, seed)
    return reason_with_op(str(error), working), working


def reason_with_op(reason: str, working_op: float | None) -> str:
    """Return a reason with an op that works in place of general advice, if there is such an op.

    >>> reason_with_op("the drive is too small for dac; use a larger op or more blocks", 0.17)
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

    return least_working_op(runs_at, op)


def least_working_op(runs_at: Callable[[int], bool], op: float) -> float | None:
    """Return the smallest op above `op`, in whole per cents, at which a row runs; or None.

    Args:
        runs_at: whether the row runs at an op in per cent; it also runs at every larger op.
        op: op at which it does not run.
    """
    tried = range(math.floor(op * 100) + 1, _MOST_PERCENT + 1)
    if not tried or not runs_at(tried[-1]):
        return None
    return tried[bisect_left(tried[:-1], True, key=runs_at)] / 100
