"""Limits of a capture: ready times between samples, and operations of dies on one pin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from writeamp.drives.pins import mixture
from writeamp.drives.pins.capture import Durations, Pin, PinCapture, pooled
from writeamp.drives.pins.device_facts import PinFacts
from writeamp.drives.pins.mixture import BellMixture

# Operations of one kind scatter less about their mean, as a share of it.
_BROAD = 0.2
# Pulses as much longer than the longest operation are none.
_LONGER = 1.3
# Pulses that overlap hide each other or are strange; so many of those that load implies are enough.
_SEEN_OVERLAP = 0.1
_LEAST_STRANGE = 5
# Without longer pulses, where erases are so much longer than programs.
_MANY_STRANGE = 0.01
# No command fits into less: what is shorter is bridged.
SHORTEST_GAP_US = 0.05
# Rates at which analysers sample more slowly than that, in MHz.
_RATES_MHZ = (0.1, 0.2, 0.25, 0.5, 1, 2, 4, 5, 6, 8, 10, 12, 12.5, 16)
# A period that is finer in units of the file's times is the unit itself.
_UNITS_A_PERIOD = 8
# Intervals that lie on the samples, but for rounding; as many different ones, or two of a few
# samples each, are no accident.
_ON_SAMPLES = 0.999
_DIFFERENT = 4
_FEW_SAMPLES = 8
# More ready times than this share of the pulses may not have been seen.
_MANY_MISSED_GAPS = 1e-4
# A sampling that is coarser than this cannot tell reads from each other, or short gaps at all.
_COARSE_US = 0.1


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
    bells: BellMixture,
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


def sample_us(capture: PinCapture) -> float | None:
    """Return the time between samples, which may be longer than the unit of the file's times.

    Analysers of 10 MHz are often written in ns. None where neither is known.
    """
    unit_us = capture.resolution_us or 1e-3
    parts = [part for pin in capture.pins for part in (pin.durations, pin.gaps)]
    times = pooled(parts)
    # Longer times are in bins of 0.1%, which tell nothing of samples.
    times = times.where(times.high_us - times.low_us < 1.5 * unit_us)
    for rate_mhz in _RATES_MHZ:
        if unit_us * _UNITS_A_PERIOD > 1 / rate_mhz or times.total == 0:
            continue
        samples = np.round(times.middle_us * rate_mhz)
        is_on = np.abs(times.middle_us - samples / rate_mhz) < 1.5 * unit_us
        different = np.unique(samples)
        is_no_accident = different.size >= _DIFFERENT or (different < _FEW_SAMPLES).sum() > 1
        if is_no_accident and times.where(is_on).total >= _ON_SAMPLES * times.total:
            return 1 / rate_mhz
    return capture.resolution_us


def most_missed(capture: PinCapture, period_us: float) -> float:
    """Return a bound of the ready times that fell between two samples.

    A ready time g below the period T shows one sample with probability g/T, else none. If none is
    below the shortest, s, there were at most (T − s)/s missed for each that was seen so.
    """
    if period_us <= SHORTEST_GAP_US:
        return 0.0
    seen = _gaps(capture, 1.5 * period_us).total
    return seen * (period_us - SHORTEST_GAP_US) / SHORTEST_GAP_US


def capture_warnings(
    capture: PinCapture,
    used: tuple[Pin, ...],
    shown: tuple[Pin, ...],
    facts: PinFacts,
    *,
    period_us: float | None,
    missed: float,
) -> list[str]:
    """Return what a capture may not show: short gaps, coarse times, dies without a pin or pulse.

    Args:
        capture: the capture.
        used: pins that are counted.
        shown: pins that are reported.
        facts: of the drive.
        period_us: between two samples; None if the capture is not sampled.
        missed: the most gaps that may not have been seen.
    """
    found = []
    pulses = sum(one.durations.total for one in capture.pins)
    if period_us is not None and missed > _MANY_MISSED_GAPS * pulses:
        gaps = _gaps(capture, 2.5 * period_us).total
        found.append(
            f"{gaps:,} times a pin was ready between two operations for no more than two samples "
            f"of {period_us:g} µs; up to {missed:,.0f} shorter gaps may not be seen, and two "
            "operations then count as one of about their sum: sample faster"
        )
    if period_us is not None and period_us > _COARSE_US:
        found.append(
            f"the capture is sampled every {period_us:g} µs; counts are as good as stated from 10 "
            "MHz (0.1 µs) on"
        )
    if len(used) < facts.dies:
        spread = (
            "how far dies differ is in the interval"
            if len(shown) > 1
            else "how far dies differ is not known and not in the interval"
        )
        found.append(
            f"{len(used)} of {facts.dies} dies are counted, and the others taken to be alike; "
            f"{spread}"
        )
    silent = [one.name for one in used if one.durations.total == 0]
    if silent:
        found.append(f"no operation was seen on {', '.join(silent)}")
    return found


def _gaps(capture: PinCapture, below_us: float) -> Durations:
    gaps = pooled([pin.gaps for pin in capture.pins])
    return gaps.where(gaps.middle_us < below_us)
