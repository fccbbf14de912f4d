"""Notes on the reliability of a virtual drive's results."""

from __future__ import annotations

from writeamp.devices.device import Device
from writeamp.statistics.steady import MIN_INTERVALS, SteadyState

# Fewest erases for a confidence interval of WA. The interval is computed from the differences
# between collections, so it is meaningless with fewer.
FEWEST_ERASES = MIN_INTERVALS


def of_wa(
    steady: SteadyState | None,
    settled: SteadyState | None,
    *,
    host_pages: int,
    samples: int,
    erases: int,
    has_ever_collected: bool,
) -> list[str]:
    """Return notes on the reliability of write amplification and its confidence interval.

    Args:
        steady: result of batch means; None without samples.
        settled: the same after the warm-up.
        host_pages: pages that the host wrote.
        samples: samples taken during the writes.
        erases: blocks erased since counting began.
        has_ever_collected: whether a block was erased since the drive was new.
    """
    if not host_pages:
        return ["the host wrote nothing, so that WA is undefined"]
    if samples < MIN_INTERVALS:
        return [
            f"too few writes for a confidence interval: {host_pages:,} pages give "
            f"{samples} samples, but {MIN_INTERVALS} are needed"
        ]
    notes = []
    if not erases:
        when = "in this run" if has_ever_collected else "since the drive was new"
        notes.append(f"no confidence interval: no garbage collection {when}")
    elif erases < FEWEST_ERASES:
        notes.append(
            f"no confidence interval: it needs {FEWEST_ERASES} erased blocks, but {erases} were "
            "erased"
        )
    if steady is not None and not steady.steady:
        if settled is not None and settled.steady and erases >= FEWEST_ERASES:
            after = after_warm_up(settled, host_pages)
            notes.append(f"WA of the whole run is not steady; it is steady{after}")
        else:
            notes.append(f"WA is not steady, so it may change in a longer run: {steady.reason}")
    return notes


def after_warm_up(settled: SteadyState, host_pages: int) -> str:
    """Return the part of a run after its warm-up as words, or "" without a warm-up."""
    if not settled.warmup_pages:
        return ""
    return f" after the first {settled.warmup_pages / host_pages:.0%} of the writes"


def of_flushes(flushes: int, device: Device, *, is_timed: bool) -> list[str]:
    """Return the note about the padding of flushes, which an untimed drive does not simulate."""
    times = device.times
    if not flushes or times is None or is_timed or device.pages_per_program == 1:
        return []
    if times.get("write_cache", {}).get("power_safe", False):
        return []
    text = "1 flush causes" if flushes == 1 else f"{flushes:,} flushes cause"
    return [f"the padding that {text} in the flash is counted only with --timed"]
