"""Settings of watches and histories, which options are made from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from writeamp.fields.domains import Number
from writeamp.fields.setting import Settings, setting
from writeamp.units.durations import DurationIn


@dataclass(frozen=True)
class WatchSettings(Settings):
    """The history's file, and the time between rounds."""

    title: ClassVar[str] = "watch"
    names_options: ClassVar[bool] = True

    db: Path = setting(
        None,
        None,
        "history to add to, an SQLite file, which is made if there is none",
        number="path",
        metavar="FILE",
        required=True,
    )
    every: float = setting(
        3600.0,
        DurationIn(Number("be from 1s to 366d", lambda value: 1 <= value <= 366 * 86_400)),
        "time between rounds, such as 10min, 1h or 1d",
        metavar="TIME",
    )


@dataclass(frozen=True)
class HistorySettings(Settings):
    """The history's file, and the drives of it."""

    title: ClassVar[str] = "history"
    names_options: ClassVar[bool] = True

    db: Path = setting(
        None,
        None,
        "history that `measure watch` keeps",
        number="path",
        metavar="FILE",
        required=True,
    )
    drive: str | None = setting(
        None, None, "only drives whose model, source or serial's hash holds this text"
    )
    prometheus: Path | None = setting(
        None,
        None,
        "write metrics to this file, for the textfile collector of Prometheus' node exporter",
        number="path",
        metavar="FILE",
    )
