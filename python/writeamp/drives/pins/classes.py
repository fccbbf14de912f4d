"""Classification of operations as reads, programs or erases, by a mixture or a fixed window."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import TypeAlias

import numpy as np

from writeamp.drives.pins.capture import Durations, Floats
from writeamp.drives.pins.device_facts import PinFacts
from writeamp.drives.pins.mixture import DurationMixture
from writeamp.errors import WriteampError

CLASSES = ("read", "program", "erase")

# Probability of each class (read, program, erase) for each bin of durations, shape (n,) each. The
# probabilities of a bin add up to 1.
Shares: TypeAlias = dict[str, Floats]

# Ranges of operation times for NAND flash of all types, used if the drive's times are unknown.
_USUAL_US = {"read": (5.0, 150.0), "program": (150.0, 3000.0), "erase": (1500.0, 20_000.0)}
# Components with means within this many standard deviations form one kind of operation, whose
# durations are not normally distributed.
_ONE_KIND_DEVIATIONS = 1.5
# Cost of a classification: the logarithm of the ratio of a kind's mean to the nearest known time.
# Inside the program window, a program costs at most this.
_WINDOW_DISTANCE = 0.3
# Two times count as near if the logarithm of their ratio is below this: operations of one kind vary
# that much between chips.
_NEAR = 0.25
# Relative tolerance of a retried read, which takes a whole multiple of a read's time.
_MULTIPLE = 0.05
MOST_READS = 12
# Cost of calling pulses programs although the drive has no program time near theirs. It is added
# only if other pulses match every program time of the drive: a further time is then implausible.
_STRANGE_PROGRAM = 0.7
# Blocks have more pages than this number, so more than one erase per this number of programs is
# implausible.
_PROGRAMS_AN_ERASE = 16
# If two classifications differ in their programs, and their costs differ by less than this, the
# class is ambiguous.
_LEAST_MARGIN = 0.15
_SAME_PROGRAMS = 1e-3


@dataclass(frozen=True)
class OperationKind:
    """Kind of operation, such as reads of one page type: one or more mixture components.

    Attributes:
        components: indices of the components.
        mean_us: mean duration, in µs.
        share: share of all durations.
        of_class: assigned class: read, program or erase.
        is_known: whether the device has operations of that class with about that time, and no other
            classification fits nearly as well.
        reads: number of reads in one busy time, above 1 for a retried read; 0 for other classes.
    """

    components: tuple[int, ...]
    mean_us: float
    share: float
    of_class: str = ""
    is_known: bool = True
    reads: int = 0


@dataclass(frozen=True)
class Classification:
    """Class of every mixture component, and the margin over the next best classification.

    Attributes:
        of_component: class of each component.
        margin: difference of costs (logarithms of ratios of durations) to the next best
            classification with other programs; infinite if there is none.
        kinds: the components as kinds of operations, shortest first.
    """

    of_component: tuple[str, ...]
    margin: float
    kinds: tuple[OperationKind, ...] = ()

    def of(self, of_class: str) -> list[OperationKind]:
        """Return the kinds of a class."""
        return [kind for kind in self.kinds if kind.of_class == of_class]


def classify(mixture: DurationMixture, facts: PinFacts) -> Classification:
    """Return the class of each component, by times of the device or by usual times.

    Reads are assumed to be no longer than programs, and programs no longer than erases. Of all ways
    to divide the kinds in this order, the one closest to the known times is chosen. Erases should
    be at most 1/16 of the programs. Retried reads take a multiple of a read's time. A kind with an
    unexpected time is not a program if the other kinds cover all known program times.

    Raises:
        WriteampError: another classification with other programs fits nearly as well, and the times
            of the device do not decide.
    """
    kinds = _with_retries(_kinds(mixture), facts)
    # A pair of indices divides the sorted kinds: reads are before the first index, and erases from
    # the second on.
    cuts = combinations_with_replacement(range(len(kinds) + 1), 2)
    costs = sorted((_cost(kinds, cut, facts), cut) for cut in cuts)
    cost, cut = costs[0]
    programs = _programs(kinds, cut)
    others = [
        (other, cut)
        for other, cut in costs[1:]
        if abs(_programs(kinds, cut) - programs) > _SAME_PROGRAMS * max(programs, _SAME_PROGRAMS)
    ]
    margin = min((other - cost for other, _ in others), default=math.inf)
    alternative = cut
    if margin < _LEAST_MARGIN:
        alternative = min(others)[1]
        _check_known(kinds, cut, alternative, facts)
    of_component = [""] * mixture.mean_us.size
    read = []
    for number, kind in enumerate(kinds):
        of_class = _class_at(number, cut)
        for component in kind.components:
            of_component[component] = of_class
        reads = kind.reads if of_class == "read" else 0
        is_sure = _class_at(number, alternative) == of_class
        is_known = is_sure and (reads > 1 or _is_known(kind.mean_us, of_class, facts))
        read.append(replace(kind, of_class=of_class, is_known=is_known, reads=reads))
    return Classification(tuple(of_component), margin, tuple(read))


def shares(reading: Classification, responsibilities: Floats) -> Shares:
    """Return each class's probability for each bin, from those of the components, shape (n, k)."""
    shares_by_class = {}
    for name in CLASSES:
        is_of = np.array([of_component == name for of_component in reading.of_component])
        # Due to rounding, a sum may exceed 1, so it is limited.
        shares_by_class[name] = np.minimum(responsibilities[:, is_of].sum(axis=1), 1.0)
    return shares_by_class


def _kinds(mixture: DurationMixture) -> list[OperationKind]:
    """Return the kinds of operations, joined from components in order of their means."""
    groups: list[list[int]] = []
    for component in range(mixture.mean_us.size):
        if groups:
            last = groups[-1][-1]
            apart_us = mixture.mean_us[component] - mixture.mean_us[last]
            wider_us = max(mixture.sd_us[component], mixture.sd_us[last])
            if apart_us < _ONE_KIND_DEVIATIONS * wider_us:
                groups[-1].append(component)
                continue
        groups.append([component])
    kinds = []
    for components in groups:
        share = mixture.share[components]
        mean_us = float((mixture.mean_us[components] * share).sum() / share.sum())
        kinds.append(OperationKind(tuple(components), mean_us, float(share.sum())))
    return kinds


def _class_at(number: int, cut: tuple[int, int]) -> str:
    return CLASSES[(number >= cut[0]) + (number >= cut[1])]


def _programs(kinds: list[OperationKind], cut: tuple[int, int]) -> float:
    return sum(kind.share for kind in kinds[slice(*cut)])


def _with_retries(kinds: list[OperationKind], facts: PinFacts) -> list[OperationKind]:
    """Mark retried reads: kinds that take a multiple of a read and fit no other operation."""
    read_times_us = [kind.mean_us for kind in kinds if _is_near(kind.mean_us, facts.read_us)]
    if not read_times_us:
        return [replace(kind, reads=1) for kind in kinds]
    marked = []
    for kind in kinds:
        times = kind.mean_us / np.array(read_times_us)
        nearest = np.maximum(np.round(times), 1)
        fits = np.abs(times / nearest - 1) < _MULTIPLE
        is_other = _is_near(kind.mean_us, facts.erase_us) or (
            bool(facts.program_us) and _is_known(kind.mean_us, "program", facts)
        )
        is_retry = fits.any() and not is_other and 1 < nearest[fits].min() <= MOST_READS
        marked.append(replace(kind, reads=int(nearest[fits].min()) if is_retry else 1))
    return marked


def _is_near(mean_us: float, times_us: tuple[float, ...]) -> bool:
    return any(abs(math.log(mean_us / time_us)) < _NEAR for time_us in times_us)


def _is_known(mean_us: float, of_class: str, facts: PinFacts) -> bool:
    """Return whether the device has operations of a class with about this time."""
    times_us = facts.times_us(of_class)
    if of_class == "program" and facts.program_window_us is not None:
        low_us, high_us = facts.program_window_us
        return low_us <= mean_us <= high_us or _is_near(mean_us, times_us)
    return _is_near(mean_us, times_us) if times_us else _distance(mean_us, of_class, facts) == 0


def _cost(kinds: list[OperationKind], cut: tuple[int, int], facts: PinFacts) -> float:
    cost = 0.0
    has_all_programs = all(
        any(_is_near(kind.mean_us, (time_us,)) for kind in kinds) for time_us in facts.program_us
    )
    for number, kind in enumerate(kinds):
        of_class = _class_at(number, cut)
        if of_class == "read" and kind.reads > 1:
            continue
        cost += _distance(kind.mean_us, of_class, facts)
        is_program = of_class == "program"
        if is_program and has_all_programs and not _is_known(kind.mean_us, of_class, facts):
            cost += _STRANGE_PROGRAM
    erases, programs = sum(kind.share for kind in kinds[cut[1] :]), _programs(kinds, cut)
    if programs and erases * _PROGRAMS_AN_ERASE > programs:
        cost += math.log(erases * _PROGRAMS_AN_ERASE / programs)
    return cost


def _distance(mean_us: float, of_class: str, facts: PinFacts) -> float:
    """Return how far a mean is from the nearest time of a class: |ln(mean / time)|.

    If the device has no times of the class, it is the distance from the usual range, 0 inside.
    """
    times_us = facts.times_us(of_class)
    if not times_us:
        low_us, high_us = _USUAL_US[of_class]
        if of_class == "program" and facts.program_window_us is not None:
            low_us, high_us = facts.program_window_us
        return max(0.0, math.log(max(low_us, 1e-3) / mean_us), math.log(mean_us / high_us))
    nearest = min(abs(math.log(mean_us / time_us)) for time_us in times_us)
    window = facts.program_window_us
    if of_class == "program" and window is not None and window[0] <= mean_us <= window[1]:
        return min(nearest, _WINDOW_DISTANCE)
    return nearest


def _check_known(
    kinds: list[OperationKind], cut: tuple[int, int], other: tuple[int, int], facts: PinFacts
) -> None:
    """Reject a kind that may be of either of two classes, unless the device has times of both.

    If the device has times of both classes, the kind's time matches neither well. This is reported
    elsewhere.
    """
    readings = [
        (kind.mean_us, _class_at(number, cut), _class_at(number, other))
        for number, kind in enumerate(kinds)
    ]
    mean_us, first, second = next(pair for pair in readings if pair[1] != pair[2])
    if facts.times_us(first) and facts.times_us(second):
        return
    words = sorted({first, second}, key=CLASSES.index)
    options = " and ".join(f"--{word}-us" for word in words)
    raise WriteampError(
        f"operations of {mean_us:.4g} µs may be {words[0]}s or {words[1]}s. Set the times of "
        f"these with {options}, or pass a --device with times"
    )


def window_shares(durations: Durations, window_us: tuple[float, float]) -> Shares:
    """Return the share of each class in each bin: 1 for the class of the bin's middle, else 0.

    Within (low, high) µs a pulse is a program, below it a read, above it an erase.

    Args:
        durations: bins, shape (n,).
        window_us: window of programs in µs (paper 5, section III C and Table I).
    """
    middle_us: Floats = durations.middle_us
    low_us, high_us = window_us
    is_of = {
        "read": middle_us <= low_us,
        "program": (middle_us > low_us) & (middle_us < high_us),
        "erase": middle_us >= high_us,
    }
    return {name: is_of[name].astype(float) for name in CLASSES}
