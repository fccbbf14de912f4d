"""Ready times between operations, and how many were too short for the analyser to see."""

from __future__ import annotations

import numpy as np

from writeamp.drives.pins.capture import Capture, Durations, pooled

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


def sample_us(capture: Capture) -> float | None:
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


def short_gaps(capture: Capture, period_us: float) -> int:
    """Return the ready times of no more than two samples."""
    return _gaps(capture, 2.5 * period_us).total


def most_missed(capture: Capture, period_us: float) -> float:
    """Return a bound of the ready times that fell between two samples.

    A ready time g below the period T shows one sample with probability g/T, else none. If none is
    below the shortest, s, there were at most (T − s)/s missed for each that was seen so.
    """
    if period_us <= SHORTEST_GAP_US:
        return 0.0
    seen = _gaps(capture, 1.5 * period_us).total
    return seen * (period_us - SHORTEST_GAP_US) / SHORTEST_GAP_US


def _gaps(capture: Capture, below_us: float) -> Durations:
    gaps = pooled([pin.gaps for pin in capture.pins])
    return gaps.where(gaps.middle_us < below_us)
