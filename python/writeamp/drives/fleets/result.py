"""Fleet: the answers of its drives by model, with outliers."""

from __future__ import annotations

import math
import os
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from writeamp.drives.counters.facts import CounterFacts
from writeamp.drives.counters.result import DriveCounters
from writeamp.drives.fleets.answering import answers_of_files, snapshots_under
from writeamp.errors import WriteampError
from writeamp.plots.figures.drives import ModelBar, wa_by_model
from writeamp.plots.spec import BarChart
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.results.numbers import range_in_words
from writeamp.runners import Progress, Runner

# Most drives that the card shows; --csv and --json have all drives.
_MOST_ROWS = 30
_HOURS_A_YEAR = 365.25 * 24
# With fewer drives of a model, outliers are not determined.
_FEWEST_DRIVES = 5
# Outliers by the modified z-score of Iglewicz and Hoaglin (1993): 0.6745 is the upper quartile of
# the normal distribution, and 3.5 is their threshold.
_QUARTILE, _THRESHOLD = 0.6745, 3.5
# Least spread of log(WA) in a model. Without it, a difference of a few percent would be an outlier
# if most drives agree.
_LEAST_SPREAD = math.log(1.05)


@dataclass(frozen=True, eq=False)
class Fleet(Drawn):
    """Drives of a fleet, sorted by remaining life, the shortest first.

    Attributes:
        drives: answer of each drive.
        skipped: files that are not snapshots, with reasons.
    """

    drives: tuple[DriveCounters, ...]
    skipped: tuple[tuple[str, str], ...]

    @cached_property
    def models(self) -> list[ModelSummary]:
        """Distribution of WA by model."""
        return summaries_of(self.drives)

    @cached_property
    def outliers(self) -> dict[int, str]:
        """Sentences about outliers within their model, by position of the drive."""
        return outliers_of(self.drives)

    def _records(self) -> Iterable[Mapping[str, Any]]:
        for place, drive in enumerate(self.drives):
            (record,) = drive._records()
            yield {"file": drive.name, **record, **self._more(place)}

    def _more(self, place: int) -> dict[str, Any]:
        left = _years_left(self.drives[place].facts) or (None, None)
        return {
            "outlier": self.outliers.get(place),
            "years_left_low": left[0],
            "years_left_high": left[1],
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the fleet as JSON types."""
        return {
            "drives": [
                {"file": drive.name, **drive.to_dict(), **self._more(place)}
                for place, drive in enumerate(self.drives)
            ],
            "models": [dict(vars(model)) for model in self.models],
            "skipped": [{"file": file, "reason": reason} for file, reason in self.skipped],
        }

    def card(self) -> Card:
        """Return WA by model, and the drives with the shortest remaining life."""
        models = [
            (
                model.model or "unknown",
                f"{model.drives:,}",
                f"{model.with_wa:,}",
                "" if model.wa is None else f"{model.wa:.4g}",
                "" if model.wa is None else f"{model.wa_low:.4g} to {model.wa_high:.4g}",
                "" if model.wa is None else f"{model.wa_min:.4g} to {model.wa_max:.4g}",
            )
            for model in self.models
        ]
        columns = (
            "model",
            "drives",
            "drives with WA",
            "median WA",
            "quartiles of WA",
            "range of WA",
        )
        values = [drive.wa for drive in self.drives if drive.wa is not None]
        span = f", {range_in_words(min(values), max(values))}" if values else ""
        return Card(
            f"Fleet of {len(self.drives):,} drives",
            models,
            columns,
            notes=[f"WA is known for {len(values):,} of {len(self.drives):,} drives{span}"],
            parts=[self._first_to_wear_out()],
            is_ruled=False,
        )

    def _first_to_wear_out(self) -> Card:
        rows: list[tuple[str, ...]] = []
        for answer, row in zip(self.drives[:_MOST_ROWS], self._records(), strict=False):
            low, high = row["years_left_low"], row["years_left_high"]
            used = row["percentage_used"]
            rows.append(
                (
                    row["file"],
                    row["model"] or "",
                    "" if answer.kind == "none" else answer.wa_in_words,
                    "" if used is None else f"{used:g}%",
                    "" if low is None else f"{low:.3g} to {high:.3g}",
                )
            )
        if len(self.drives) > _MOST_ROWS:
            rows.append((f"… and {len(self.drives) - _MOST_ROWS:,} more (--csv)", *[""] * 4))
        columns = (
            "drive, shortest remaining life first",
            "model",
            "WA",
            "rated life used",
            "years left",
        )
        return Card("Drives, shortest remaining life first", rows, columns, is_ruled=False)

    def figure(self) -> BarChart:
        """Describe a bar chart of the write amplification of each drive model."""
        standing_out = Counter(self.drives[place].facts.model for place in self.outliers)
        bars = [
            ModelBar(
                model.model or "unknown",
                model.with_wa,
                model.wa,
                model.wa_min or model.wa,
                model.wa_max or model.wa,
                standing_out[model.model],
            )
            for model in self.models
            if model.wa is not None
        ]
        return wa_by_model(bars, f"{len(self.drives):,} drives")


def fleet(
    paths: Iterable[str | os.PathLike[str]],
    *,
    runner: Runner | None = None,
    progress: Progress | None = None,
) -> Fleet:
    """Return the WA of all drives with snapshots in some files and folders.

    Every file is a snapshot; a folder written by `measure save` or `serve --counters` is one
    snapshot. If a file has several snapshots of a drive, such as a history, the last one is used.

    Args:
        paths: files and folders; folders are searched recursively.
        runner: a `writeamp.runners.Runner`; default: one process per processor, or this process for
            few files.
        progress: called with the files read and the total number.

    Returns:
        `Fleet`: `drives`, `models` (WA by model), `outliers`, `skipped` files.

    Raises:
        WriteampError: a path cannot be read, or there is no snapshot among the files.

    >>> import json, tempfile, pathlib, writeamp as wa
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> log = {"critical_warning": 0, "data_units_written": 2000}
    >>> _ = (folder / "a.json").write_text(json.dumps(log))
    >>> [drive.kind for drive in wa.measure.fleet([folder]).drives]
    ['none']
    """
    files = snapshots_under(paths)
    outcomes = answers_of_files(files, runner=runner, progress=progress)
    skipped = tuple(
        (os.fspath(file), outcome)
        for file, outcome in zip(files, outcomes, strict=True)
        if isinstance(outcome, str)
    )
    answers = [answer for outcome in outcomes if not isinstance(outcome, str) for answer in outcome]
    if not answers:
        why = f". The first file: {skipped[0][1]}" if skipped else ""
        raise WriteampError(f"found no snapshots of drives among {len(files)} files{why}")
    return Fleet(tuple(sorted(answers, key=_urgency)), skipped)


def _urgency(drive: DriveCounters) -> tuple[float, float, str]:
    """Return the sort key of a drive: fewest years left, highest percentage used, then name."""
    left = _years_left(drive.facts)
    used = drive.facts.percentage_used
    return (left[0] if left else float("inf"), -(used or 0), drive.name)


def _years_left(facts: CounterFacts) -> tuple[float, float] | None:
    """Return bounds of the years until the rated life is used; None if unknown.

    Percentage used is a rounded whole number, so the true value is within 1 percentage point of it.
    A drive at 0 or 1% has no upper bound, so the result is None.
    """
    used, hours = facts.percentage_used, facts.power_on_hours
    if used is None or not hours or used < 2:
        return None
    years = hours / _HOURS_A_YEAR
    low, high = used - 1, used + 1
    return years * max(100 - high, 0) / high, years * max(100 - low, 0) / low


@dataclass(frozen=True)
class ModelSummary:
    """Drives of one model.

    Attributes:
        model: model name as reported by the drives.
        drives, with_wa: number of drives, and of drives with a WA.
        wa: median, or None.
        wa_low, wa_high: quartiles.
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
    low, middle, high = (
        statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    )
    return ModelSummary(model, len(group), len(values), middle, low, high, values[0], values[-1])


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
