"""Replays of a trace if nobody says how many: until its passes agree, if it is short."""

from __future__ import annotations

from writeamp.devices.device import Device
from writeamp.registry.specs import Spec
from writeamp.runs.plan import Plan
from writeamp.settings.precondition import Precondition
from writeamp.statistics.passes import FEWEST_PASSES

# A drive remembers how it was filled until its flash was programmed about so many times. A trace
# that does that in one pass needs no other.
MEMORY_TIMES = 64
# Where a loop ends whose passes do not agree: times that it writes the flash, or on a small drive
# so many pages, and passes.
_MOST_DRIVE_WRITES = 200
_MOST_PAGES = 10_000_000
_MOST_PASSES = 200
# A scheme that remembers pages is watched for so many times as long.
LOOK_AHEAD = 3


def is_as_needed(plan: Plan) -> bool:
    """Return whether a run may repeat its trace as often as its verdict needs.

    Where its writes or its warm-up are given, or its drive is aged, what it plays is what was asked
    for.
    """
    return (
        not isinstance(plan.load, Spec)
        and plan.host.repeat == "auto"
        and plan.run.writes is None
        and plan.run.warmup == "auto"
        and plan.before is None
        and not Precondition.of(plan.host.precondition).ages
    )


def most_passes(plan: Plan, drive: Device) -> int:
    """Return how often a run may replay its trace."""
    if not is_as_needed(plan):
        return plan.repeat
    assert not isinstance(plan.load, Spec)
    most_pages = max(_MOST_DRIVE_WRITES * drive.physical_pages, _MOST_PAGES)
    passes = min(most_pages // plan.load.host_pages, _MOST_PASSES)
    return passes if passes >= FEWEST_PASSES else 1


def loaded_passes(plan: Plan, drive: Device) -> int:
    """Return how many passes a load holds; a run that goes ahead has more."""
    most = most_passes(plan, drive)
    return LOOK_AHEAD * most if is_as_needed(plan) and most > 1 else most
