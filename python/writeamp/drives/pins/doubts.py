"""Doubts about counts: bounds of the programs that are counted wrongly or are missing.

The statistics of a mixture do not cover these errors. Each doubt is a bound rather than a standard
deviation, so doubts are added to an interval, not to a variance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from writeamp.drives.pins import mixture
from writeamp.drives.pins.capture import Durations, Floats
from writeamp.drives.pins.classes import (
    CLASSES,
    MOST_READS,
    Classification,
    OperationKind,
    Shares,
    shares,
)
from writeamp.drives.pins.mixture import DurationMixture

# Name of the doubt about retried reads that may be counted as programs.
RETRIES = "retries_among_programs"
# If the ratio of a kind's peak to the valley between it and its neighbour is lower than this, the
# kind may only be the flank of its neighbour.
_PEAK_OVER_VALLEY = 1.25
_VALLEY_STEPS = 200
# If fewer retries than this are expected at a time, no further retries are assumed among programs.
_LEAST_RETRIES = 0.5
# Nearly all of a component lies within this number of standard deviations. Retries are assumed
# there only if the programs there are at least the second value times the expected retries.
_COMPONENT_DEVIATIONS = 3.0
_PART_OF_A_BELL = 0.3
# The number of reads decreases about geometrically with the number of retries. This multiple of the
# expected number is used as an upper bound.
_RETRIES_BOUND = 2.0
# A component searched at an expected time must increase the log-likelihood by this many nats.
_GAIN_NATS = 4.0
# A component counts as erases if its mean differs from the drive's erase time by less than the
# first share, and its relative standard deviation is below the second value.
_AWAY = 0.2
_BROADEST = 0.12
# Assumed means (relative to the drive's erase time) and relative widths of erases that no component
# shows.
_PLACES = np.linspace(0.88, 1.12, 13)
_SPREADS = (0.015, 0.03, 0.045)
# Decrease of the log-likelihood at the bound of hidden erases, in nats: about 2.5 standard
# deviations. It is wide because the components were fitted to the hidden erases, too.
_BOUND_NATS = 3.0
_SHARES = np.concatenate(([0.0], np.geomspace(1e-6, 0.3, 120)))


@dataclass(frozen=True)
class Doubt:
    """Counted programs that may be other operations, and possibly missing programs.

    Attributes:
        name: kind of doubt, as a key of JSON.
        too_many: number of counted programs that may be other operations.
        missing: number of programs that may not be counted.
    """

    name: str
    too_many: float
    missing: float


def of_mixture(
    fitted: DurationMixture,
    reading: Classification,
    pulses: Durations,
    of_class: Shares,
    hidden_erases: float,
) -> list[Doubt]:
    """Return the doubts about the programs that a mixture counts among the pulses of its fit.

    Args:
        fitted: the mixture.
        reading: classification of its components.
        pulses: durations, n bins.
        of_class: probability of each class for each bin, shape (n,) each.
        hidden_erases: bound of the erases that are classified as programs.
    """
    number = pulses.count.astype(float)
    programs = number * of_class["program"]
    stray = number * mixture.unexplained(fitted, pulses)
    total = pulses.total
    strange = [kind for kind in reading.kinds if not kind.is_known]
    strange_programs = total * sum(kind.share for kind in strange if kind.of_class == "program")
    # Components are inexact, especially in their tails, so probabilities there may be wrong.
    overlap = float(number @ np.minimum(of_class["program"], 1 - of_class["program"]))
    return [
        Doubt("overlapping_tails", overlap, overlap),
        # A pulse that no component explains may be zero, one, or two overlapping programs.
        Doubt("unexplained_pulses", float(stray @ of_class["program"]), float(stray.sum())),
        Doubt("hidden_erases", hidden_erases, 0.0),
        Doubt("strange_times", strange_programs, total * sum(kind.share for kind in strange)),
        Doubt(RETRIES, _hidden_retries(fitted, reading, pulses, programs), 0.0),
        _flanks(fitted, reading, total),
    ]


def of_window(
    window_us: tuple[float, float],
    reading: Classification,
    pulses: Durations,
    of_kind: Floats,
    hidden_erases: float,
) -> list[Doubt]:
    """Return the doubts about the programs that a fixed window counts, according to the mixture.

    An edge of the window may cut the tail of a kind, and erases may lie inside the window (paper 5,
    section III C). A kind with its mean on the wrong side of an edge is a contradiction of the two
    methods rather than a doubt.

    Args:
        window_us: window of programs, in µs.
        reading: classification of the components.
        pulses: durations, n bins.
        of_kind: probability of each kind of operation for each bin, shape (n, k).
        hidden_erases: bound of the erases that are classified as programs.
    """
    low_us, high_us = window_us
    middle_us = pulses.middle_us
    is_inside = (middle_us > low_us) & (middle_us < high_us)
    number = pulses.count.astype(float)
    too_many, missing = 0.0, 0.0
    for kind, share in zip(reading.kinds, of_kind.T, strict=True):
        is_kind_inside = low_us < kind.mean_us < high_us
        if kind.of_class == "program":
            missing += float(number @ (share * ~is_inside)) if is_kind_inside else 0.0
        elif not is_kind_inside or (kind.of_class == "erase" and kind.is_known):
            too_many += float(number @ (share * is_inside))
    return [
        Doubt("edges_and_erases", too_many, missing),
        Doubt("hidden_erases", hidden_erases, 0.0),
    ]


def width(doubts: Iterable[Doubt]) -> tuple[float, float]:
    """Return how far doubts extend an interval downward and upward, in programs."""
    all_doubts = list(doubts)
    return sum(doubt.too_many for doubt in all_doubts), sum(doubt.missing for doubt in all_doubts)


def _flanks(fitted: DurationMixture, reading: Classification, total: int) -> Doubt:
    """Return the doubt about kinds that have no peak separate from a kind of another class."""
    too_many, missing = 0.0, 0.0
    for shorter, longer in zip(reading.kinds, reading.kinds[1:], strict=False):
        if shorter.of_class == longer.of_class or "program" not in (
            shorter.of_class,
            longer.of_class,
        ):
            continue
        if _is_flank(fitted, shorter, longer):
            smaller = min(shorter, longer, key=lambda kind: kind.share)
            if smaller.of_class == "program":
                too_many += total * smaller.share
            else:
                missing += total * smaller.share
    return Doubt("no_peak_of_their_own", too_many, missing)


def _is_flank(fitted: DurationMixture, kind: OperationKind, other: OperationKind) -> bool:
    """Return whether there is almost no valley between two kinds."""
    edges_us = np.linspace(kind.mean_us, other.mean_us, _VALLEY_STEPS + 1)
    steps = Durations(edges_us[:-1], edges_us[1:], np.ones(_VALLEY_STEPS, np.uint64))
    height = mixture.density(fitted, steps)
    lower_peak = min(_highest(height, 0), _highest(height, -1))
    return bool(height.min() * _PEAK_OVER_VALLEY > lower_peak)


def _highest(height: Floats, end: int) -> float:
    """Return the greatest density in the first (end 0) or last (−1) quarter between two kinds."""
    near = height[: _VALLEY_STEPS // 4] if end == 0 else height[-_VALLEY_STEPS // 4 :]
    return float(near.max())


def _hidden_retries(
    fitted: DurationMixture, reading: Classification, pulses: Durations, programs: Floats
) -> float:
    """Return an upper bound of the reads that took as long as a program because of retries.

    Reads with more retries than the longest observed kind are either counted as programs, or do not
    exist.
    """
    tried = {kind.reads: kind for kind in reading.of("read") if kind.is_known}
    most = max(tried, default=1)
    if most == 1 or 1 not in tried:
        return 0.0
    previous = tried[max(reads for reads in tried if reads < most)]
    again = min(1.0, tried[most].share / previous.share)
    last = tried[most]
    hidden, left = 0.0, pulses.total * last.share
    spread_us = float(fitted.sd_us[list(last.components)].max())
    for reads in range(most + 1, MOST_READS + 1):
        at_us = last.mean_us * reads / most
        left *= again
        near = np.abs(pulses.middle_us - at_us) < _COMPONENT_DEVIATIONS * spread_us
        there = float(programs[near].sum())
        if left < _LEAST_RETRIES or there < _PART_OF_A_BELL * left:
            break
        hidden += min(there, _RETRIES_BOUND * left)
    return hidden


def of_capture(cut: int, most_missed: float) -> list[Doubt]:
    """Return the doubts about a capture that apply to both methods.

    Args:
        cut: number of operations of unknown length, each of which may be a program.
        most_missed: greatest number of ready times that the capture may have missed; each joins two
            operations into one.
    """
    return [Doubt("cut_operations", 0.0, cut), Doubt("unseen_ready_times", 0.0, most_missed)]


def with_erases(
    fitted: DurationMixture, pulses: Durations, erase_us: tuple[float, ...]
) -> DurationMixture | None:
    """Return the mixture with an added component of erases near one of the erase times, or None."""
    best = None
    for time_us in erase_us:
        extended = mixture.with_component(fitted, pulses, time_us)
        gain = mixture.likelihood(extended, pulses) - mixture.likelihood(fitted, pulses)
        away = np.abs(extended.mean_us / time_us - 1)
        at = int(away.argmin())
        is_erase = away[at] < _AWAY
        is_narrow = extended.sd_us[at] < _BROADEST * extended.mean_us[at]
        if gain > _GAIN_NATS and is_erase and is_narrow and (best is None or gain > best[0]):
            best = (gain, extended)
    return None if best is None else best[1]


def most_hidden(
    fitted: DurationMixture, reading: Classification, pulses: Durations, erase_us: tuple[float, ...]
) -> float:
    """Return an upper bound of the erases that are classified as programs.

    Components of erases with many means and widths are added to the mixture. The bound is the
    largest number of erases that the likelihood does not exclude, at most the number of programs.
    """
    binned = mixture.coarser(pulses)
    expected = mixture.density(fitted, binned)
    programs = shares(reading, fitted.responsibilities(binned.low_us, binned.high_us))[CLASSES[1]]
    number = binned.count.astype(float)
    most = 0.0
    for time_us in erase_us:
        for place in _PLACES:
            for spread in _SPREADS:
                mean_us = place * time_us
                component = _component(fitted, mean_us, spread * mean_us)
                mass = mixture.density(replace(component, background=0.0), binned)
                near = np.abs(binned.middle_us - mean_us) < 3 * spread * mean_us
                there = float(number @ (programs * near))
                if there > most:
                    most = max(
                        most, min(there, binned.total * _largest_share(number, mass / expected))
                    )
    return most


def _component(like: DurationMixture, mean_us: float, sd_us: float) -> DurationMixture:
    single = (np.array([mean_us]), np.array([sd_us]), np.array([1.0]))
    return DurationMixture(like.shape, *single, 0.0, math.inf)


def _largest_share(number: Floats, ratio: Floats) -> float:
    """Return the largest share that the likelihood allows for an additional component.

    Args:
        number: number of durations in each bin.
        ratio: density of the component in each bin, divided by the mixture's density.
    """
    steps = np.log1p(_SHARES[:, None] * (ratio - 1))
    nats = steps @ number
    left = np.flatnonzero(nats > nats.max() - _BOUND_NATS)
    return float(_SHARES[min(left[-1] + 1, _SHARES.size - 1)])
