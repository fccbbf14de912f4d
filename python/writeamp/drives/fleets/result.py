"""Fleet: the answers of its drives, by model, with those that stand out."""

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

# More rows are for --csv and --json.
_MOST_ROWS = 30
_HOURS_A_YEAR = 365.25 * 24
# Fewer drives of a model do not tell what is usual.
_FEWEST_DRIVES = 5
# Modified z-score of Iglewicz and Hoaglin (1993): 0.6745 is the normal distribution's upper
# quartile, and 3.5 their threshold.
_QUARTILE, _THRESHOLD = 0.6745, 3.5
# Where most drives are alike, a difference of a few per cent would stand out.
_LEAST_SPREAD = math.log(1.05)


@dataclass(frozen=True, eq=False)
class Fleet(Drawn):
    """Drives of a fleet, those that wear out first in front.

    Attributes:
        drives: the answer of each.
        skipped: files that are no snapshot, and why.
    """

    drives: tuple[DriveCounters, ...]
    skipped: tuple[tuple[str, str], ...]

    @cached_property
    def models(self) -> list[ModelSummary]:
        """Distribution of WA of each model."""
        return summaries_of(self.drives)

    @cached_property
    def outliers(self) -> dict[int, str]:
        """Sentences on drives that stand out within their model, by their place."""
        return outliers_of(self.drives)

    def _records(self) -> Iterable[Mapping[str, Any]]:
        for place, one in enumerate(self.drives):
            (record,) = one._records()
            yield {"file": one.name, **record, **self._more(place)}

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
                {"file": one.name, **one.to_dict(), **self._more(place)}
                for place, one in enumerate(self.drives)
            ],
            "models": [dict(vars(one)) for one in self.models],
            "skipped": [{"file": file, "reason": reason} for file, reason in self.skipped],
        }

    def card(self) -> Card:
        """Return WA by model, and the drives that wear out first."""
        models = [
            (
                one.model or "not said",
                f"{one.drives:,}",
                f"{one.with_wa:,}",
                "" if one.wa is None else f"{one.wa:.4g}",
                "" if one.wa is None else f"{one.wa_low:.4g} to {one.wa_high:.4g}",
                "" if one.wa is None else f"{one.wa_min:.4g} to {one.wa_max:.4g}",
            )
            for one in self.models
        ]
        columns = ("model", "drives", "with WA", "median", "quartiles", "range")
        values = [one.wa for one in self.drives if one.wa is not None]
        span = f", {range_in_words(min(values), max(values))}" if values else ""
        return Card(
            f"Fleet of {len(self.drives):,} drives",
            models,
            columns,
            notes=[f"{len(values):,} drives have a WA{span}"],
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
        columns = ("drive, those that wear out first in front", "model", "WA", "used", "years left")
        return Card("Drives, those that wear out first in front", rows, columns, is_ruled=False)

    def figure(self) -> BarChart:
        """Describe the WA of each model as a bar."""
        standing_out = Counter(self.drives[place].facts.model for place in self.outliers)
        bars = [
            ModelBar(
                one.model or "not said",
                one.with_wa,
                one.wa,
                one.wa_min or one.wa,
                one.wa_max or one.wa,
                standing_out[one.model],
            )
            for one in self.models
            if one.wa is not None
        ]
        return wa_by_model(bars, f"{len(self.drives):,} drives")


def fleet(
    paths: Iterable[str | os.PathLike[str]],
    *,
    runner: Runner | None = None,
    progress: Progress | None = None,
) -> Fleet:
    """Return the WA of all drives whose snapshots are in some files and folders.

    Every file is a snapshot, and a folder that `measure save` or `serve --counters` made is one.
    Of a history, or another file with several snapshots of a drive, the last one counts.

    Args:
        paths: of files and folders, which are searched with all folders in them.
        runner: who reads them, a `writeamp.runners.Runner`; by default a process for each
            processor, and this one for few files.
        progress: is called with the files that are read, and all.

    Returns:
        `Fleet`: `drives`, `models` (WA by model), `outliers`, `skipped` files.

    Raises:
        WriteampError: a path cannot be read, or none of the files is a snapshot.

    >>> import json, tempfile, pathlib, writeamp as wa
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> log = {"critical_warning": 0, "data_units_written": 2000}
    >>> _ = (folder / "a.json").write_text(json.dumps(log))
    >>> [one.kind for one in wa.measure.fleet([folder]).drives]
    ['none']
    """
    files = snapshots_under(paths)
    outcomes = answers_of_files(files, runner=runner, progress=progress)
    skipped = tuple(
        (os.fspath(file), outcome)
        for file, outcome in zip(files, outcomes, strict=True)
        if isinstance(outcome, str)
    )
    found = [one for outcome in outcomes if not isinstance(outcome, str) for one in outcome]
    if not found:
        why = f": {skipped[0][1]}" if skipped else ""
        raise WriteampError(f"none of {len(files)} files is a snapshot of a drive{why}")
    return Fleet(tuple(sorted(found, key=_urgency)), skipped)


def _urgency(one: DriveCounters) -> tuple[float, float, str]:
    """Return what drives are sorted by: the years left, then the percentage used, then the name."""
    left = _years_left(one.facts)
    used = one.facts.percentage_used
    return (left[0] if left else float("inf"), -(used or 0), one.name)


def _years_left(facts: CounterFacts) -> tuple[float, float] | None:
    """Return the least and the most years until the rated life is used; None if unknown.

    Percentage used is a whole number that may be rounded either way, so that the true one is within
    one of it. Of a drive at 0 or 1 per cent there is no upper bound, and no answer.
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


def summaries_of(answers: Iterable[DriveCounters]) -> list[ModelSummary]:
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


def outliers_of(answers: Sequence[DriveCounters]) -> dict[int, str]:
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
        low, high = answers[place].bounds or (0.0, 0.0)
        if abs(score) > _THRESHOLD and not low <= median <= high:
            found[place] = (
                f"WA {answers[place].wa:.4g} beside a median of {median:.4g} of {len(places)} "
                f"drives of this model (modified z-score {score:+.1f})"
            )
    return found
