"""More over-provisioning: the same data on more flash."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from writeamp.answers.change import Change, Kind
from writeamp.answers.question import Question
from writeamp.devices.device import Device
from writeamp.devices.device import device as build_device

# What datacenter drives have beside those for reading: 7% more of each capacity.
_MORE = 0.07


def with_op(drive: Device, op: float) -> Device:
    """Return a drive of another op, whose host sees as much."""
    return build_device(drive, logical_pages=drive.logical_pages, op=op)


def _changes(question: Question) -> Iterator[Change]:
    case = question.windowed
    larger = with_op(case.drive, case.drive.op + _MORE)
    yield Change(
        f"op {larger.op:.3f} instead of {case.drive.op:.3f}",
        f"{larger.physical_pages / case.drive.physical_pages - 1:.1%} more flash",
        replace(case, drive=larger),
    )


KIND = Kind("op", _changes)
