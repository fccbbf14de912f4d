"""Classification of operations as reads, programs or erases, by a mixture or by windows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import TypeAlias

import numpy as np

from writeamp.drives.pins.capture import Durations, Floats
from writeamp.drives.pins.device_facts import PinFacts
from writeamp.drives.pins.mixture import BellMixture
from writeamp.errors import WriteampError

CLASSES = ("read", "program", "erase")

# The probability of each class for each bin, shape (n,) each; they add up to 1.
Shares: TypeAlias = dict[str, Floats]

# What NAND flash of all kinds takes, where no times are known.
_USUAL_US = {"read": (5.0, 150.0), "program": (150.0, 3000.0), "erase": (1500.0, 20_000.0)}
# Bells as near as this to each other are one kind of operation whose shape is no bell.
_ONE_KIND_DEVIATIONS = 1.5
# Within the window of programs, one is at most as strange as this deviation from its time.
_WINDOW_DISTANCE = 0.3
# Operations of one kind differ from chip to chip by less than this, as a logarithm.
_NEAR = 0.25
# A read that is tried again takes a multiple of its time, but for that much.
_MULTIPLE = 0.05
MOST_READS = 12
# What a program of no known time costs where programs of all known times are there.
_STRANGE_PROGRAM = 0.7
# A block has more pages than this; so many erases for the programs are strange.
_PROGRAMS_AN_ERASE = 16
# Two readings of the bells as near as that, and as different in programs, are one too many.
_LEAST_MARGIN = 0.15
_SAME_PROGRAMS = 1e-3


@dataclass(frozen=True)
class OperationKind:
    """Bells that are one kind of operation.

    Attributes:
        bells: numbers of the bells.
        mean_us: their mean.
        share: their share of all durations.
        of_class: what they are read as.
        is_known: the device has operations of that class and about that time, and no other
            reading fits nearly as well.
        reads: reads in one busy time, above 1 where a read is tried again; 0 of other classes.
    """

    bells: tuple[int, ...]
    mean_us: float
    share: float
    of_class: str = ""
    is_known: bool = True
    reads: int = 0


@dataclass(frozen=True)
class Classification:
    """The class of every bell, and by how much the next best reading fits worse.

    Attributes:
        of_bell: the class of each bell.
        margin: logarithm of a ratio of durations; infinite without another reading.
        kinds: the bells as kinds of operations, the shortest first.
    """

    of_bell: tuple[str, ...]
    margin: float
    kinds: tuple[OperationKind, ...] = ()

    def of(self, of_class: str) -> list[OperationKind]:
        """Return the kinds of a class."""
        return [kind for kind in self.kinds if kind.of_class == of_class]


def classify(mixture: BellMixture, facts: PinFacts) -> Classification:
    """Return the class of each bell, by the times of the device, or by order and usual times.

    Classes follow each other: no read is longer than a program, no program longer than an erase.
    Of all ways to divide the kinds so, the one nearest to the known times is taken; that erases
    are no more than a sixteenth of the programs counts too. Reads that are tried again take a
    multiple of a read; a strange kind is no program if others are all the programs there are.

    Raises:
        WriteampError: another reading fits nearly as well, its programs are others, and the times
            of the device do not say what is strange.
    """
    kinds = _with_retries(_kinds(mixture), facts)
    # Every way to divide kinds in order: programs from the first number to the second.
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
    another = cut
    if margin < _LEAST_MARGIN:
        another = min(others)[1]
        _check_known(kinds, cut, another, facts)
    of_bell = [""] * mixture.mean_us.size
    read = []
    for number, kind in enumerate(kinds):
        of_class = _class_at(number, cut)
        for bell in kind.bells:
            of_bell[bell] = of_class
        reads = kind.reads if of_class == "read" else 0
        is_sure = _class_at(number, another) == of_class
        is_known = is_sure and (reads > 1 or _is_known(kind.mean_us, of_class, facts))
        read.append(replace(kind, of_class=of_class, is_known=is_known, reads=reads))
    return Classification(tuple(of_bell), margin, tuple(read))


def shares(reading: Classification, responsibilities: Floats) -> Shares:
    """Return the probability of each class from that of each bell, shape (n, k)."""
    found = {}
    for name in CLASSES:
        is_of = np.array([of_bell == name for of_bell in reading.of_bell])
        # Rows add up to 1 but for rounding, and a probability is not above it.
        found[name] = np.minimum(responsibilities[:, is_of].sum(axis=1), 1.0)
    return found


def _kinds(mixture: BellMixture) -> list[OperationKind]:
    """Join bells, which are in order, to kinds."""
    found: list[list[int]] = []
    for bell in range(mixture.mean_us.size):
        if found:
            last = found[-1][-1]
            apart_us = mixture.mean_us[bell] - mixture.mean_us[last]
            wider_us = max(mixture.sd_us[bell], mixture.sd_us[last])
            if apart_us < _ONE_KIND_DEVIATIONS * wider_us:
                found[-1].append(bell)
                continue
        found.append([bell])
    kinds = []
    for bells in found:
        share = mixture.share[bells]
        mean_us = float((mixture.mean_us[bells] * share).sum() / share.sum())
        kinds.append(OperationKind(tuple(bells), mean_us, float(share.sum())))
    return kinds


def _class_at(number: int, cut: tuple[int, int]) -> str:
    return CLASSES[(number >= cut[0]) + (number >= cut[1])]


def _programs(kinds: list[OperationKind], cut: tuple[int, int]) -> float:
    return sum(kind.share for kind in kinds[slice(*cut)])


def _with_retries(kinds: list[OperationKind], facts: PinFacts) -> list[OperationKind]:
    """Mark kinds that take a multiple of a read and are near to no other operation."""
    known = [kind.mean_us for kind in kinds if _is_near(kind.mean_us, facts.read_us)]
    if not known:
        return [replace(kind, reads=1) for kind in kinds]
    found = []
    for kind in kinds:
        times = kind.mean_us / np.array(known)
        nearest = np.maximum(np.round(times), 1)
        fits = np.abs(times / nearest - 1) < _MULTIPLE
        is_other = _is_near(kind.mean_us, facts.erase_us) or (
            bool(facts.program_us) and _is_known(kind.mean_us, "program", facts)
        )
        is_retry = fits.any() and not is_other and 1 < nearest[fits].min() <= MOST_READS
        found.append(replace(kind, reads=int(nearest[fits].min()) if is_retry else 1))
    return found


def _is_near(mean_us: float, times_us: tuple[float, ...]) -> bool:
    return any(abs(math.log(mean_us / time_us)) < _NEAR for time_us in times_us)


def _is_known(mean_us: float, of_class: str, facts: PinFacts) -> bool:
    """Return whether the device has operations of a class and of about this time."""
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
    """Return the distance of a mean from a class's times, as the logarithm of a ratio."""
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
    """Refuse two readings of a kind, if the device does not have times of both.

    If it has, the kind is strange to it, which others are to say.
    """
    readings = [
        (kind.mean_us, _class_at(number, cut), _class_at(number, other))
        for number, kind in enumerate(kinds)
    ]
    mean_us, one, another = next(found for found in readings if found[1] != found[2])
    if facts.times_us(one) and facts.times_us(another):
        return
    words = sorted({one, another}, key=CLASSES.index)
    options = " and ".join(f"--{word}-us" for word in words)
    raise WriteampError(
        f"operations of {mean_us:.4g} µs may be {words[0]}s or {words[1]}s; say how long those "
        f"take with {options}, or with a --device that has times"
    )


def window_shares(durations: Durations, window_us: tuple[float, float]) -> Shares:
    """Return the share of each class in each bin, by the window that its middle lies in.

    Within (low, high) µs a pulse is a program, below a read, above an erase.

    Args:
        durations: bins, shape (n,).
        window_us: the window of programs (paper 5, section III C and Table I).
    """
    middle_us: Floats = durations.middle_us
    low_us, high_us = window_us
    is_of = {
        "read": middle_us <= low_us,
        "program": (middle_us > low_us) & (middle_us < high_us),
        "erase": middle_us >= high_us,
    }
    return {name: is_of[name].astype(float) for name in CLASSES}
