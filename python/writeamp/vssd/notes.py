"""Notes that a reader of a virtual drive's figures should know."""

from __future__ import annotations

from writeamp.statistics.steady import MIN_INTERVALS, SteadyState

# An interval is of what differs between collections: of fewer, it says nothing.
FEWEST_ERASES = MIN_INTERVALS


def of_wa(
    steady: SteadyState | None,
    *,
    host_pages: int,
    samples: int,
    erases: int,
    has_ever_collected: bool,
) -> list[str]:
    """Return the notes on how far write amplification and its interval can be trusted.

    Args:
        steady: what batch means say; None where no sample was taken.
        host_pages: pages that the host wrote.
        samples: samples taken while it did.
        erases: blocks erased since counting began.
        has_ever_collected: whether one was since the drive was new.
    """
    if not host_pages:
        return ["the host wrote nothing, so there is no write amplification"]
    if samples < MIN_INTERVALS:
        return [
            f"too little was written for a confidence interval: {host_pages:,} pages make "
            f"{samples} samples, and {MIN_INTERVALS} are needed"
        ]
    found = []
    if not erases:
        when = "in this run" if has_ever_collected else "yet"
        found.append(f"no interval: nothing was collected {when}")
    elif erases < FEWEST_ERASES:
        found.append(
            f"no interval: it needs {FEWEST_ERASES} collections, which differ, and there were "
            f"{erases}"
        )
    if steady is not None and not steady.steady:
        found.append(f"not steady, so this WA may not last: {steady.reason}")
    return found


def of_flushes(flushes: int) -> list[str]:
    """Return the note on flushes that an untimed drive leaves out."""
    if not flushes:
        return []
    what = (
        "1 flush: the pages that it pads"
        if flushes == 1
        else f"{flushes:,} flushes: the pages that they pad"
    )
    return [f"{what} are counted with --timed only"]
