"""Agreement of the two methods, and sentences about what makes a capture doubtful."""

from __future__ import annotations

from collections.abc import Sequence

from writeamp.drives.pins.classes import Classification, OperationKind
from writeamp.drives.pins.four_level import FourLevel
from writeamp.drives.pins.unseen import Overlap

# Operations of times that the device does not have, as a share of the programs.
_MANY_STRANGE = 1e-3
_MANY_RETRIES = 0.01
_MOST_NAMED = 4


def agree(one: FourLevel, other: FourLevel) -> bool:
    """Return whether two intervals have anything in common."""
    return one.ci[0] <= other.ci[1] and other.ci[0] <= one.ci[1]


def disagreement(
    mixture: FourLevel, fixed: FourLevel, reading: Classification, window_us: tuple[float, float]
) -> str:
    """Return a sentence that says what the two methods do not agree on."""
    low_us, high_us = window_us
    disputed = [
        kind
        for kind in reading.kinds
        if (kind.of_class == "program") != (low_us < kind.mean_us < high_us)
        and not (kind.of_class == "erase" and kind.is_known)
    ]
    of_what = (
        f"operations of {_in_words(disputed)} are programs to one of them only; "
        if disputed
        else ""
    )
    return (
        f"the fixed window counts {fixed.programs:,} programs and the mixture "
        f"{mixture.programs:,}, which is further apart than their intervals: {of_what}neither "
        "stands alone, and the interval of WA holds both"
    )


def doubt_warnings(
    reading: Classification, programs: float, pulses: int, retries: float, shared: Overlap
) -> list[str]:
    """Return sentences about kinds that are strange, retries, and pins that dies may share.

    Args:
        reading: the kinds of operations.
        programs: how many are counted.
        pulses: all that were seen.
        retries: reads that may be among the programs.
        shared: what speaks for several dies on a pin.
    """
    found = []
    strange = [kind for kind in reading.kinds if not kind.is_known]
    operations = pulses * sum(kind.share for kind in strange)
    if operations > max(1.0, _MANY_STRANGE * programs):
        words = ", ".join(sorted({f"{kind.of_class}s" for kind in strange}))
        found.append(
            f"{operations:,.0f} operations take {_in_words(strange)}, and the times of the drive "
            f"do not say what they are; they count as {words}, and the interval holds that they "
            "are not"
        )
    if retries > _MANY_RETRIES * programs:
        found.append(
            "reads are tried again within one busy time, which takes multiples of a read, and up "
            f"to {retries:,.0f} of them may have taken as long as a program, which the interval "
            "holds"
        )
    if shared.is_likely:
        found.append(
            f"{shared.longer:,.0f} pulses are longer than any operation and {shared.strange:,.0f} "
            f"fit none, where two dies on each pin would overlap {shared.implied:,.0f} times: if "
            "dies are wired to one pin, operations that overlap count as one, and programs are "
            "missing"
        )
    return found


def _in_words(kinds: Sequence[OperationKind]) -> str:
    named = [f"{kind.mean_us:,.4g}" for kind in kinds[:_MOST_NAMED]]
    more = len(kinds) - len(named)
    return f"{', '.join(named)} µs" + (f" and {more} more" if more > 0 else "")
