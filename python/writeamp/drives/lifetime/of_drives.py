"""Lifetimes of several drives in one table, the shortest remaining life first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from writeamp.drives.counters.snapshot import Snapshot
from writeamp.drives.lifetime.of_history import lifetime_of_history
from writeamp.drives.lifetime.result import DriveLifetime, gigabytes
from writeamp.errors import WriteampError
from writeamp.results.card import Card, Presented
from writeamp.runners import Progress


@dataclass(frozen=True)
class OneLifetime:
    """Lifetime of one of several drives, or the reason why it is unknown.

    Attributes:
        drive: model and short hash of the serial number.
        lifetime: None if the drive's snapshots do not show one.
        reason: why `lifetime` is None, or "".
    """

    drive: str
    lifetime: DriveLifetime | None
    reason: str = ""

    @property
    def least_years(self) -> float:
        """Lower bound of the years left; infinite if unknown."""
        if self.lifetime is None:
            return math.inf
        bounds = (self.lifetime.years_low, self.lifetime.at_least_years)
        return next((years for years in bounds if years is not None), math.inf)


@dataclass(frozen=True)
class DriveLifetimes(Presented):
    """Lifetimes of real drives, the shortest first; drives without one are last."""

    drives: tuple[OneLifetime, ...]

    @property
    def warnings(self) -> list[str]:
        """Warnings of each drive, with its name."""
        return [
            f"{drive.drive}: {sentence}"
            for drive in self.drives
            if drive.lifetime is not None
            for sentence in drive.lifetime.warnings
        ]

    def _records(self) -> Iterable[Mapping[str, Any]]:
        return [_record(drive) for drive in self.drives]

    def to_dict(self) -> dict[str, Any]:
        """Return the lifetimes as JSON types; a drive without one has only names and a reason."""
        return {"lifetimes": list(self._records())}

    def card(self) -> Card:
        """Return a row for each drive."""
        rows: list[tuple[str, ...]] = [
            (drive.drive, *_cells(drive.lifetime), drive.reason)
            if drive.lifetime
            else (drive.drive, "", "unknown", "", "", drive.reason)
            for drive in self.drives
        ]
        columns: tuple[str, ...] = (
            "drive, shortest remaining life first",
            ">rated life used",
            "years left at this rate",
            ">WA since new",
            ">GB a day",
            "reason",
        )
        if not any(row[-1] for row in rows):
            columns, rows = columns[:-1], [row[:-1] for row in rows]
        return Card("Lifetimes", rows, columns, is_ruled=False)


def _record(drive: OneLifetime) -> dict[str, Any]:
    lifetime = {} if drive.lifetime is None else drive.lifetime.to_dict()
    return {"drive": drive.drive, "reason": drive.reason or None, **lifetime}


def _cells(lifetime: DriveLifetime) -> tuple[str, str, str, str]:
    used, daily = lifetime.percentage_used, lifetime.host_bytes_a_day
    return (
        "" if used is None else f"{used:g}%",
        lifetime.years_text,
        "" if lifetime.wa is None else f"{lifetime.wa:.4g}",
        "" if daily is None else gigabytes(daily),
    )


def lifetimes_of(
    drives: Mapping[str, Sequence[Snapshot]], progress: Progress | None = None
) -> DriveLifetimes:
    """Return the lifetime of each drive.

    Args:
        drives: snapshots of each drive, by the drive's name.
        progress: called with the number of finished drives, and the total.
    """
    lifetimes = []
    for done, (name, snapshots) in enumerate(drives.items(), 1):
        lifetimes.append(_lifetime_of(name, snapshots))
        if progress is not None:
            progress(done, len(drives))
    return DriveLifetimes(
        tuple(sorted(lifetimes, key=lambda drive: (drive.least_years, drive.drive)))
    )


def _lifetime_of(name: str, snapshots: Sequence[Snapshot]) -> OneLifetime:
    try:
        return OneLifetime(name, lifetime_of_history(snapshots))
    except WriteampError as error:
        return OneLifetime(name, None, str(error))
