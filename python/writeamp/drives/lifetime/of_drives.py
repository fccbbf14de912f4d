"""Lifetimes of several drives in one table, the shortest remaining life first."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from writeamp.drives.counters.names import drive_name
from writeamp.drives.counters.rated import require_one_model, share_in_words
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.drives.lifetime.of_history import lifetime_of_history
from writeamp.drives.lifetime.result import LEVEL, DriveLifetime, gigabytes
from writeamp.errors import WriteampError
from writeamp.results.card import Card, Presented, cut_rows, without_empty_columns
from writeamp.results.numbers import as_one, kind_of, years_in_words
from writeamp.runners import Progress

# Most drives and reasons that the card shows; --json has all. Each reason has so many examples.
_MOST_ROWS, _MOST_REASONS, _EXAMPLES = 20, 12, 2


@dataclass(frozen=True)
class OneLifetime:
    """Lifetime of one of several drives, or the reason why it is unknown.

    Attributes:
        drive: model and short hash of the serial number, or the path of its file.
        name: short name, for tables and sentences.
        lifetime: None if the drive's snapshots do not show one.
        reason: why `lifetime` is None, or "".
    """

    drive: str
    name: str
    lifetime: DriveLifetime | None
    reason: str = ""

    @property
    def least_years(self) -> float:
        """Lower bound of the years left, or the years if they have no bound; else infinite."""
        if self.lifetime is None:
            return math.inf
        life = self.lifetime
        bounds = (life.years_low, life.at_least_years, life.years)
        return next((years for years in bounds if years is not None), math.inf)


@dataclass(frozen=True)
class DriveLifetimes(Presented):
    """Lifetimes of real drives, the shortest first; drives without one are last."""

    drives: tuple[OneLifetime, ...]

    @property
    def warnings(self) -> list[str]:
        """Warnings of the drives: those that differ in numbers only are one, with their number."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for drive in self.drives:
            for sentence in drive.lifetime.warnings if drive.lifetime else ():
                groups.setdefault(kind_of(sentence), []).append((drive.name, sentence))
        return [_as_one_warning(group) for group in groups.values()]

    def _records(self) -> Iterable[Mapping[str, Any]]:
        return [_record(drive) for drive in self.drives]

    def to_dict(self) -> dict[str, Any]:
        """Return the lifetimes as JSON types; a drive without one has only names and a reason."""
        return {"lifetimes": list(self._records())}

    def card(self) -> Card:
        """Return the drives that wear out first, and why others have no known life."""
        lifetimes = [(drive.name, drive.lifetime) for drive in self.drives if drive.lifetime]
        rows = [(name, *_cells(lifetime)) for name, lifetime in lifetimes[:_MOST_ROWS]]
        columns = (
            "drive, shortest remaining life first",
            ">rated life used",
            ">rated TBW used",
            "years left",
            f"{LEVEL:.0%} interval",
            ">WA since new",
            ">GB a day",
        )
        cut = cut_rows(rows, len(lifetimes), columns)
        reasons = self._reason_card()
        lives = Card(
            "Lifetimes",
            cut,
            columns,
            legend=["years left: if wear continues at its present rate"] * bool(rows),
            parts=[reasons] * bool(reasons.rows),
            is_ruled=False,
        )
        return without_empty_columns(lives)

    def _reason_card(self) -> Card:
        groups: dict[str, list[OneLifetime]] = {}
        for drive in self.drives:
            if drive.lifetime is None:
                groups.setdefault(kind_of(drive.reason), []).append(drive)
        ordered = sorted(groups.values(), key=len, reverse=True)
        rows = [
            (
                re.split(r"\. (?=[A-Z])", group[0].reason, maxsplit=1)[0],
                f"{len(group):,}",
                ", ".join(drive.name for drive in group[:_EXAMPLES]),
            )
            for group in ordered[:_MOST_REASONS]
        ]
        columns = ("why the remaining life is unknown", ">drives", "such as")
        cut = cut_rows(rows, len(ordered), columns)
        return Card("Unknown lives", cut, columns, is_ruled=False)


def _as_one_warning(group: Sequence[tuple[str, str]]) -> str:
    first = group[0][0]
    named = first if len(group) == 1 else f"{len(group):,} drives, such as {first}"
    return f"{named}: {as_one([sentence for _, sentence in group])}"


def _record(drive: OneLifetime) -> dict[str, Any]:
    lifetime = {} if drive.lifetime is None else drive.lifetime.to_dict()
    return {"drive": drive.drive, "name": drive.name, "reason": drive.reason or None, **lifetime}


def _cells(lifetime: DriveLifetime) -> tuple[str, ...]:
    used, daily, within = lifetime.percentage_used, lifetime.host_bytes_a_day, lifetime.interval
    return (
        "" if used is None else f"{used:g}%",
        "" if lifetime.share_used is None else share_in_words(lifetime.share_used),
        lifetime.years_text if lifetime.years is None else years_in_words(lifetime.years),
        "" if within is None else years_in_words(*within),
        "" if lifetime.wa is None else f"{lifetime.wa:.4g}",
        "" if daily is None else gigabytes(daily),
    )


def lifetimes_of(
    drives: Mapping[str, Sequence[Snapshot]],
    progress: Progress | None = None,
    rated_tbw: float | None = None,
) -> DriveLifetimes:
    """Return the lifetime of each drive.

    Args:
        drives: snapshots of each drive, by the drive's name.
        progress: called with the number of finished drives, and the total.
        rated_tbw: rated endurance of all drives in TB; default: that of each model.

    Raises:
        WriteampError: `rated_tbw` is given, and the drives are of several models.
    """
    if rated_tbw is not None:
        require_one_model(snapshot.facts for group in drives.values() for snapshot in group)
    lifetimes = []
    for done, (name, snapshots) in enumerate(drives.items(), 1):
        lifetimes.append(lifetime_of_drive(name, snapshots, rated_tbw))
        if progress is not None:
            progress(done, len(drives))
    return DriveLifetimes(
        tuple(sorted(lifetimes, key=lambda drive: (drive.least_years, drive.drive)))
    )


def lifetime_of_drive(
    name: str, snapshots: Sequence[Snapshot], rated_tbw: float | None = None
) -> OneLifetime:
    """Return the lifetime of one drive, or the reason why it is unknown.

    Args:
        name: name of the drive.
        snapshots: its snapshots.
        rated_tbw: rated endurance in TB; default: that of its model.
    """
    short = drive_name(snapshots[-1].facts, snapshots[-1].name)
    try:
        return OneLifetime(name, short, lifetime_of_history(snapshots, rated_tbw))
    except WriteampError as error:
        return OneLifetime(name, short, None, str(error))
