"""Function `this_machine`: counters and remaining life of every drive of this machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from writeamp.drives.counters.answer import life_answer
from writeamp.drives.counters.rated import share_in_words
from writeamp.drives.counters.result import DriveCounters
from writeamp.drives.devices.device import drives_here
from writeamp.drives.devices.reading import read_place
from writeamp.drives.lifetime.of_drives import OneLifetime, lifetime_of_drive
from writeamp.errors import WriteampError
from writeamp.results.card import Card, Presented, without_empty_columns
from writeamp.results.numbers import years_in_words
from writeamp.runners import Progress
from writeamp.units.byte_sizes import shown_bytes

__all__ = ["MachineDrives", "this_machine"]


@dataclass(frozen=True)
class SkippedDrive:
    """Drive that could not be read; `reason` states why."""

    device: str
    reason: str


@dataclass(frozen=True)
class MachineDrive:
    """Counters and remaining life of a drive, read now; `device` is its path."""

    device: str
    counters: DriveCounters
    life: OneLifetime

    def to_dict(self) -> dict[str, Any]:
        """Return the drive as JSON types: the keys of its counters, and its remaining years."""
        life = self.life.lifetime
        years = ("years", "years_low", "years_high", "at_least_years")
        return {
            "device": self.device,
            **self.counters.to_dict(),
            **{name: None if life is None else getattr(life, name) for name in years},
            "years_reason": self.life.reason or None,
        }

    def cells(self) -> tuple[str, ...]:
        """Return the row of the table."""
        counters, life = self.counters, self.life.lifetime
        used = counters.facts.percentage_used
        amounts = [
            "" if amount is None else shown_bytes(round(amount.nominal))
            for amount in (counters.host, counters.flash)
        ]
        return (
            self.device,
            counters.facts.model or "",
            *amounts,
            counters.wa_in_words,
            "" if used is None else f"{used:g}%",
            "" if counters.share_used is None else share_in_words(counters.share_used),
            "" if life is None else _years(life.years, life.years_text),
            "" if life is None or life.interval is None else years_in_words(*life.interval),
        )


def _years(years: float | None, otherwise: str) -> str:
    return otherwise if years is None else years_in_words(years)


@dataclass(frozen=True)
class MachineDrives(Presented):
    """Drives of this machine, and those that could not be read."""

    drives: tuple[MachineDrive, ...]
    skipped: tuple[SkippedDrive, ...]

    @property
    def warnings(self) -> list[str]:
        """Reasons of missing drives, and warnings of the others."""
        return [
            *(f"{drive.device} is left out: {drive.reason}" for drive in self.skipped),
            *(
                f"{drive.device}: {sentence}"
                for drive in self.drives
                for sentence in drive.counters.warnings
            ),
        ]

    def _records(self) -> Iterable[Mapping[str, Any]]:
        return [drive.to_dict() for drive in self.drives]

    def to_dict(self) -> dict[str, Any]:
        """Return the drives as JSON types, with the keys of `writeamp measure all --json`."""
        return {
            "drives": list(self._records()),
            "unread": [vars(drive) for drive in self.skipped],
        }

    def card(self) -> Card:
        """Return a row for each drive."""
        columns = (
            "drive", "model", ">host wrote", ">flash wrote", "WA since new", ">rated life used",
            ">rated TBW used", "years left", "90% interval",
        )  # fmt: skip
        rows = [drive.cells() for drive in self.drives]
        return without_empty_columns(Card("Drives of this machine", rows, columns, is_ruled=False))


def this_machine(
    *, devices: Sequence[str] | None = None, progress: Progress | None = None
) -> MachineDrives:
    """Read the counters of every drive of this machine, with nvme-cli or smartctl.

    Drives are not written to. The tools need root.

    Args:
        devices: drives to read; default: all NVMe, SATA and SAS drives.
        progress: called with the number of finished drives, and the total.

    Returns:
        `MachineDrives`: `drives` (each with `device`, `counters` and `life`) and `skipped`.

    Raises:
        WriteampError: there is no such drive, or none could be read.
    """
    paths = drives_here() if devices is None else list(devices)
    drives: list[MachineDrive] = []
    skipped: list[SkippedDrive] = []
    for done, path in enumerate(paths, 1):
        try:
            snapshots = read_place(path)
            life = lifetime_of_drive(path, snapshots)
            drives.append(MachineDrive(path, life_answer(snapshots[-1]), life))
        except WriteampError as error:
            skipped.append(SkippedDrive(path, str(error)))
        if progress is not None:
            progress(done, len(paths))
    if not drives:
        more = f" (and {len(skipped) - 1} more)" if len(skipped) > 1 else ""
        raise WriteampError(f"no drive could be read: {skipped[0].reason}{more}")
    return MachineDrives(tuple(drives), tuple(skipped))
