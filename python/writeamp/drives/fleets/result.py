"""Fleet: the answers of its drives by model, with outliers."""

from __future__ import annotations

import os
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from writeamp.drives.counters.answer import rated
from writeamp.drives.counters.folders import snapshots_under
from writeamp.drives.counters.names import UNNAMED, drive_name
from writeamp.drives.counters.rated import require_one_model, share_in_words
from writeamp.drives.counters.result import DriveCounters
from writeamp.drives.fleets.answering import FleetDrive, answers_of_files, newest
from writeamp.drives.fleets.models import LEGEND, ModelSummary, outliers_of, summaries_of
from writeamp.drives.fleets.reasons import MissingWa, missing_wa
from writeamp.drives.fleets.settings import DriveFleetSettings
from writeamp.errors import WriteampError
from writeamp.plots.figures.drives import ModelBar, wa_by_model
from writeamp.plots.spec import BarChart
from writeamp.results.card import Card, cut_rows, without_empty_columns
from writeamp.results.drawn import Drawn
from writeamp.results.numbers import years_in_words
from writeamp.runners import Progress, Runner

# Most drives and models that the card shows, and most reasons; --json has all.
_MOST_ROWS, _MOST_REASONS = 20, 12


@dataclass(frozen=True, eq=False)
class Fleet(Drawn):
    """Drives of a fleet, sorted by remaining life, the shortest first.

    Attributes:
        drives: answer of each drive.
        years_left: 90% interval of the years until the rated life of each drive is used, as
            `lifetime` computes it; None if unknown.
        skipped: files that are not snapshots, with reasons.
    """

    drives: tuple[DriveCounters, ...]
    years_left: tuple[tuple[float, float] | None, ...]
    skipped: tuple[tuple[str, str], ...]

    @cached_property
    def models(self) -> list[ModelSummary]:
        """Distribution of WA by model."""
        return summaries_of(self.drives)

    @cached_property
    def outliers(self) -> dict[int, str]:
        """Sentences about outliers within their model, by position of the drive."""
        return outliers_of(self.drives)

    @cached_property
    def _outliers_by_model(self) -> Counter[str | None]:
        return Counter(self.drives[place].facts.model for place in self.outliers)

    @cached_property
    def reasons(self) -> list[MissingWa]:
        """Reasons for a missing WA, the most frequent first, with the number of drives of each."""
        return missing_wa(self.drives)

    def _records(self) -> Iterable[Mapping[str, Any]]:
        for place, drive in enumerate(self.drives):
            (record,) = drive._records()
            yield {"file": drive.name, **record, **self._more(place)}

    def _name(self, place: int) -> str:
        return drive_name(self.drives[place].facts, self.drives[place].name)

    def _more(self, place: int) -> dict[str, Any]:
        left = self.years_left[place] or (None, None)
        return {
            "outlier": self.outliers.get(place),
            "years_left_low": left[0],
            "years_left_high": left[1],
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the fleet as JSON types."""
        values = [drive.wa for drive in self.drives if drive.wa is not None]
        return {
            "drives_with_wa": len(values),
            "median_wa": statistics.median(values) if values else None,
            "outliers": len(self.outliers),
            "worn_out_within_a_year": sum(
                years is not None and years[0] < 1 for years in self.years_left
            ),
            "drives_with_rating": sum(drive.rated_tbw is not None for drive in self.drives),
            "beyond_rated_tbw": sum((drive.share_used or 0.0) > 1 for drive in self.drives),
            "reasons": [dict(vars(missing)) for missing in self.reasons],
            "drives": [
                {
                    "name": self._name(place),
                    "file": drive.name,
                    **drive.to_dict(),
                    **self._more(place),
                }
                for place, drive in enumerate(self.drives)
            ],
            "models": [
                {**vars(model), "outliers": self._outliers_by_model[model.model]}
                for model in self.models
            ],
            "skipped": [{"file": file, "reason": reason} for file, reason in self.skipped],
        }

    def card(self) -> Card:
        """Return the drives that wear out first, used TBW, outliers, and WA by model or why not."""
        tables = [
            self._rated_card(),
            self._outlier_card(),
            self._model_card(),
            self._reason_card(),
        ]
        parts = [table for table in tables if table.rows]
        has_wa = any(model.wa is not None for model in self.models)
        return replace(self._life_card(), parts=parts, legend=[LEGEND] * has_wa)

    def _life_card(self) -> Card:
        places = [place for place in range(len(self.drives)) if self.years_left[place] is not None]
        rows = [self._life_row(place) for place in places[:_MOST_ROWS]]
        columns = (
            "drive, shortest remaining life first",
            ">rated life used",
            ">years left (90%)",
            "WA",
        )
        none = ": no rate of wear is known"
        title = f"Remaining life{'' if rows else none}"
        return Card(title, cut_rows(rows, len(places), columns), columns, is_ruled=False)

    def _life_row(self, place: int) -> tuple[str, ...]:
        drive, years = self.drives[place], self.years_left[place]
        assert years is not None
        return (
            self._name(place),
            f"{drive.facts.percentage_used:g}%",
            years_in_words(*years),
            "" if drive.kind == "none" else drive.wa_in_words,
        )

    def _rated_card(self) -> Card:
        shares = [
            (drive.share_used, place)
            for place, drive in enumerate(self.drives)
            if drive.share_used is not None
        ]
        shares.sort(reverse=True)
        rows = [
            (
                self._name(place),
                share_in_words(share),
                f"{self.drives[place].rated_tbw:,.6g}",
            )
            for share, place in shares[:_MOST_ROWS]
        ]
        columns = ("drive, most used TBW first", ">rated TBW used", ">rated TBW")
        cut = cut_rows(rows, len(shares), columns)
        return Card("Rated endurance", cut, columns, is_ruled=False)

    def _outlier_card(self) -> Card:
        rows = [(self._name(place), sentence) for place, sentence in self.outliers.items()]
        columns = ("drive that stands out", "why")
        return Card(
            "Outliers", cut_rows(rows[:_MOST_ROWS], len(rows), columns), columns, is_ruled=False
        )

    def _model_card(self) -> Card:
        with_wa = [model for model in self.models if model.wa is not None]
        rows = [
            (
                model.model or UNNAMED,
                f"{model.drives:,}",
                f"{model.with_wa:,}",
                f"{model.wa:.4g}",
                "" if model.wa_low is None else f"{model.wa_low:.4g} to {model.wa_high:.4g}",
                "" if model.with_wa == 1 else f"{model.wa_min:.4g} to {model.wa_max:.4g}",
            )
            for model in with_wa[:_MOST_ROWS]
        ]
        columns = (
            "model, highest WA first",
            ">drives",
            ">with WA",
            ">median WA",
            "quartiles",
            "lowest to highest",
        )
        cut = cut_rows(rows, len(with_wa), columns)
        return without_empty_columns(Card("WA by model", cut, columns, is_ruled=False))

    def _reason_card(self) -> Card:
        rows = [
            (missing.words, f"{missing.drives:,}", ", ".join(missing.examples))
            for missing in self.reasons[:_MOST_REASONS]
        ]
        columns = ("why drives have no WA", ">drives", "such as")
        note = "`writeamp measure counters FILE` prints the whole reason of a drive"
        cut = cut_rows(rows, len(self.reasons), columns)
        return Card("Reasons", cut, columns, notes=[note], is_ruled=False)

    def figure(self) -> BarChart:
        """Describe a bar chart of the write amplification of each drive model."""
        bars = [
            ModelBar(
                model.model or UNNAMED,
                model.with_wa,
                model.wa,
                model.wa_min or model.wa,
                model.wa_max or model.wa,
                self._outliers_by_model[model.model],
            )
            for model in self.models
            if model.wa is not None
        ]
        return wa_by_model(bars, f"{len(self.drives):,} drives")


def fleet(
    paths: Iterable[str | os.PathLike[str]],
    *,
    rated_tbw: float | str | None = None,
    runner: Runner | None = None,
    progress: Progress | None = None,
) -> Fleet:
    """Return the WA of all drives with snapshots in some files and folders.

    Every file is a snapshot; a folder written by `measure save` or `serve --counters` is one
    snapshot. If the files have several snapshots of a drive (by its serial number), the last
    one is used.

    Args:
        paths: files and folders; folders are searched recursively.
        rated_tbw: rated endurance of the drives in TB (10**12 bytes); default: that of each model,
            if writeamp has it.
        runner: a `writeamp.runners.Runner`; default: one process per processor, or this process for
            few files.
        progress: called with the files read and the total number.

    Returns:
        `Fleet`: `drives` (each with `wa` and `share_used`), `models` (WA by model), `outliers`,
        `skipped` files.

    Raises:
        WriteampError: a path cannot be read, there is no snapshot among the files, or `rated_tbw`
            is given for several models.

    >>> import json, tempfile, pathlib, writeamp as wa
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> log = {"critical_warning": 0, "data_units_written": 2000}
    >>> _ = (folder / "a.json").write_text(json.dumps(log))
    >>> [drive.kind for drive in wa.measure.fleet([folder]).drives]
    ['none']
    """
    settings = DriveFleetSettings(rated_tbw=rated_tbw)  # type: ignore[arg-type]  # as text, too
    files = snapshots_under(paths)
    outcomes = answers_of_files(files, runner=runner, progress=progress)
    skipped = tuple(
        (os.fspath(file), outcome)
        for file, outcome in zip(files, outcomes, strict=True)
        if isinstance(outcome, str)
    )
    drives = newest(
        drive for outcome in outcomes if not isinstance(outcome, str) for drive in outcome
    )
    if not drives:
        why = f". The first file: {skipped[0][1]}" if skipped else ""
        raise WriteampError(f"found no snapshots of drives among {len(files)} files{why}")
    drives.sort(key=_urgency)
    years = tuple(drive.years_left for drive in drives)
    answers = tuple(drive.answer for drive in drives)
    if settings.rated_tbw is not None:
        require_one_model(answer.facts for answer in answers)
        answers = tuple(rated(answer, settings.rated_tbw) for answer in answers)
    return Fleet(answers, years, skipped)


def _urgency(drive: FleetDrive) -> tuple[float, float, str]:
    """Return the sort key of a drive: fewest years left, highest percentage used, then name."""
    left, used = drive.years_left, drive.facts.percentage_used
    return (left[0] if left else float("inf"), -(used or 0), drive.answer.name)
