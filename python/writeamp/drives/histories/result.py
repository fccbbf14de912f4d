"""Histories of watched drives: the intervals of each, and metrics as Prometheus' text."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from writeamp.drives.counters.answer import interval_answer, life_answer
from writeamp.drives.counters.reading import snapshots_of
from writeamp.drives.counters.result import DriveCounters
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.drives.histories.store import readings_in
from writeamp.fields.domains import Text
from writeamp.files.output import replacing
from writeamp.plots.figures.drives import DriveSeries, wa_over_days
from writeamp.plots.spec import PanelChart
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.units.byte_sizes import shown_bytes

# Snapshots are put together until the bounds of WA are this close, relative to it.
_CLOSE_ENOUGH = 0.1
# Raw flash and what the user gets of it are a tenth apart or more, and both bound an estimate.
_CLOSE_FOR_ESTIMATE = 0.25
# Checks that say that a drive's counters do not go on from one snapshot to the next.
_BREAKS = frozenset({"no reset", "same drive", "same firmware"})
_LABELS = ("drive", "model")
_PER_CENT = 100.0


@dataclass(frozen=True)
class DriveHistory:
    """History of one drive.

    Attributes:
        drive: its serial number's hash, or the source that it was read from.
        snapshots: in order of time; each has a time.
        intervals: between them.
        life: the answer of the last snapshot.
    """

    drive: str
    snapshots: tuple[Snapshot, ...]
    intervals: tuple[HistoryInterval, ...]
    life: DriveCounters


@dataclass(frozen=True, eq=False)
class History(Drawn):
    """Histories of drives, by the file that they are kept in.

    Attributes:
        drives: in the order of their names.
    """

    drives: tuple[DriveHistory, ...]

    def _records(self) -> Iterable[Mapping[str, Any]]:
        for drive in self.drives:
            for one in drive.intervals:
                (record,) = one.answer._records()
                yield {"drive": drive.drive, **_times(one), **record}

    def to_dict(self) -> dict[str, Any]:
        """Return the history as JSON types; times are in seconds since 1970, and as text."""
        return {
            "drives": [
                {
                    "drive": one.drive,
                    "model": one.life.facts.model,
                    "firmware": one.life.facts.firmware,
                    "snapshots": len(one.snapshots),
                    "life": one.life.to_dict(),
                    "intervals": [
                        {**_times(each), **each.answer.to_dict()} for each in one.intervals
                    ],
                }
                for one in self.drives
            ]
        }

    def card(self) -> Card:
        """Return WA of each interval, and the drives that have one snapshot only."""
        rows = [
            (one.life.facts.model or one.drive, "", "", "", "", "one snapshot only")
            for one in self.drives
            if not one.intervals
        ]
        rows += [
            (
                one.answer.facts.model or drive.drive,
                _shown_time(one.begins_at),
                _shown_time(one.ends_at),
                one.answer.wa_in_words,
                shown_bytes(round(one.answer.host.nominal)) if one.answer.host else "",
                one.answer.reason,
            )
            for drive in self.drives
            for one in drive.intervals
        ]
        intervals = sum(len(one.intervals) for one in self.drives)
        title = f"History of {len(self.drives):,} drives in {intervals:,} intervals"
        columns = ("drive", "from", "until", "WA", "host wrote", "")
        return Card(title, rows, columns, is_ruled=False)

    def figure(self) -> PanelChart:
        """Describe WA and the host's volume of each drive over days."""
        return wa_over_days([_series(one) for one in self.drives])


def _shown_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def _times(one: HistoryInterval) -> dict[str, Any]:
    return {
        "from": one.begins_at,
        "until": one.ends_at,
        "from_utc": datetime.fromtimestamp(one.begins_at, UTC).isoformat(timespec="seconds"),
        "until_utc": datetime.fromtimestamp(one.ends_at, UTC).isoformat(timespec="seconds"),
        "is_break": one.is_break,
    }


def _series(one: DriveHistory) -> DriveSeries:
    first = one.snapshots[0].facts.taken_at or 0.0
    days, wa, daily = [], [], []
    for each in one.intervals:
        length = (each.ends_at - each.begins_at) / 86_400
        host = each.answer.host
        for end in (each.begins_at, each.ends_at):
            days.append((end - first) / 86_400)
            wa.append(float("nan") if each.answer.wa is None else each.answer.wa)
            known = host is not None and length > 0 and not each.is_break
            daily.append(float(host.nominal) / length / 1e9 if known and host else float("nan"))
    return DriveSeries(one.life.facts.model or one.drive, days, wa, daily)


def history(db: str | os.PathLike[str], *, drive: str | None = None) -> History:
    """Return the history of the drives that were watched.

    Args:
        db: the file that `writeamp measure watch` keeps.
        drive: only drives whose serial hash, source or model holds this text.

    Returns:
        `History`: `drives`, each with its snapshots and WA over time.

    Raises:
        WriteampError: there is no such file, or it is no history or damaged.

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
    found = [
        DriveHistory(name, tuple(group), tuple(intervals_of(group)), life_answer(group[-1]))
        for name, group in sorted(snapshots_by_drive(db).items())
    ]
    return History(tuple(one for one in found if drive is None or drive in _names(one)))


def snapshots_by_drive(db: str | os.PathLike[str]) -> dict[str, list[Snapshot]]:
    """Return the snapshots of each drive, in order of time, by its serial's hash or its source.

    Raises:
        WriteampError: there is no such file, or it is no history or damaged.
    """
    by_drive: dict[str, list[tuple[Snapshot, float]]] = {}
    for reading in readings_in(Path(db)):
        for one in snapshots_of(reading.name, reading.files):
            name = one.facts.serial or reading.name
            by_drive.setdefault(name, []).append((one, reading.taken_at))
    return {
        name: sorted(_timed(group), key=lambda one: one.facts.taken_at or 0.0)
        for name, group in by_drive.items()
    }


def _timed(readings: Iterable[tuple[Snapshot, float]]) -> Iterator[Snapshot]:
    """Yield one drive's snapshots with their times, or else those of their readings.

    Times in a zone that is not known differ as they say. Their zone's offset is the least that puts
    none of them behind its reading.
    """
    readings = list(readings)
    offsets: dict[str, float] = {}
    for one, read_at in readings:
        if (local := one.facts.local_time) is not None:
            behind = local.clock_s - read_at
            offsets[local.zone] = max(offsets.get(local.zone, behind), behind)
    for one, read_at in readings:
        local, taken_at = one.facts.local_time, one.facts.taken_at or read_at
        if one.facts.taken_at is None and local is not None:
            taken_at = local.clock_s - offsets[local.zone]
        yield replace(one, facts=replace(one.facts, taken_at=taken_at))


def _names(one: DriveHistory) -> str:
    return "\n".join((one.drive, one.life.name, one.life.facts.model or ""))


class HistoryInterval(NamedTuple):
    """WA of a drive between two of its snapshots.

    Attributes:
        begins_at, ends_at: seconds since 1970.
        answer: of the interval.
        is_break: the counters do not go on here: they were cleared, or another firmware counts.
    """

    begins_at: float
    ends_at: float
    answer: DriveCounters
    is_break: bool


def intervals_of(snapshots: Sequence[Snapshot]) -> Iterator[HistoryInterval]:
    """Yield the intervals of one drive's snapshots, in order of time.

    Successive snapshots are put together until the bounds of WA are within 10% of it; the last
    interval may be wider. A cleared counter or another firmware ends an interval, and is one of its
    own.

    Args:
        snapshots: of one drive, in order of time, each with `taken_at`.
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
    return any(one.name in _BREAKS and one.verdict in {"fail", "doubt"} for one in answer.checks)


def _is_close(answer: DriveCounters) -> bool:
    if answer.kind == "lower-bound" and answer.host is not None:
        # Its bound is as good as the amounts are known, of which that of the host is at hand.
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


def write_metrics(found: History, path: str | os.PathLike[str]) -> None:
    """Write the last state of each drive, the file as a whole or not at all.

    Raises:
        WriteampError: it cannot be written.
    """
    with replacing(path, "metrics") as file:
        file.write(metrics_text(found))


def metrics_text(found: History) -> bytes:
    """Return the metrics of each drive's life so far, and of its last interval that has WA."""
    from prometheus_client import (  # noqa: PLC0415 (slow)
        CollectorRegistry,
        Gauge,
        generate_latest,
    )

    registry = CollectorRegistry()

    def gauge(name: str, help_text: str) -> Any:
        return Gauge(f"writeamp_drive_{name}", help_text, _LABELS, registry=registry)

    life = gauge("life_write_amplification", "WA since the drive was new")
    last = gauge("interval_write_amplification", "WA of the last interval that has one")
    host = gauge("host_written_bytes", "Bytes that the host wrote since the drive was new")
    flash = gauge("flash_programmed_bytes", "Bytes that were programmed since the drive was new")
    used = gauge("rated_life_used_ratio", "Share of the rated life that is used")
    read_at = gauge("read_timestamp_seconds", "Time of the last reading")
    for one in found.drives:
        names = (one.drive, one.life.facts.model or "")
        with_wa = [each.answer.wa for each in one.intervals if each.answer.wa is not None]
        percent = one.life.facts.percentage_used
        for metric, value in (
            (life, one.life.wa),
            (last, with_wa[-1] if with_wa else None),
            (host, one.life.host and float(one.life.host.nominal)),
            (flash, one.life.flash and float(one.life.flash.nominal)),
            (used, None if percent is None else percent / _PER_CENT),
            (read_at, one.life.facts.taken_at),
        ):
            if value is not None:
                metric.labels(*names).set(value)
    return generate_latest(registry)
