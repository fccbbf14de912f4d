"""Judgement of a run on a real drive: who else wrote, and whether its counters can show it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from writeamp.drives.counters.answer import life_answer
from writeamp.drives.counters.facts import CounterCheck
from writeamp.drives.counters.result import DriveCounters
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.errors import WriteampError
from writeamp.units.byte_sizes import shown_bytes

# Bounds of WA further apart than this part of it say too little to be an answer.
_TOO_WIDE = 0.5
# Bounds as close as this are what a run should write enough for.
_CLOSE = 0.1
_FEW_UNITS = 100
# Journals and metadata of a file system; what is above was written by somebody else.
_OTHERS_PART = 0.05
_OTHERS_BYTES = 16 << 20
# Two sizes further apart than this factor are in other units.
_OTHER_UNIT = 1.5


class LeastAmount(NamedTuple):
    """Bytes that a run should write for close bounds, if known, and whether it is refused."""

    size_bytes: int | None
    is_refused: bool
    sentence: str


def require_counters(snapshot: Snapshot, of: str) -> None:
    """Refuse a drive whose counters cannot show WA.

    Args:
        snapshot: of the drive.
        of: whose WA, and what becomes of that.

    Raises:
        WriteampError: it counts its host alone, a part of its flash, or in no unit that is known.
    """
    answer = life_answer(snapshot)
    if not answer.definitions or answer.definitions[0]["class"] in {"estimated", "lower-bound"}:
        raise WriteampError(f"this drive's counters cannot show the WA of {of}: {answer.reason}")


def least_amount(answer: DriveCounters, *, has_moved: bool) -> LeastAmount | None:
    """Return how much a run should write; None if its bounds are close, or nothing can be said.

    Args:
        answer: of the run.
        has_moved: some counter did.
    """
    coarsest = max(
        (one for one in answer.facts.counters if one.unit is not None and one.side == "host"),
        key=lambda one: one.unit.nominal if one.unit is not None else 0,
        default=None,
    )
    found = [one for one in answer.definitions if one["wa"] is not None]
    said = next((one for one in found if one["wa_definition"] == answer.wa_definition), None)
    said = said or next(iter(found), None)
    if said is None or said["wa"] <= 0:
        if coarsest is None or coarsest.unit is None or (has_moved and said is None):
            return None
        few_bytes = round(_FEW_UNITS * coarsest.unit.nominal)
        return LeastAmount(
            few_bytes,
            True,
            f"the counters did not move enough to show WA ({coarsest.label} counts "
            f"{coarsest.unit.name}): write at least {shown_bytes(few_bytes)} to the drive",
        )
    width = (said["wa_high"] - said["wa_low"]) / said["wa"]
    if width <= _CLOSE:
        return None
    times = width / _CLOSE
    size_bytes = None if answer.host is None else round(float(answer.host.nominal) * times)
    enough = f"{times:.3g} times as much" if size_bytes is None else shown_bytes(size_bytes)
    return LeastAmount(
        size_bytes,
        width > _TOO_WIDE,
        f"the counters are too coarse for what was written (WA would be from "
        f"{said['wa_low']:.3g} to {said['wa_high']:.3g}): write at least {enough} to the drive",
    )


def run_checks(
    answer: DriveCounters,
    *,
    quiet: DriveCounters,
    kernel_bytes: int | None,
    command_bytes: int,
    is_settled: bool,
) -> Iterator[CounterCheck]:
    """Yield the checks of a run.

    Args:
        answer: of the run.
        quiet: of the time before it, when nothing should write.
        kernel_bytes: that the kernel sent to the drive; None if unknown.
        command_bytes: that the command wrote to storage, as the kernel accounts it.
        is_settled: the flash was at rest at the end.
    """
    yield CounterCheck(
        "settled",
        "ok" if is_settled else "doubt",
        "the flash's counters were at rest"
        if is_settled
        else "the flash's counters were still rising, or nobody waited: WA may be higher",
    )
    yield _quiet(quiet)
    yield _others(kernel_bytes, command_bytes)
    if kernel_bytes is not None and answer.host is not None:
        yield _against_kernel(answer, kernel_bytes)


def _quiet(before: DriveCounters) -> CounterCheck:
    name = "quiet before"
    wrote = before.host is not None and before.host.low > 0
    worked = before.flash is not None and before.flash.low > 0
    if not wrote and not worked:
        return CounterCheck(name, "ok", "no counter moved before the command began")
    said = [
        f"{what} {shown_bytes(round(float(amount.nominal)))}"
        for what, amount in (("the host wrote", before.host), ("the flash", before.flash))
        if amount is not None
    ]
    return CounterCheck(
        name,
        "doubt",
        f"before the command began, {', '.join(said)}: somebody else is \
writing, or earlier writes are still collected",
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
            ": of files, that counts whole folios of the page cache, and others may hide in it"
        )
        return CounterCheck(name, "unknown", evidence)
    return CounterCheck(name, "ok", evidence)


def _against_kernel(answer: DriveCounters, kernel_bytes: int) -> CounterCheck:
    """Return whether the host's counter rose by what the kernel sent: who counts has a unit."""
    assert answer.host is not None
    name = "host against kernel"
    low, _, high = (float(one) for one in answer.host)
    evidence = (
        f"the drive counts {low / 1e9:.4g} to {high / 1e9:.4g} GB of its host, the kernel sent "
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
            f"{evidence}: its counter is in another unit, or leaves "
            "writes out, such as Write Zeroes",
        )
    return CounterCheck(
        name, "doubt", f"{evidence}: others wrote to it, not through this kernel's disk"
    )
