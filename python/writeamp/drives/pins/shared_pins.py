"""Shared pins: several dies pull one down, so that overlapping operations are one pulse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from writeamp.drives.pins import mixture
from writeamp.drives.pins.capture import Durations, Pin
from writeamp.drives.pins.device_facts import PinFacts
from writeamp.drives.pins.mixture import Mixture

# Operations of one kind scatter less about their mean, as a share of it.
_BROAD = 0.2
# Pulses as much longer than the longest operation are none.
_LONGER = 1.3
# Pulses that overlap hide each other or are strange; so many of those that load implies are enough.
_SEEN_OVERLAP = 0.1
_LEAST_STRANGE = 5
# Without longer pulses, where erases are so much longer than programs.
_MANY_STRANGE = 0.01


@dataclass(frozen=True)
class Overlap:
    """Evidence for several dies on a pin.

    Attributes:
        pulses: all that were seen.
        longer: pulses that are longer than any operation.
        strange: pulses that scatter as no kind of operation does, those included.
        implied: pulses that would overlap if two dies shared each pin at this load.
        most_programs: programs of two such dies, if all of their busy time were programs.
    """

    pulses: int
    longer: float
    strange: float
    implied: float
    most_programs: float

    @property
    def is_likely(self) -> bool:
        """Whether pulses are strange as often as two dies on a pin would make them."""
        enough = max(_LEAST_STRANGE, _SEEN_OVERLAP * self.implied)
        is_seen = self.longer > 0 or self.strange > _MANY_STRANGE * self.pulses
        return is_seen and self.strange >= enough


def overlap(
    bells: Mixture,
    pulses: Durations,
    pins: Sequence[Pin],
    seconds: float,
    facts: PinFacts,
) -> Overlap:
    """Return the evidence for several dies on each of the pins.

    Args:
        bells: the mixture of all pulses.
        pulses: the durations of all pins.
        pins: the pins that are counted.
        seconds: length of the capture.
        facts: the drive's times.
    """
    number = pulses.count.astype(float)
    is_broad = bells.sd_us > _BROAD * bells.mean_us
    of_bell = bells.responsibilities(pulses.low_us, pulses.high_us)
    is_strange = mixture.unexplained(bells, pulses)
    is_strange = np.maximum(is_strange, of_bell[:, is_broad].sum(axis=1))
    known_us = facts.program_us + facts.erase_us
    longest_us = _LONGER * max(known_us) if known_us else math.inf
    is_longer = pulses.middle_us > longest_us
    unread = sum(pin.repairs.get("long_pulses", 0) for pin in pins)
    # Two dies that are busy for a share b each leave the pin ready for (1 − b)².
    busy = [1 - math.sqrt(1 - min(pin.busy_share, 1.0)) for pin in pins]
    implied = sum(share * pin.durations.total for share, pin in zip(busy, pins, strict=True))
    most = 2e6 * seconds * sum(busy) / float(np.mean(facts.program_us)) if facts.program_us else 0.0
    return Overlap(
        pulses=pulses.total,
        longer=float(number[is_longer].sum()) + unread,
        strange=float(number @ np.maximum(is_strange, is_longer)) + unread,
        implied=implied,
        most_programs=most,
    )
