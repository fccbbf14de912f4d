"""Programs as paper 5 counts them: low times of Ready/Busy pins in a window (section III)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from writeamp.drives.pins import classes
from writeamp.drives.pins.capture import read
from writeamp.drives.pins.device_facts import PinFacts
from writeamp.drives.pins.four_level import count, four_level


@dataclass(frozen=True)
class PinCounts:
    """Programs that a capture of the pins shows.

    Attributes:
        facts: the four levels of the drive.
        programs_by_pin: low times within the window of programs, of each pin that was captured.
        low_times: all low times.
    """

    facts: PinFacts
    programs_by_pin: tuple[float, ...]
    low_times: int
    host_bytes: float
    wa: float
    """Of all pins, each by its own count."""
    wa_by_one: float
    """Of the first pin, to which all others are taken to be alike (eq. 2)."""

    @property
    def spread_of_dies(self) -> float:
        """Programs of the die that has most over their mean."""
        return max(self.programs_by_pin) * len(self.programs_by_pin) / sum(self.programs_by_pin)

    @property
    def active_share(self) -> float:
        """Share of the pins with a program."""
        return sum(programs > 0 for programs in self.programs_by_pin) / len(self.programs_by_pin)


def count_pins(path: str | os.PathLike[str], facts: PinFacts, host_bytes: float) -> PinCounts:
    """Count the programs of a capture, and work out write amplification by eq. 2.

    Args:
        path: a capture of all pins, or of some that stand for all.
        facts: the drive's levels and window of programs.
        host_bytes: L_Volume_Data.
    """
    pins = read(path).pins
    window_us = facts.fixed_window_us()
    by_pin = {
        pin.name: count(pin.durations, classes.window_shares(pin.durations, window_us))
        for pin in pins
    }

    def wa_by(names: Sequence[str]) -> float:
        return four_level(by_pin, names, facts, host_bytes).wa

    names = list(by_pin)
    return PinCounts(
        facts,
        tuple(by_pin[name]["program"].value for name in names),
        sum(pin.durations.total for pin in pins),
        host_bytes,
        wa_by(names),
        wa_by(names[:1]),
    )
