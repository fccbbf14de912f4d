"""Hidden erases: too few for a bell of their own, among the programs of a mixture."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from writeamp.drives.pins import mixture
from writeamp.drives.pins.capture import Durations, Floats
from writeamp.drives.pins.classes import CLASSES, Reading, shares
from writeamp.drives.pins.mixture import Mixture

# A bell that is sought where it must be gains this many nats of the likelihood, or is none.
_GAIN_NATS = 4.0
# A bell within this share of the stated time is one of erases, if it is no broader than that.
_AWAY = 0.2
_BROADEST = 0.12
# Where else erases may be without a bell that shows them, and how they scatter about their mean.
_PLACES = np.linspace(0.88, 1.12, 13)
_SPREADS = (0.015, 0.03, 0.045)
# A bound of two and a half standard deviations: the bells have had a chance to hide the erases.
_BOUND_NATS = 3.0
_SHARES = np.concatenate(([0.0], np.geomspace(1e-6, 0.3, 120)))


def with_erases(bells: Mixture, pulses: Durations, erase_us: tuple[float, ...]) -> Mixture | None:
    """Return the mixture with a bell of erases about the stated times, if there is one."""
    best = None
    for time_us in erase_us:
        found = mixture.with_bell(bells, pulses, time_us)
        gain = mixture.likelihood(found, pulses) - mixture.likelihood(bells, pulses)
        away = np.abs(found.mean_us / time_us - 1)
        at = int(away.argmin())
        is_erase = away[at] < _AWAY
        is_narrow = found.sd_us[at] < _BROADEST * found.mean_us[at]
        if gain > _GAIN_NATS and is_erase and is_narrow and (best is None or gain > best[0]):
            best = (gain, found)
    return None if best is None else best[1]


def most_hidden(
    bells: Mixture, reading: Reading, pulses: Durations, erase_us: tuple[float, ...]
) -> float:
    """Return a bound of the erases among what is read as programs.

    For bells of erases of many means and widths, the largest share that the durations do not
    refute, by the likelihood; at most the programs that are there.
    """
    binned = mixture.coarser(pulses)
    found = mixture.density(bells, binned)
    programs = shares(reading, bells.responsibilities(binned.low_us, binned.high_us))[CLASSES[1]]
    number = binned.count.astype(float)
    most = 0.0
    for time_us in erase_us:
        for place in _PLACES:
            for spread in _SPREADS:
                mean_us = place * time_us
                bell = _bell(bells, mean_us, spread * mean_us)
                mass = mixture.density(replace(bell, background=0.0), binned)
                near = np.abs(binned.middle_us - mean_us) < 3 * spread * mean_us
                there = float(number @ (programs * near))
                if there > most:
                    most = max(
                        most, min(there, binned.total * _largest_share(number, mass / found))
                    )
    return most


def _bell(like: Mixture, mean_us: float, sd_us: float) -> Mixture:
    one = (np.array([mean_us]), np.array([sd_us]), np.array([1.0]))
    return Mixture(like.shape, *one, 0.0, math.inf)


def _largest_share(number: Floats, ratio: Floats) -> float:
    """Return the largest share of a bell whose density is `ratio` times that of the mixture."""
    steps = np.log1p(_SHARES[:, None] * (ratio - 1))
    nats = steps @ number
    left = np.flatnonzero(nats > nats.max() - _BOUND_NATS)
    return float(_SHARES[min(left[-1] + 1, _SHARES.size - 1)])
