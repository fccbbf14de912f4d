"""Counts of operations, the write amplification from them, and whether two methods agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from writeamp.drives.pins.capture import Durations, Floats
from writeamp.drives.pins.classes import CLASSES, Classification, OperationKind, Shares
from writeamp.drives.pins.device_facts import PinFacts
from writeamp.drives.pins.doubts import Doubt, width
from writeamp.drives.pins.mixture import DurationMixture, coarser, density
from writeamp.drives.pins.unseen import Overlap
from writeamp.results.any_result import AnyResult
from writeamp.results.numbers import with_interval

_Z95 = 1.959964
# If the probability of a class is above this, the class of an operation counts as certain.
_SURE = 0.99
_STEP = 1e-4
# Relative size below which eigenvalues of the information count as 0. The matrix is singular, as
# shares have one degree of freedom less than components.
_SINGULAR = 1e-9
_MOST_ERROR = 2.0
# If more operations than this share of the programs have unexpected times, a warning is given.
_MANY_STRANGE = 1e-3
_MANY_RETRIES = 0.01
_MOST_NAMED = 4


@dataclass(frozen=True)
class OperationCount:
    """Count of operations of one class, with its error and the share of certain ones.

    Attributes:
        value: sum of the operations' probabilities of the class, so not a whole number.
        error: standard error, from operations that may be of two classes.
        sure_share: share of the operations that have the class with a probability above 0.99.
    """

    value: float
    error: float
    sure_share: float


@dataclass(frozen=True)
class FourLevel(AnyResult):
    """Write amplification by one method (mixture or fixed window) from counts of operations.

    Attributes:
        wa: flash bytes programmed / host bytes written.
        programs, reads, erases: operations of all dies, extrapolated if not all were captured.
        flash_bytes: programs × bytes of a program.
        by_pin: counts of each captured pin by class.
        spread: mean, standard deviation, minimum and maximum of programs of the captured dies; None
            for a single die.
        ci: 95% interval of `wa`. It covers errors of classes, doubts and, if not all dies are
            counted, the spread between the captured dies.
    """

    wa: float
    programs: int
    reads: int
    erases: int
    flash_bytes: int
    by_pin: dict[str, dict[str, OperationCount]]
    spread: dict[str, float] | None
    ci: tuple[float, float] = (math.nan, math.nan)

    def cells(self, method: str) -> list[tuple[str, str]]:
        """Return the WA with its method, and the numbers of operations, as rows of a card."""
        counts = f"{self.programs:,} programs, {self.reads:,} reads, {self.erases:,} erases"
        return [
            (f"WA, {method}", with_interval(self.wa, self.ci, ".5f")),
            ("operations", counts),
        ]

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


def count(durations: Durations, shares: Shares) -> dict[str, OperationCount]:
    """Return the number of operations of each class, from binned durations and probabilities."""
    counts = {}
    number = durations.count.astype(float)
    for name in CLASSES:
        share = shares[name]
        value = float(number @ share)
        error = math.sqrt(float(number @ (share * (1 - share))))
        sure = float(number[share > _SURE].sum())
        counts[name] = OperationCount(value, error, min(1.0, sure / value) if value > 0 else 1.0)
    return counts


def four_level(
    by_pin: dict[str, dict[str, OperationCount]],
    used: Sequence[str],
    facts: PinFacts,
    host_bytes: float,
    doubts: Sequence[Doubt] = (),
) -> FourLevel:
    """Return the write amplification of a drive from some of its pins, or all.

    Args:
        by_pin: counts of each captured pin by class.
        used: pins that are counted; the other pins only show the variation between dies.
        facts: the drive's levels of parallelism.
        host_bytes: bytes that the host wrote during the capture, L.
        doubts: doubts about the programs of the counted pins.
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
    used: Sequence[dict[str, OperationCount]],
    programs_of_pin: Floats,
    facts: PinFacts,
) -> float:
    """Return the half width of the 95% interval of the number of programs of all dies."""
    variance = sum(counts["program"].error ** 2 for counts in used)
    variance *= (facts.dies / len(used)) ** 2
    if len(used) < facts.dies and programs_of_pin.size > 1:
        # The counted dies are a sample of all dies, drawn without replacement.
        between = float(programs_of_pin.var(ddof=1))
        variance += facts.dies**2 * (1 - len(used) / facts.dies) * between / len(used)
    # A count is uncertain by at least one operation.
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


def class_errors(
    mixture: DurationMixture, reading: Classification, durations: Durations, of_class: Shares
) -> dict[str, float]:
    """Return the standard error of each class's count that comes from the fit of the mixture.

    It is limited to a multiple of the number of durations that may be of another class. Without
    this limit, the error would be meaningless for an isolated component with few durations.

    Args:
        mixture: the fitted mixture.
        reading: classification of the components.
        durations: durations of the fit, n bins.
        of_class: probability of each class for each bin, shape (n,) each.
    """
    information = _information(mixture, coarser(durations))
    covariance = np.linalg.pinv(information, rcond=_SINGULAR, hermitian=True)
    total = durations.total
    errors = {}
    for name in CLASSES:
        is_of = np.array([of_component == name for of_component in reading.of_component], float)
        share = float(is_of @ mixture.share)
        gradient = np.zeros(len(covariance))
        gradient[: is_of.size] = mixture.share * (is_of - share)
        variance = total**2 * float(gradient @ covariance @ gradient)
        errors[name] = min(
            float(np.sqrt(max(0.0, variance - total * share * (1 - share)))),
            _MOST_ERROR * float(durations.count @ np.minimum(of_class[name], 1 - of_class[name])),
        )
    return errors


def _information(mixture: DurationMixture, binned: Durations) -> Floats:
    """Return the Fisher information of the mixture's parameters, shape (3k, 3k).

    The parameters are the logarithms of the shares, the means in standard deviations, and the
    logarithms of the standard deviations, so that all have similar magnitudes.
    """
    scores = []
    for move in (_share_moved, _mean_moved, _deviation_moved):
        for component in range(mixture.mean_us.size):
            step = np.zeros(mixture.mean_us.size)
            step[component] = _STEP
            up, down = (density(move(mixture, sign * step), binned) for sign in (1, -1))
            scores.append(np.log(up / down) / (2 * _STEP))
    score = np.stack(scores)
    information: Floats = (score * binned.count) @ score.T
    return information


def _share_moved(mixture: DurationMixture, step: Floats) -> DurationMixture:
    share = mixture.share * np.exp(step)
    return replace(mixture, share=share * (mixture.share.sum() / share.sum()))


def _mean_moved(mixture: DurationMixture, step: Floats) -> DurationMixture:
    return replace(mixture, mean_us=mixture.mean_us + step * mixture.sd_us)


def _deviation_moved(mixture: DurationMixture, step: Floats) -> DurationMixture:
    return replace(mixture, sd_us=mixture.sd_us * np.exp(step))


def agree(first: FourLevel, other: FourLevel) -> bool:
    """Return whether the WA intervals of two methods overlap."""
    return first.ci[0] <= other.ci[1] and other.ci[0] <= first.ci[1]


def disagreement(
    mixture: FourLevel, fixed: FourLevel, reading: Classification, window_us: tuple[float, float]
) -> str:
    """Return a sentence about the disagreement of the two methods."""
    low_us, high_us = window_us
    disputed = [
        kind
        for kind in reading.kinds
        if (kind.of_class == "program") != (low_us < kind.mean_us < high_us)
        and not (kind.of_class == "erase" and kind.is_known)
    ]
    cause = (
        f"operations of {_in_words(disputed)} are programs for only one method; "
        if disputed
        else ""
    )
    return (
        f"the fixed window counts {fixed.programs:,} programs and the mixture "
        f"{mixture.programs:,}. Their intervals of WA do not overlap: "
        f"{cause}neither "
        "is reliable alone, and the interval of WA includes both"
    )


def doubt_warnings(
    reading: Classification, programs: float, pulses: int, retries: float, shared: Overlap
) -> list[str]:
    """Return warnings about unexpected kinds, retries, and pins that several dies may share.

    Args:
        reading: classification of the kinds of operations.
        programs: number of counted programs.
        pulses: number of all pulses.
        retries: number of retried reads that may be counted as programs.
        shared: evidence for several dies per pin.
    """
    warnings = []
    strange = [kind for kind in reading.kinds if not kind.is_known]
    operations = pulses * sum(kind.share for kind in strange)
    if operations > max(1.0, _MANY_STRANGE * programs):
        words = ", ".join(sorted({f"{kind.of_class}s" for kind in strange}))
        warnings.append(
            f"{operations:,.0f} operations take {_in_words(strange)}, which matches no time of the "
            f"drive. They count as {words}; the interval includes the case that they are not"
        )
    if retries > _MANY_RETRIES * programs:
        warnings.append(
            "some reads are retried, so their busy times are multiples of a read's time. Up to "
            f"{retries:,.0f} reads may have taken as long as a program and count as one; the "
            "interval includes this"
        )
    if shared.is_likely:
        warnings.append(
            f"{shared.longer:,.0f} pulses are longer than any operation and {shared.strange:,.0f} "
            f"fit no kind of operation; two dies on each pin would overlap {shared.implied:,.0f} "
            "times. If "
            "several dies share a pin, overlapping operations count as one, and the count of "
            "programs is too low"
        )
    return warnings


def _in_words(kinds: Sequence[OperationKind]) -> str:
    named = [f"{kind.mean_us:,.4g}" for kind in kinds[:_MOST_NAMED]]
    more = len(kinds) - len(named)
    return f"{', '.join(named)} µs" + (f" and {more} more" if more > 0 else "")
