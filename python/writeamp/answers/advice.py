"""Changes that reduce WA, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from writeamp.answers.change import Change, Kind
from writeamp.answers.question import Question
from writeamp.answers.window import as_trace, page_trace, repeated
from writeamp.devices.device import Device
from writeamp.devices.device import device as build_device
from writeamp.devices.policy import Policy
from writeamp.errors import WriteampError
from writeamp.models._effective_op import effective_op
from writeamp.registry.specs import Spec
from writeamp.traces.pages import PageTrace
from writeamp.traces.touching import OPS

# What datacenter drives have beside those for reading: 7% more of each capacity.
_MORE = 0.07
# Share of the drive that the host leaves free, and trims.
_FREE = 0.1
# Block managers that need no hints.
_MANAGERS = ("sepgc", "dac", "sepbit")
_VICTIMS = ("greedy", "cost-benefit")


def _with_op(drive: Device, op: float) -> Device:
    """Return a drive of another op, whose host sees as much."""
    return build_device(drive, logical_pages=drive.logical_pages, op=op)


def _more_op(question: Question) -> Iterator[Change]:
    """Put the same data on more flash."""
    case = question.windowed
    larger = _with_op(case.drive, case.drive.op + _MORE)
    yield Change(
        f"op {larger.op:.3f} instead of {case.drive.op:.3f}",
        f"{larger.physical_pages / case.drive.physical_pages - 1:.1%} more flash",
        replace(case, drive=larger),
    )


def _trimmed(question: Question) -> Iterator[Change]:
    """Leave a tenth of the drive free, and trim it."""
    case = question.windowed
    # The same data fill nine tenths of such a drive; what is free is spare space.
    roomier = _with_op(case.drive, float(effective_op(case.drive.op, 1 - _FREE, 1 - _FREE)))
    yield Change(
        f"TRIM: {_FREE:.0%} of the drive kept free, trimmed and never filled",
        f"{_FREE:.0%} of the capacity, on a drive that much larger",
        replace(case, drive=roomier),
    )


def _other_managers(question: Question) -> Iterator[Change]:
    """Try other block managers."""
    case, now = question.windowed, question.policy
    for name in _MANAGERS:
        if Spec.of("managers", now.manager).name == name:
            continue
        try:
            policy = Policy.of(name, now.victims, now.wear_leveling)
            policy.drive(case.drive)
        except WriteampError:  # it does not go with such victims, or not on such a drive
            continue
        yield Change(
            f"block manager {name} instead of {now.manager}",
            "firmware with several open blocks, or streams that the host names",
            case.with_plan(policy=policy),
            name,
        )


def _other_victims(question: Question) -> Iterator[Change]:
    """Try other victim policies."""
    case, now = question.windowed, question.policy
    for name in _VICTIMS:
        if Spec.of("victims", now.victims).name == name:
            continue
        try:
            policy = Policy.of(now.manager, name, now.wear_leveling)
            policy.drive(case.drive)
        except WriteampError:  # the manager chooses victims by a rule of its own
            continue
        yield Change(
            f"victims by {name} instead of {now.victims}",
            "firmware",
            case.with_plan(policy=policy),
            name,
        )


def _aligned_writes(question: Question) -> Iterator[Change]:
    """Send requests that begin and end with pages, as few as hold the data."""
    window, case = question.window, question.windowed
    requests = window.requests
    if requests.head_bytes is None or not requests.host_pages:
        return
    aligned = _aligned(requests)
    if aligned.host_pages >= requests.host_pages:
        return
    times = 0 if window.plan.earlier is None else window.plan.earlier.op.size // requests.op.size
    plan = as_trace(question.plan, aligned, repeated(aligned, times) if times else None)
    yield Change(
        f"writes aligned to pages of {requests.page_bytes:,} bytes",
        "a setting of the partition, the file system or the program",
        replace(case, plan=plan, share_of_pages=aligned.host_pages / requests.host_pages),
    )


def _aligned(requests: PageTrace) -> PageTrace:
    """Return the requests with each on the fewest pages that hold its bytes."""
    assert requests.head_bytes is not None
    assert requests.tail_bytes is not None
    size = requests.page_bytes
    left_out = (requests.head_bytes.astype(np.int64) + requests.tail_bytes) // size
    is_write = requests.op == OPS["write"]
    count = np.where(is_write, requests.count - left_out, requests.count).astype(np.uint32)
    return page_trace(requests.op, requests.start, count, requests.logical_pages, size)


KINDS: tuple[Kind, ...] = (
    Kind("op", _more_op),
    Kind("trim", _trimmed),
    Kind("manager", _other_managers),
    Kind("victims", _other_victims),
    Kind("aligned writes", _aligned_writes),
)
