"""Histories of watched drives: intervals of each drive, and metrics for Prometheus."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from writeamp.drives.counters.answer import interval_answer, life_answer
from writeamp.drives.counters.names import drive_name
from writeamp.drives.counters.reading import snapshots_of
from writeamp.drives.counters.result import DriveCounters
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.drives.histories.store import readings_in
from writeamp.fields.domains import Text
from writeamp.plots.figures.drives import wa_over_days
from writeamp.plots.spec import PanelChart
from writeamp.reports.sections.drives import series_of
from writeamp.results.card import Card, cut_rows, without_empty_columns
from writeamp.results.drawn import Drawn
from writeamp.runners import Progress
from writeamp.units.byte_sizes import shown_bytes

# Intervals between snapshots are joined until the width of the WA bounds / WA is at most this.
_CLOSE_ENOUGH = 0.1
# The same limit for estimates of WA from erase counts. Their bounds are wider, as they come from
# raw and user capacity, which differ by a tenth or more.
_CLOSE_FOR_ESTIMATE = 0.25
# Checks of counters that fail if the counters are not continuous between two snapshots.
_BREAKS = frozenset({"no reset", "same drive", "same firmware"})
# Most drives that the card shows, most drives with intervals, most intervals of each, and most
# intervals of several drives together; --json has all.
_MOST_ROWS, _MOST_TABLES, _MOST_INTERVALS, _MOST_TOGETHER = 20, 8, 20, 40


@dataclass(frozen=True)
class DriveHistory:
    """History of one drive.

    Attributes:
        drive: hash of its serial number, or the source that it was read from.
        snapshots: snapshots of its counters in order of time, each with a time.
        intervals: intervals between the snapshots, with the WA of each.
        life: WA and checks since the drive was new, from the last snapshot.
    """

    drive: str
    snapshots: tuple[Snapshot, ...]
    intervals: tuple[HistoryInterval, ...]
    life: DriveCounters

    @property
    def name(self) -> str:
        """Model and short hash of the serial number, or a short name of the source."""
        return drive_name(self.snapshots[-1].facts, self.drive)

    @property
    def latest(self) -> str:
        """WA of the last interval with a known WA as text."""
        if not self.intervals:
            return "one snapshot so far"
        answers = [interval.answer for interval in self.intervals if interval.answer.wa is not None]
        return answers[-1].wa_in_words if answers else "unknown"


@dataclass(frozen=True, eq=False)
class History(Drawn):
    """Histories of drives in one file.

    Attributes:
        drives: drives, sorted by name.
    """

    drives: tuple[DriveHistory, ...]

    def _records(self) -> Iterable[Mapping[str, Any]]:
        for drive in self.drives:
            for interval in drive.intervals:
                (record,) = interval.answer._records()
                yield {"drive": drive.drive, **_times(interval), **record}

    def to_dict(self) -> dict[str, Any]:
        """Return the history as JSON types; times are in seconds since 1970, and also as text."""
        return {
            "drives": [
                {
                    "name": drive.name,
                    "drive": drive.drive,
                    "model": drive.life.facts.model,
                    "firmware": drive.life.facts.firmware,
                    "snapshots": len(drive.snapshots),
                    "life": drive.life.to_dict(),
                    "intervals": [
                        {**_times(each), **each.answer.to_dict()} for each in drive.intervals
                    ],
                }
                for drive in self.drives
            ],
            "intervals": sum(len(drive.intervals) for drive in self.drives),
        }

    def card(self) -> Card:
        """Return a row for each drive, the highest WA first, and tables of their intervals."""
        drives = sorted(self.drives, key=_by_wa)
        rows = [
            (
                drive.name,
                f"{len(drive.snapshots):,}",
                drive.life.wa_in_words,
                drive.latest,
                _shown_time(drive.snapshots[-1].facts.taken_at or 0.0),
            )
            for drive in drives[:_MOST_ROWS]
        ]
        columns = (
            "drive, highest WA first",
            ">snapshots",
            "WA since new",
            "WA of the last interval",
            "until (UTC)",
        )
        with_intervals = [drive for drive in drives if drive.intervals]
        shown = with_intervals[:_MOST_TABLES]
        most = min(_MOST_INTERVALS, _MOST_TOGETHER // max(len(shown), 1))
        left_out = len(with_intervals) - len(shown)
        return Card(
            "History",
            cut_rows(rows, len(drives), columns),
            columns,
            legend=[f"{left_out} more drives have intervals (--json)"] if left_out > 0 else [],
            parts=[_interval_card(drive, most) for drive in shown],
            is_ruled=False,
        )

    def figure(self) -> PanelChart:
        """Describe WA and host bytes of each drive over time in days."""
        return wa_over_days([series_of(drive) for drive in self.to_dict()["drives"]])


def _by_wa(drive: DriveHistory) -> tuple[float, str]:
    """Return the sort key of a drive: the highest WA since new first; without one by name."""
    return -(drive.life.wa or 0.0), drive.name


def _interval_card(drive: DriveHistory, most: int) -> Card:
    rows = [
        (
            _shown_time(interval.begins_at),
            _shown_time(interval.ends_at),
            interval.answer.wa_in_words,
            shown_bytes(round(interval.answer.host.nominal)) if interval.answer.host else "",
            interval.answer.reason,
        )
        for interval in drive.intervals[-most:]
    ]
    earlier = len(drive.intervals) - len(rows)
    notes = [f"earlier intervals: {earlier}, in --json"] if earlier else []
    columns = (f"{drive.name}, from (UTC)", "until (UTC)", "WA", "host wrote", "reason")
    card = Card(drive.name, rows, columns, notes=notes, is_ruled=False)
    return without_empty_columns(card)


def _shown_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def _times(interval: HistoryInterval) -> dict[str, Any]:
    return {
        "from": interval.begins_at,
        "until": interval.ends_at,
        "from_utc": datetime.fromtimestamp(interval.begins_at, UTC).isoformat(timespec="seconds"),
        "until_utc": datetime.fromtimestamp(interval.ends_at, UTC).isoformat(timespec="seconds"),
        "is_break": interval.is_break,
    }


def history(
    db: str | os.PathLike[str], *, drive: str | None = None, progress: Progress | None = None
) -> History:
    """Return the history of the watched drives.

    Args:
        db: file written by `writeamp measure watch`.
        drive: only drives with this text in their serial hash, source or model.
        progress: called with the number of readings that were read, and the total.

    Returns:
        `History`: `drives`, each with its snapshots and WA over time.

    Raises:
        WriteampError: the file does not exist, is not a history, or is damaged.

    >>> import json, tempfile, pathlib, writeamp as wa
    >>> from writeamp.drives.histories.watching import watch_once
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> log = {"critical_warning": 0, "data_units_written": 2000}
    >>> _ = (folder / "a.json").write_text(json.dumps(log))
    >>> _ = watch_once([folder / "a.json"], folder / "db.sqlite")
    >>> len(wa.measure.history(folder / "db.sqlite").drives)
    1
    """
    if drive is not None:
        drive = Text().check("drive", drive)
    drives = [
        DriveHistory(name, tuple(group), tuple(intervals_of(group)), life_answer(group[-1]))
        for name, group in sorted(snapshots_by_drive(db, progress).items())
    ]
    return History(
        tuple(
            drive_history
            for drive_history in drives
            if drive is None or drive in _names(drive_history)
        )
    )


def snapshots_by_drive(
    db: str | os.PathLike[str], progress: Progress | None = None
) -> dict[str, list[Snapshot]]:
    """Return the snapshots of each drive in order of time, by serial hash or source.

    Args:
        db: the history.
        progress: called with the number of readings that were read, and the total.

    Raises:
        WriteampError: the file does not exist, is not a history, or is damaged.
    """
    by_drive: dict[str, list[tuple[Snapshot, float]]] = {}
    for reading in readings_in(Path(db), progress):
        for snapshot in snapshots_of(reading.name, reading.files):
            name = snapshot.facts.serial or reading.name
            by_drive.setdefault(name, []).append((snapshot, reading.taken_at))
    return {
        name: sorted(_timed(group), key=lambda snapshot: snapshot.facts.taken_at or 0.0)
        for name, group in by_drive.items()
    }


def _timed(readings: Iterable[tuple[Snapshot, float]]) -> Iterator[Snapshot]:
    """Yield one drive's snapshots with their own times, or else with the times they were read.

    Some documents have local times in an unknown time zone, so that only their differences are
    known. Their offset is chosen as the smallest for which no snapshot is later than the time at
    which it was read.
    """
    readings = list(readings)
    offsets: dict[str, float] = {}
    for snapshot, read_at in readings:
        if (local := snapshot.facts.local_time) is not None:
            lag_s = local.clock_s - read_at
            offsets[local.zone] = max(offsets.get(local.zone, lag_s), lag_s)
    for snapshot, read_at in readings:
        local, taken_at = snapshot.facts.local_time, snapshot.facts.taken_at or read_at
        if snapshot.facts.taken_at is None and local is not None:
            taken_at = local.clock_s - offsets[local.zone]
        yield replace(snapshot, facts=replace(snapshot.facts, taken_at=taken_at))


def _names(history: DriveHistory) -> str:
    return "\n".join(
        (history.drive, history.name, history.life.name, history.life.facts.model or "")
    )


class HistoryInterval(NamedTuple):
    """WA of a drive between two of its snapshots.

    Attributes:
        begins_at, ends_at: times of the two snapshots, in seconds since 1970.
        answer: WA of the interval, with its bounds and checks.
        is_break: whether the counters are discontinuous: they were cleared, or the firmware
            changed.
    """

    begins_at: float
    ends_at: float
    answer: DriveCounters
    is_break: bool


def intervals_of(snapshots: Sequence[Snapshot]) -> Iterator[HistoryInterval]:
    """Yield the intervals of one drive's snapshots, in order of time.

    An interval extends over further snapshots until the bounds of WA are within 10%, or 25% for an
    estimate from erases. If counters were cleared or the firmware changed between two snapshots,
    these two form an interval of their own, a break. The last interval, and one that ends at a
    break, may have wider bounds.

    Args:
        snapshots: snapshots of one drive, in order of time, each with `taken_at`.
    """
    start = 0
    for place in range(1, len(snapshots)):
        step = interval_answer(snapshots[place - 1], snapshots[place])
        if _is_break(step):
            if start < place - 1:
                yield _interval(snapshots, start, place - 1)
            yield _interval(snapshots, place - 1, place, is_break=True)
            start = place
            continue
        answer = step if start == place - 1 else interval_answer(snapshots[start], snapshots[place])
        if _is_close(answer) or place == len(snapshots) - 1:
            yield _interval(snapshots, start, place)
            start = place


def _is_break(answer: DriveCounters) -> bool:
    return any(
        check.name in _BREAKS and check.verdict in {"fail", "doubt"} for check in answer.checks
    )


def _is_close(answer: DriveCounters) -> bool:
    if answer.kind == "lower-bound" and answer.host is not None:
        # A lower bound of WA is as precise as the bytes from which it is computed, so the width of
        # the host's bytes decides.
        return answer.host.high - answer.host.low <= _CLOSE_ENOUGH * answer.host.nominal
    if answer.bounds is None:
        return False
    low, high = answer.bounds
    if answer.wa is None:
        return high - low <= _CLOSE_FOR_ESTIMATE * high
    return high - low <= _CLOSE_ENOUGH * answer.wa


def _interval(
    snapshots: Sequence[Snapshot], start: int, end: int, *, is_break: bool = False
) -> HistoryInterval:
    first, last = snapshots[start], snapshots[end]
    return HistoryInterval(
        first.facts.taken_at or 0.0,
        last.facts.taken_at or 0.0,
        interval_answer(first, last),
        is_break,
    )
