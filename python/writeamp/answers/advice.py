"""Changes of a drive or its load that may reduce WA, by kind, in the order of trying."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from writeamp.answers.case import Case
from writeamp.answers.question import SimulatedQuestion
from writeamp.answers.window import as_trace, repeated
from writeamp.devices.device import Device
from writeamp.devices.device import device as build_device
from writeamp.devices.policy import Policy
from writeamp.errors import WriteampError
from writeamp.models._effective_op import effective_op
from writeamp.registry.specs import Spec
from writeamp.results.any_result import AnyResult
from writeamp.traces.pages import PageTrace
from writeamp.traces.touching import OPS

# Increase of op (a share of the logical size): datacenter drives for mixed use have about so much
# more flash than drives for mainly reading.
_MORE = 0.07
# Share of the drive that the host leaves free and trims.
_FREE = 0.1
# Block managers to try; they need no hints from the host.
_MANAGERS = ("sepgc", "dac", "sepbit")
_VICTIMS = ("greedy", "cost-benefit")


@dataclass(frozen=True, eq=False)
class Change:
    """A change of the drive, its policy or its host, and the run settings with the change.

    `words` describe the change and `costs` its costs. `name` identifies it among the changes of
    its kind, independently of the drive.
    """

    words: str
    costs: str
    case: Case
    name: str = ""


@dataclass(frozen=True)
class KindOfChange:
    """A kind of change; `changes` returns the changes to try, none if the kind does not apply."""

    name: str
    changes: Callable[[SimulatedQuestion], Iterable[Change]]


@dataclass(frozen=True)
class Advice(AnyResult):
    """A change that reduces WA, simulated like the row `simulate`.

    Attributes:
        change: the change in words.
        wa, wa_now: WA with the change, and without it.
        costs: costs of the change in words.
        is_steady: False if the run with the change did not reach a steady state.
        ci: 95% confidence interval of `wa`; None for a learnt profile.
        interval, level: interval of `wa` of a learnt profile, and the probability of the interval.
    """

    change: str
    wa: float
    wa_now: float
    costs: str
    is_steady: bool = True
    ci: tuple[float, float] | None = None
    interval: tuple[float, float] | None = None
    level: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the advice as JSON types."""
        low, high = self.error_bar
        return {
            "change": self.change,
            "wa": self.wa,
            "wa_now": self.wa_now,
            "costs": self.costs,
            "wa_ci95": None if math.isnan(low) else [low, high],
            "steady": self.is_steady,
        }


def _with_op(drive: Device, op: float) -> Device:
    """Return a drive with another op and the same logical capacity."""
    return build_device(drive, logical_pages=drive.logical_pages, op=op)


def _more_op(simulated: SimulatedQuestion) -> Iterator[Change]:
    """Yield the change to a drive with more flash for the same data."""
    case = simulated.question.simulation
    larger = _with_op(case.drive, case.drive.op + _MORE)
    yield Change(
        f"op {larger.op:.3f} instead of {case.drive.op:.3f}",
        f"{larger.physical_pages / case.drive.physical_pages - 1:.1%} more flash",
        replace(case, drive=larger),
    )


def _trimmed(simulated: SimulatedQuestion) -> Iterator[Change]:
    """Yield the change to a drive of which the host leaves 10% free and trimmed."""
    case = simulated.question.simulation
    # The changed case holds the same data in 90% of its pages; the free 10% are spare space.
    roomier = _with_op(case.drive, float(effective_op(case.drive.op, 1 - _FREE, 1 - _FREE)))
    yield Change(
        f"TRIM: {_FREE:.0%} of the drive kept free and trimmed",
        f"{_FREE:.0%} of the capacity, or a larger drive",
        replace(case, drive=roomier),
    )


def _other_managers(simulated: SimulatedQuestion) -> Iterator[Change]:
    """Yield the changes to other block managers."""
    case, now = simulated.question.simulation, simulated.question.policy
    for name in _MANAGERS:
        if Spec.of("managers", now.manager).name == name:
            continue
        try:
            policy = Policy.of(name, now.victims, now.wear_leveling)
            policy.drive(case.drive)
        except WriteampError:  # incompatible with the victim policy or the drive
            continue
        yield Change(
            f"block manager {name} instead of {now.manager}",
            "firmware with several open blocks, or streams named by the host",
            case.with_plan(policy=policy),
            name,
        )


def _other_victims(simulated: SimulatedQuestion) -> Iterator[Change]:
    """Yield the changes to other victim policies."""
    case, now = simulated.question.simulation, simulated.question.policy
    for name in _VICTIMS:
        if Spec.of("victims", now.victims).name == name:
            continue
        try:
            policy = Policy.of(now.manager, name, now.wear_leveling)
            policy.drive(case.drive)
        except WriteampError:  # the manager has its own victim rule
            continue
        yield Change(
            f"victim policy {name} instead of {now.victims}",
            "firmware with this policy",
            case.with_plan(policy=policy),
            name,
        )


def _aligned_writes(simulated: SimulatedQuestion) -> Iterator[Change]:
    """Yield the change to aligned writes: each request covers the fewest possible pages."""
    plan, case = simulated.question.plan, simulated.question.simulation
    requests = simulated.window.requests
    aligned = _aligned(requests)
    if aligned is None:
        return
    if isinstance(plan.load, Spec):
        earlier = simulated.window.plan.earlier
        times = 0 if earlier is None else earlier.op.size // requests.op.size
        plan = as_trace(plan, aligned, repeated(aligned, times) if times else None)
    else:
        plan = replace(plan, load=aligned)
    yield Change(
        f"writes aligned to pages of {requests.page_bytes:,} bytes",
        "a setting of the partition, the file system or the program",
        replace(case, plan=plan, share_of_pages=aligned.host_pages / requests.host_pages),
    )


def _aligned(requests: PageTrace) -> PageTrace | None:
    """Return the requests, each shrunk to the fewest pages that hold its bytes.

    Returns None if no request is shrunk.
    """
    if requests.head_bytes is None or requests.tail_bytes is None:
        return None
    left_out = requests.head_bytes.astype(np.int64) + requests.tail_bytes
    is_write = requests.op == OPS["write"]
    count = np.where(is_write, requests.count - left_out // requests.page_bytes, requests.count)
    host_pages = int(count[is_write].sum(dtype=np.int64))
    if host_pages >= requests.host_pages:
        return None
    return replace(
        requests,
        count=count.astype(np.uint32),
        host_pages=host_pages,
        partial_pages=0,
        head_bytes=None,
        tail_bytes=None,
    )


KINDS: tuple[KindOfChange, ...] = (
    KindOfChange("op", _more_op),
    KindOfChange("trim", _trimmed),
    KindOfChange("manager", _other_managers),
    KindOfChange("victims", _other_victims),
    KindOfChange("aligned writes", _aligned_writes),
)
