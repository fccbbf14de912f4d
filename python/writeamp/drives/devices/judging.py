"""Checks of a run on a real drive: other writers, and resolution of its counters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from writeamp.drives.counters.answer import life_answer
from writeamp.drives.counters.facts import CounterCheck
from writeamp.drives.counters.result import DriveCounters
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.errors import WriteampError
from writeamp.units.byte_sizes import shown_bytes

# Width of the WA bounds / WA above which no WA is reported.
_TOO_WIDE = 0.5
# Width of the WA bounds / WA that a run should reach by writing enough.
_CLOSE = 0.1
_FEW_UNITS = 100
# Allowance for journals and metadata of a file system. A larger excess of bytes counts as writes of
# other programs.
_OTHERS_PART = 0.05
_OTHERS_BYTES = 16 << 20
# If the bytes that the kernel sent are more than the drive's host counter times this factor, the
# counter has another unit, so WA is refused.
_OTHER_UNIT = 1.5


class LeastAmount(NamedTuple):
    """Bytes that a run should write for WA bounds within 10%, and whether WA is rejected."""

    size_bytes: int | None
    is_refused: bool
    sentence: str


def require_counters(snapshot: Snapshot, subject: str) -> None:
    """Reject a drive whose counters cannot show WA.

    Args:
        snapshot: snapshot of the drive.
        subject: object of the measurement, for the message: "a command, which was not run".

    Raises:
        WriteampError: a counter is missing, leaves out part of the flash, or has an unknown unit.
    """
    answer = life_answer(snapshot)
    if not answer.definitions or answer.definitions[0]["class"] in {"estimated", "lower-bound"}:
        raise WriteampError(
            f"this drive's counters cannot show the WA of {subject}: {answer.reason}"
        )


def least_amount(answer: DriveCounters, *, has_moved: bool) -> LeastAmount | None:
    """Return how much a run should write; None if it wrote enough, or the amount is unknown.

    Args:
        answer: answer of the run.
        has_moved: whether any counter changed during the run.
    """
    coarsest = max(
        (
            counter
            for counter in answer.facts.counters
            if counter.unit is not None and counter.side == "host"
        ),
        key=lambda counter: counter.unit.nominal if counter.unit is not None else 0,
        default=None,
    )
    definitions = [definition for definition in answer.definitions if definition["wa"] is not None]
    shown = next(
        (
            definition
            for definition in definitions
            if definition["wa_definition"] == answer.wa_definition
        ),
        None,
    )
    shown = shown or next(iter(definitions), None)
    if shown is None or shown["wa"] <= 0:
        if coarsest is None or coarsest.unit is None or (has_moved and shown is None):
            return None
        few_bytes = round(_FEW_UNITS * coarsest.unit.nominal)
        return LeastAmount(
            few_bytes,
            True,
            f"the counters rose too little to show WA (one count of {coarsest.label} is "
            f"{coarsest.unit.name}): write at least {shown_bytes(few_bytes)} to the drive",
        )
    width = (shown["wa_high"] - shown["wa_low"]) / shown["wa"]
    if width <= _CLOSE:
        return None
    times = width / _CLOSE
    size_bytes = None if answer.host is None else round(float(answer.host.nominal) * times)
    enough = f"{times:.3g} times as much" if size_bytes is None else shown_bytes(size_bytes)
    return LeastAmount(
        size_bytes,
        width > _TOO_WIDE,
        f"the counters are too coarse for this run (WA would be from "
        f"{shown['wa_low']:.3g} to {shown['wa_high']:.3g}): write at least {enough} to the drive",
    )


def run_checks(
    answer: DriveCounters,
    *,
    quiet: DriveCounters,
    kernel_bytes: int | None,
    command_bytes: int,
    is_settled: bool,
) -> Iterator[CounterCheck]:
    """Yield the checks of the run of a command on a real drive.

    Args:
        answer: answer of the run.
        quiet: answer of the interval before the run, in which no writes are expected.
        kernel_bytes: bytes sent to the drive by the kernel; None if unknown.
        command_bytes: bytes that the command wrote to storage, by the kernel's accounting.
        is_settled: whether the flash was at rest at the end.
    """
    yield CounterCheck(
        "settled",
        "ok" if is_settled else "doubt",
        "the flash counters had stopped rising"
        if is_settled
        else (
            "the flash counters were still rising, or the run did not wait for them to stop: WA "
            "may be higher"
        ),
    )
    yield _quiet(quiet)
    yield _others(kernel_bytes, command_bytes)
    if kernel_bytes is not None and answer.host is not None:
        yield _against_kernel(answer, kernel_bytes)


def _quiet(quiet: DriveCounters) -> CounterCheck:
    name = "quiet before"
    wrote = quiet.host is not None and quiet.host.low > 0
    worked = quiet.flash is not None and quiet.flash.low > 0
    if not wrote and not worked:
        return CounterCheck(name, "ok", "no counter rose before the command began")
    changes = [
        f"{writer} {shown_bytes(round(float(amount.nominal)))}"
        for writer, amount in (("the host wrote", quiet.host), ("the flash", quiet.flash))
        if amount is not None
    ]
    return CounterCheck(
        name,
        "doubt",
        f"before the command began, {', '.join(changes)}: another program is \
writing, or garbage collection of earlier writes continues",
    )


def _others(kernel_bytes: int | None, command_bytes: int) -> CounterCheck:
    name = "other writers"
    if kernel_bytes is None:
        return CounterCheck(name, "unknown", "the kernel's statistics of the drive cannot be read")
    evidence = (
        f"the kernel sent {kernel_bytes:,} bytes to the drive, and the command wrote "
        f"{command_bytes:,} to storage"
    )
    if kernel_bytes > command_bytes * (1 + _OTHERS_PART) + _OTHERS_BYTES:
        return CounterCheck(name, "doubt", evidence)
    if command_bytes > kernel_bytes * (1 + _OTHERS_PART) + _OTHERS_BYTES:
        evidence += (
            ". For files, the command's bytes include whole folios of the page cache, so writes "
            "of other programs may be hidden"
        )
        return CounterCheck(name, "unknown", evidence)
    return CounterCheck(name, "ok", evidence)


def _against_kernel(answer: DriveCounters, kernel_bytes: int) -> CounterCheck:
    """Return the check that the host counter rose by the bytes that the kernel sent."""
    assert answer.host is not None
    name = "host against kernel"
    low, _, high = (float(bound) for bound in answer.host)
    evidence = (
        f"the drive counts {low / 1e9:.4g} to {high / 1e9:.4g} GB of host writes, the kernel sent "
        f"{kernel_bytes / 1e9:.4g} GB"
    )
    if low - _OTHERS_BYTES <= kernel_bytes * (1 + _OTHERS_PART) and (
        high + _OTHERS_BYTES >= kernel_bytes * (1 - _OTHERS_PART)
    ):
        return CounterCheck(name, "ok", evidence)
    if kernel_bytes - _OTHERS_BYTES > high * _OTHER_UNIT:
        return CounterCheck(
            name,
            "fail",
            f"{evidence}: the drive's counter has another unit, or omits writes such as Write "
            "Zeroes",
        )
    return CounterCheck(
        name,
        "doubt",
        f"{evidence}: they differ by more than 5%, for example because another machine wrote",
    )
