"""Limits of a capture: ready times between samples, and several dies on one pin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from writeamp.drives.pins import mixture
from writeamp.drives.pins.capture import Durations, Pin, PinCapture, pooled
from writeamp.drives.pins.device_facts import PinFacts
from writeamp.drives.pins.mixture import DurationMixture

# The standard deviation of one kind of operation is less than this share of its mean. A broader
# component may be overlapping operations.
_BROAD = 0.2
# Pulses longer than the longest known operation times this factor cannot be single operations.
_LONGER = 1.3
# Observing this share of the expected overlapping pulses is enough evidence that dies share a pin,
# as some overlaps look like normal pulses.
_SEEN_OVERLAP = 0.1
_LEAST_STRANGE = 5
# Share of unexpected pulses that is enough evidence that dies share a pin, even if erases are so
# long that no pulse exceeds them.
_MANY_STRANGE = 0.01
# No command can be sent in a shorter time, so shorter ready times are treated as busy.
SHORTEST_GAP_US = 0.05
# Common sampling rates of logic analysers, in MHz, with a period longer than `SHORTEST_GAP_US`.
_RATES_MHZ = (0.1, 0.2, 0.25, 0.5, 1, 2, 4, 5, 6, 8, 10, 12, 12.5, 16)
# If a sampling period has fewer units of the file's times than this, it cannot be detected, and the
# unit itself is taken as the period.
_UNITS_A_PERIOD = 8
# A sampling period is accepted if this share of the intervals are its multiples, apart from
# rounding. There must also be this number of different intervals, or two with few samples each.
_ON_SAMPLES = 0.999
_DIFFERENT = 4
_FEW_SAMPLES = 8
# If more ready times than this share of the pulses may have been missed, a warning is given.
_MANY_MISSED_GAPS = 1e-4
# A longer sampling period, in µs, cannot resolve reads or short gaps, so a warning is given.
_COARSE_US = 0.1


@dataclass(frozen=True)
class Overlap:
    """Evidence for several dies on a pin.

    Attributes:
        pulses: number of all pulses.
        longer: pulses that are longer than any operation.
        strange: pulses that fit no kind of operation, including the longer ones.
        implied: expected number of overlapping pulses if two dies shared each pin at this load.
        most_programs: number of programs if two dies shared each pin and were always programming
            while busy.
    """

    pulses: int
    longer: float
    strange: float
    implied: float
    most_programs: float

    @property
    def is_likely(self) -> bool:
        """Whether unexpected pulses are as frequent as with two dies on a pin."""
        enough = max(_LEAST_STRANGE, _SEEN_OVERLAP * self.implied)
        is_seen = self.longer > 0 or self.strange > _MANY_STRANGE * self.pulses
        return is_seen and self.strange >= enough


def overlap(
    fitted: DurationMixture,
    pulses: Durations,
    pins: Sequence[Pin],
    seconds: float,
    facts: PinFacts,
) -> Overlap:
    """Return the evidence that each pin is shared by several dies.

    Args:
        fitted: mixture fitted to all pulses.
        pulses: durations of all pulses.
        pins: the counted pins.
        seconds: length of the capture, in s.
        facts: facts of the drive, with its operation times.
    """
    number = pulses.count.astype(float)
    is_broad = fitted.sd_us > _BROAD * fitted.mean_us
    of_component = fitted.responsibilities(pulses.low_us, pulses.high_us)
    is_strange = mixture.unexplained(fitted, pulses)
    is_strange = np.maximum(is_strange, of_component[:, is_broad].sum(axis=1))
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
    """Return the time between samples in µs, or None if it is unknown.

    It may exceed the unit of the file's times: captures of 10 MHz analysers are often in ns.
    """
    unit_us = capture.resolution_us or 1e-3
    parts = [durations for pin in capture.pins for durations in (pin.durations, pin.gaps)]
    times = pooled(parts)
    # Longer times are in bins that are 0.1% wide. These are wider than a sampling period, so they
    # do not show it.
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
    """Return an upper bound of the number of ready times that fell between two samples.

    A ready time g below the sampling period T is sampled once with probability g/T, else never. If
    no ready time is below s, at most (T − s)/s were missed for each observed one.
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
    """Return warnings about short gaps, coarse times, and dies without a pin or pulse.

    Args:
        capture: the capture.
        used: the counted pins.
        shown: the reported pins.
        facts: facts of the drive.
        period_us: time between two samples in µs; None if the capture is not sampled.
        missed: upper bound of the number of missed ready times (`most_missed`).
    """
    warnings = []
    pulses = sum(pin.durations.total for pin in capture.pins)
    if period_us is not None and missed > _MANY_MISSED_GAPS * pulses:
        gaps = _gaps(capture, 2.5 * period_us).total
        warnings.append(
            f"{gaps:,} times, a pin was ready between two operations for at most two samples "
            f"of {period_us:g} µs; up to {missed:,.0f} shorter gaps may be missed, where two "
            "operations count as one. Sample faster"
        )
    if period_us is not None and period_us > _COARSE_US:
        warnings.append(
            f"the capture is sampled every {period_us:g} µs; precise counts need at least 10 MHz "
            "(0.1 µs)"
        )
    if len(used) < facts.dies:
        spread = (
            "the interval includes the variation of dies"
            if len(shown) > 1
            else "the variation of dies is unknown and not in the interval"
        )
        warnings.append(
            f"{len(used)} of {facts.dies} dies are counted, and the others are assumed to be "
            f"equal; {spread}"
        )
    silent = [pin.name for pin in used if pin.durations.total == 0]
    if silent:
        warnings.append(f"no operation was seen on {', '.join(silent)}")
    return warnings


def _gaps(capture: PinCapture, below_us: float) -> Durations:
    gaps = pooled([pin.gaps for pin in capture.pins])
    return gaps.where(gaps.middle_us < below_us)
