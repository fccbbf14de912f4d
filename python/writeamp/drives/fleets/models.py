"""Models of a fleet: distribution of WA by model, and outliers within a model."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from writeamp.drives.counters.result import DriveCounters

# With fewer values, quartiles would only repeat or interpolate them.
_FEWEST_FOR_QUARTILES = 4
# With fewer drives of a model, outliers are not determined.
_FEWEST_DRIVES = 5
# Outliers by the modified z-score of Iglewicz and Hoaglin (1993): 0.6745 is the upper quartile of
# the normal distribution, and 3.5 is their threshold.
_QUARTILE, _THRESHOLD = 0.6745, 3.5
LEGEND = (
    f"stands out: among {_FEWEST_DRIVES} or more drives of its model, the modified z-score of "
    f"log WA exceeds {_THRESHOLD}"
)
# Least spread of log(WA) in a model. Without it, a difference of a few percent would be an outlier
# if most drives agree.
_LEAST_SPREAD = math.log(1.05)


@dataclass(frozen=True)
class ModelSummary:
    """Drives of one model.

    Attributes:
        model: model name as reported by the drives; None for drives without one.
        drives, with_wa: number of drives, and of drives with a WA.
        wa: median, or None.
        wa_low, wa_high: quartiles; None for fewer than four drives with a WA.
        wa_min, wa_max: minimum and maximum.
    """

    model: str | None
    drives: int
    with_wa: int
    wa: float | None
    wa_low: float | None
    wa_high: float | None
    wa_min: float | None
    wa_max: float | None


def summaries_of(answers: Iterable[DriveCounters]) -> list[ModelSummary]:
    """Return a summary of each model, sorted by falling median; models without WA are last."""
    by_model: dict[str | None, list[DriveCounters]] = {}
    for answer in answers:
        by_model.setdefault(answer.facts.model, []).append(answer)
    summaries = [_summary(model, group) for model, group in by_model.items()]
    return sorted(summaries, key=lambda summary: (-(summary.wa or 0), summary.model or ""))


def _summary(model: str | None, group: Sequence[DriveCounters]) -> ModelSummary:
    values = sorted(drive.wa for drive in group if drive.wa is not None)
    if not values:
        return ModelSummary(model, len(group), 0, None, None, None, None, None)
    low = high = None
    if len(values) >= _FEWEST_FOR_QUARTILES:
        low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return ModelSummary(
        model,
        len(group),
        len(values),
        statistics.median(values),
        low,
        high,
        values[0],
        values[-1],
    )


def outliers_of(answers: Sequence[DriveCounters]) -> dict[int, str]:
    """Return sentences about outliers within their model, by position of the drive.

    The logarithm of WA is compared with the median of the model in units of the median absolute
    deviation. If the bounds of a drive's WA contain the median, the drive is not an outlier. Models
    with fewer than five drives have no outliers.
    """
    by_model: dict[str, list[int]] = {}
    for place, answer in enumerate(answers):
        if answer.wa and answer.facts.model:
            by_model.setdefault(answer.facts.model, []).append(place)
    outliers: dict[int, str] = {}
    for places in by_model.values():
        if len(places) >= _FEWEST_DRIVES:
            outliers |= _outliers_of(answers, places)
    return outliers


def _outliers_of(answers: Sequence[DriveCounters], places: Sequence[int]) -> dict[int, str]:
    logs = {place: math.log(answers[place].wa or 1) for place in places}
    middle = statistics.median(logs.values())
    spread = statistics.median(abs(log - middle) for log in logs.values())
    median = math.exp(middle)
    outliers = {}
    for place, log in logs.items():
        score = _QUARTILE * (log - middle) / max(spread, _LEAST_SPREAD)
        low, high = answers[place].bounds or (0.0, 0.0)
        if abs(score) > _THRESHOLD and not low <= median <= high:
            outliers[place] = (
                f"WA is {answers[place].wa:.4g}, but the median of {len(places)} drives of this "
                f"model is {median:.4g} (modified z-score {score:+.1f}; the limit is "
                f"±{_THRESHOLD})"
            )
    return outliers
