"""Settings of watches and histories; the options are generated from them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from writeamp.fields.domains import Number
from writeamp.fields.setting import Settings, setting
from writeamp.units.durations import DurationIn


@dataclass(frozen=True)
class WatchSettings(Settings):
    """File of the history, and time between two rounds of reading the drives."""

    title: ClassVar[str] = "watch"
    names_options: ClassVar[bool] = True

    db: Path = setting(
        None,
        None,
        "SQLite file of the history to add to; it is created if missing",
        number="path",
        metavar="FILE",
        required=True,
    )
    every: float = setting(
        3600.0,
        DurationIn(Number("be from 1s to 366d", lambda value: 1 <= value <= 366 * 86_400)),
        "time from the start of one round of reading to the next, such as 10min, 1h or 1d",
        metavar="TIME",
    )
    metrics: str | None = setting(
        None,
        None,
        "serve Prometheus metrics of the drives at this loopback address, such as 127.0.0.1:9106, "
        "or unix:PATH",
        metavar="ADDR",
    )


@dataclass(frozen=True)
class HistorySettings(Settings):
    """File of the history, and which of its drives are shown."""

    title: ClassVar[str] = "history"
    names_options: ClassVar[bool] = True

    db: Path = setting(
        None,
        None,
        "history written by `measure watch`",
        number="path",
        metavar="FILE",
        required=True,
    )
    drive: str | None = setting(
        None, None, "show only drives with this text in their model, source or serial hash"
    )
    prometheus: Path | None = setting(
        None,
        None,
        "write each drive's WA, written bytes and used rated life to this file, for the textfile "
        "collector of Prometheus' node exporter",
        number="path",
        metavar="FILE",
    )
