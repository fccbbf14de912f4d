"""Models of a fleet: the distribution of their WA, and drives that stand out within one."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from writeamp.drives.counters.answer import DriveCounters

# Fewer drives of a model do not tell what is usual.
_FEWEST_DRIVES = 5
# Modified z-score of Iglewicz and Hoaglin (1993): 0.6745 is the normal distribution's upper
# quartile, and 3.5 their threshold.
_QUARTILE, _THRESHOLD = 0.6745, 3.5
# Where most drives are alike, a difference of a few per cent would stand out.
_LEAST_SPREAD = math.log(1.05)


@dataclass(frozen=True)
class ModelSummary:
    """Drives of one model.

    Attributes:
        model: as the drives say it.
        drives, with_wa: how many there are, and how many have a WA.
        wa: the median; None of none.
        wa_low, wa_high: quartiles.
        wa_min, wa_max: the least and the greatest.
    """

    model: str | None
    drives: int
    with_wa: int
    wa: float | None
    wa_low: float | None
    wa_high: float | None
    wa_min: float | None
    wa_max: float | None


def summaries(answers: Iterable[DriveCounters]) -> list[ModelSummary]:
    """Return a summary of each model, the greatest median first, models without WA last."""
    by_model: dict[str | None, list[DriveCounters]] = {}
    for one in answers:
        by_model.setdefault(one.facts.model, []).append(one)
    found = [_summary(model, group) for model, group in by_model.items()]
    return sorted(found, key=lambda one: (-(one.wa or 0), one.model or ""))


def _summary(model: str | None, group: Sequence[DriveCounters]) -> ModelSummary:
    values = sorted(one.wa for one in group if one.wa is not None)
    if not values:
        return ModelSummary(model, len(group), 0, None, None, None, None, None)
    low, middle, high = (
        statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    )
    return ModelSummary(model, len(group), len(values), middle, low, high, values[0], values[-1])


def outliers(answers: Sequence[DriveCounters]) -> dict[int, str]:
    """Return sentences on drives that stand out within their model, by their places.

    The logarithm of WA is compared with the median of the model in units of the median deviation;
    a drive whose bounds hold the median does not stand out.
    """
    by_model: dict[str, list[int]] = {}
    for place, one in enumerate(answers):
        if one.wa and one.facts.model:
            by_model.setdefault(one.facts.model, []).append(place)
    found: dict[int, str] = {}
    for places in by_model.values():
        if len(places) >= _FEWEST_DRIVES:
            found |= _outliers_of(answers, places)
    return found


def _outliers_of(answers: Sequence[DriveCounters], places: Sequence[int]) -> dict[int, str]:
    logs = {place: math.log(answers[place].wa or 1) for place in places}
    middle = statistics.median(logs.values())
    spread = statistics.median(abs(one - middle) for one in logs.values())
    median = math.exp(middle)
    found = {}
    for place, log in logs.items():
        score = _QUARTILE * (log - middle) / max(spread, _LEAST_SPREAD)
        low, high = answers[place].ci or (0.0, 0.0)
        if abs(score) > _THRESHOLD and not low <= median <= high:
            found[place] = (
                f"WA {answers[place].wa:.4g} beside a median of {median:.4g} of {len(places)} "
                f"drives of this model (modified z-score {score:+.1f})"
            )
    return found
