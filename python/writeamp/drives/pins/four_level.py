"""Counts of operations, and paper 5's write amplification from them.

Section III, equations 2 and 3: WA = N_channel·N_chip·N_die·(N_Tprogram·M_p)·P_a / L, with
N_Tprogram the programs of one pin; or the sum over the pins in the place of
N_channel·N_chip·N_die·N_Tprogram.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

from writeamp.drives.pins.capture import Durations, Floats
from writeamp.drives.pins.classes import CLASSES, Shares
from writeamp.drives.pins.device_facts import PinFacts
from writeamp.drives.pins.doubts import Doubt, width
from writeamp.results.any_result import AnyResult, OlderName

_Z95 = 1.959964
# Who is so sure of an operation's class is rarely wrong.
_SURE = 0.99


@dataclass(frozen=True)
class Count:
    """Count of operations, with its error and the share that is sure.

    Attributes:
        value: the sum of the probabilities, so no whole number.
        error: standard error, from operations that may be of two classes.
        sure_share: share of the operations whose probability is above 0.99.
    """

    value: float
    error: float
    sure_share: float


@dataclass(frozen=True)
class FourLevel(AnyResult):
    """Write amplification by one method.

    Attributes:
        wa: flash bytes programmed over host bytes written.
        programs, reads, erases: operations of all dies, extrapolated where not all were captured.
        flash_bytes: programs × bytes of a program.
        by_pin: counts of each captured pin by class.
        spread: mean, standard deviation, least and most programs of the captured dies; None of one.
        ci: the 95% interval of `wa`: errors of classes, doubts and, if not all dies are counted,
            the spread between those that were captured.
    """

    wa: float
    programs: int
    reads: int
    erases: int
    flash_bytes: int
    by_pin: dict[str, dict[str, Count]]
    spread: dict[str, float] | None
    ci: tuple[float, float] = (math.nan, math.nan)

    wa_ci95 = OlderName(attrgetter("ci"))

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers that both methods have, as JSON types."""
        return {
            "wa": self.wa,
            "wa_ci95": list(self.ci),
            "programs": self.programs,
            "reads": self.reads,
            "erases": self.erases,
            "flash_bytes": self.flash_bytes,
        }


def count(durations: Durations, shares: Shares) -> dict[str, Count]:
    """Return the operations of each class among binned durations with their probabilities."""
    found = {}
    number = durations.count.astype(float)
    for name in CLASSES:
        share = shares[name]
        value = float(number @ share)
        error = math.sqrt(float(number @ (share * (1 - share))))
        sure = float(number[share > _SURE].sum())
        found[name] = Count(value, error, min(1.0, sure / value) if value > 0 else 1.0)
    return found


def four_level(
    by_pin: dict[str, dict[str, Count]],
    used: Sequence[str],
    facts: PinFacts,
    host_bytes: float,
    doubts: Sequence[Doubt] = (),
) -> FourLevel:
    """Return the write amplification of a drive by some of its pins, or all.

    Args:
        by_pin: counts of each captured pin by class.
        used: the pins that are counted; the others only show how far dies differ.
        facts: the drive's levels.
        host_bytes: bytes that the host wrote meanwhile, L.
        doubts: about the programs of the pins that are counted.
    """
    scale = facts.dies / len(used)
    sums = {name: scale * sum(by_pin[pin][name].value for pin in used) for name in CLASSES}
    programs = round(sums["program"])
    wa_a_program = facts.program_bytes / host_bytes
    programs_of_pin = np.array([counts["program"].value for counts in by_pin.values()])
    half_width = _half_width([by_pin[pin] for pin in used], programs_of_pin, facts)
    too_many, missing = width(doubts)
    return FourLevel(
        wa=programs * wa_a_program,
        programs=programs,
        reads=round(sums["read"]),
        erases=round(sums["erase"]),
        flash_bytes=programs * facts.program_bytes,
        by_pin=by_pin,
        spread=_spread(programs_of_pin),
        ci=(
            max(0.0, sums["program"] - half_width - scale * too_many) * wa_a_program,
            (sums["program"] + half_width + scale * missing) * wa_a_program,
        ),
    )


def _half_width(
    used: Sequence[dict[str, Count]],
    programs_of_pin: Floats,
    facts: PinFacts,
) -> float:
    """Return the half width of the 95% interval of all programs."""
    variance = sum(counts["program"].error ** 2 for counts in used)
    variance *= (facts.dies / len(used)) ** 2
    if len(used) < facts.dies and programs_of_pin.size > 1:
        # A sample without replacement: the dies that are counted, of all.
        between = float(programs_of_pin.var(ddof=1))
        variance += facts.dies**2 * (1 - len(used) / facts.dies) * between / len(used)
    # No count is known better than to one operation.
    return max(_Z95 * math.sqrt(variance), facts.dies / len(used))


def _spread(programs_of_pin: Floats) -> dict[str, float] | None:
    if programs_of_pin.size == 1:
        return None
    mean = float(programs_of_pin.mean())
    sd = float(programs_of_pin.std(ddof=1))
    return {
        "mean": mean,
        "sd": sd,
        "relative_sd": sd / mean if mean > 0 else 0.0,
        "min": float(programs_of_pin.min()),
        "max": float(programs_of_pin.max()),
    }
