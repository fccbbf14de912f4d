"""Metrics of watched drives for Prometheus: since new, in the last interval, and their end."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector, CollectorRegistry

from writeamp.drives.histories.result import DriveHistory, History
from writeamp.drives.lifetime.of_drives import lifetime_of_drive
from writeamp.files.output import replacing
from writeamp.units.durations import YEAR_S

_LABELS = ("drive", "model")
_PER_CENT = 100.0
# Name of the metric after the prefix, attribute of `DriveMetrics`, and description.
_GAUGES = (
    ("life_write_amplification", "wa", "WA since the drive was new"),
    ("interval_write_amplification", "interval_wa", "WA of the last interval with a known WA"),
    ("host_written_bytes", "host_bytes", "Host bytes written since the drive was new"),
    ("flash_programmed_bytes", "flash_bytes", "Flash bytes programmed since the drive was new"),
    ("rated_life_used_ratio", "life_used", "Used rated life / rated life; may exceed 1"),
    ("rated_tbw_used_ratio", "share_used", "Host bytes / rated TBW; may exceed 1"),
    (
        "projected_end_timestamp_seconds",
        "projected_end",
        "Time at which the rated life is used at the present rate, in seconds since 1970",
    ),
    (
        "projected_end_earliest_timestamp_seconds",
        "projected_end_earliest",
        "Lower end of the 90% interval of that time",
    ),
    ("read_timestamp_seconds", "read_at", "Time of the last reading in seconds since 1970"),
)


@dataclass(frozen=True)
class DriveMetrics:
    """Last state of a watched drive; None for unknown values.

    Attributes:
        drive: hash of its serial number, or the source that it was read from.
        model: its model, or "".
        wa: WA since the drive was new.
        interval_wa: WA of the last interval with a known WA.
        host_bytes, flash_bytes: bytes written since the drive was new.
        life_used: used share of the rated life by the drive's percentage used; may exceed 1.
        share_used: host bytes / rated TBW; may exceed 1.
        projected_end, projected_end_earliest: time at which the rated life is used at the present
            rate, and the lower end of its 90% interval, in seconds since 1970.
        read_at: time of the last reading, in seconds since 1970.
    """

    drive: str
    model: str
    wa: float | None
    interval_wa: float | None
    host_bytes: float | None
    flash_bytes: float | None
    life_used: float | None
    share_used: float | None
    projected_end: float | None
    projected_end_earliest: float | None
    read_at: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the state as JSON types."""
        return asdict(self)


def metrics_of(histories: History) -> list[DriveMetrics]:
    """Return the last state of each drive of a history."""
    return [_metrics_of(drive) for drive in histories.drives]


def _metrics_of(drive: DriveHistory) -> DriveMetrics:
    life, read_at = drive.life, drive.life.facts.taken_at
    with_wa = [each.answer.wa for each in drive.intervals if each.answer.wa is not None]
    percent = life.facts.percentage_used
    left = lifetime_of_drive(drive.drive, drive.snapshots).lifetime
    years, least = (None, None) if left is None else (left.years, left.years_low)
    return DriveMetrics(
        drive=drive.drive,
        model=life.facts.model or "",
        wa=life.wa,
        interval_wa=with_wa[-1] if with_wa else None,
        host_bytes=life.host and float(life.host.nominal),
        flash_bytes=life.flash and float(life.flash.nominal),
        life_used=None if percent is None else percent / _PER_CENT,
        share_used=life.share_used,
        projected_end=_after(read_at, years),
        projected_end_earliest=_after(read_at, least),
        read_at=read_at,
    )


def _after(read_at: float | None, years: float | None) -> float | None:
    return None if read_at is None or years is None else read_at + years * YEAR_S


class HistoryCollector(Collector):
    """Prometheus collector of the last round of a watch."""

    def __init__(self) -> None:
        """Begin without drives."""
        self._drives: tuple[DriveMetrics, ...] = ()
        self._turn = threading.Lock()

    def update(self, drives: Iterable[DriveMetrics]) -> None:
        """Replace the drives by those of a new round."""
        with self._turn:
            self._drives = tuple(drives)

    def collect(self) -> Iterator[Metric]:
        """Yield a gauge for each kind of value."""
        with self._turn:
            drives = self._drives
        for name, attribute, help_text in _GAUGES:
            gauge = GaugeMetricFamily(f"writeamp_drive_{name}", help_text, labels=_LABELS)
            for drive in drives:
                if (value := getattr(drive, attribute)) is not None:
                    gauge.add_metric((drive.drive, drive.model), value)
            yield gauge


def write_metrics(histories: History, path: str | os.PathLike[str]) -> None:
    """Write the metrics of each drive's last state to a file atomically.

    Raises:
        WriteampError: the file cannot be written.
    """
    registry, collector = CollectorRegistry(), HistoryCollector()
    collector.update(metrics_of(histories))
    registry.register(collector)
    with replacing(path, "metrics") as file:
        file.write(generate_latest(registry))
