"""Input of a black-box model: a workload, or the windows of a trace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from writeamp import traces
from writeamp.devices.device import SIZE
from writeamp.errors import WriteampError
from writeamp.fields.setting import Settings, setting
from writeamp.fio.workload import jobs_of
from writeamp.learn.blackbox.features import (
    Characteristics,
    DriveUse,
    find_feature_set,
    of_fio_job,
    of_trace,
    of_workload,
)
from writeamp.traces.settings import format_setting
from writeamp.units.durations import DURATION

_TRACE = {"panel": "trace"}
_DRIVE = {"panel": "drive use"}

# A feature set with this characteristic also needs the state of the drive.
_OF_A_STATE = "working_set_bytes"

_OF_TRACES = {"trace_format": "--format", "window": "--window", "service": "--service"}


@dataclass(frozen=True)
class ModelInput(Settings):
    """Input of a model, from the options: a workload, or the windows of a trace.

    Raises:
        WriteampError: neither or both are given, or a workload has an option of traces or vice
            versa.
    """

    title: ClassVar[str] = "input"
    names_options: ClassVar[bool] = True

    workload: str | None = setting(
        None,
        None,
        "workload to predict, with parameters of its requests, such as "
        "random:bs=8k,write=0.5,qd=8; give this, --fio or --trace",
        metavar="SPEC",
    )
    fio: Path | None = setting(
        None, None, "fio job file with one job to predict", number="path", metavar="FILE"
    )
    fio_run: str | None = setting(
        None,
        None,
        "command line of fio with one job to predict; fio is not executed",
        metavar="CMD",
    )
    trace: Path | None = setting(
        None,
        None,
        "block trace; the performance in each of its time windows is predicted",
        number="path",
        metavar="FILE",
        **_TRACE,
    )
    trace_format: str | None = format_setting(metavar="NAME", **_TRACE)
    window: float | None = setting(
        None,
        DURATION,
        "length of a time window of the trace (1min by default)",
        metavar="TIME",
        **_TRACE,
    )
    service: float | None = setting(
        None,
        DURATION,
        "assumed time of a request (100us by default). A window's queue depth is computed for a "
        "drive that serves one request after another, each in this time",
        metavar="TIME",
        **_TRACE,
    )
    space: int | None = setting(
        None,
        SIZE,
        "size of the part of the drive that the workload uses; with --trace, the drive's capacity",
        number="bytes",
        **_DRIVE,
    )
    fill: float | None = setting(
        None,
        None,
        "share of the drive's capacity that holds data (1 by default); with --trace, the share "
        "before the trace begins (0 by default)",
        number="ratio",
        metavar="SHARE",
        **_DRIVE,
    )
    recent_writes: int | None = setting(
        None,
        SIZE,
        "bytes that the host wrote in the minute before the workload begins (0 by default)",
        number="bytes",
        **_DRIVE,
    )

    def __post_init__(self) -> None:
        """Check every field, and reject those that contradict each other."""
        super().__post_init__()
        if [self.workload, self.fio, self.fio_run, self.trace].count(None) != 3:
            raise WriteampError(
                "give one of --workload SPEC, --fio FILE, --fio-run CMD, --trace FILE"
            )
        if self.trace is None:
            for name, flag in _OF_TRACES.items():
                if getattr(self, name) is not None:
                    raise WriteampError(f"{flag} needs --trace, but another load was given")
        elif self.recent_writes is not None:
            raise WriteampError("--recent-writes needs --workload; a trace has its own writes")

    @property
    def name(self) -> str:
        """Name of the workload, fio job or trace."""
        return str(self.workload or self.fio or self.fio_run or self.trace)

    @property
    def what(self) -> dict[str, str]:
        """Workload or trace as an entry of a JSON document."""
        return {"workload" if self.trace is None else "trace": self.name}

    def rows(self, features: str) -> pl.DataFrame:
        """Return the characteristics that a feature set needs: one row, or one per trace window.

        Raises:
            WriteampError: the workload, the trace or an option is not valid, or the parameters of
                the workload do not determine its characteristics.
        """
        if self.trace is None:
            characteristics = self.characteristics()
            if self.space is None and _OF_A_STATE in find_feature_set(features).needs:
                raise WriteampError(
                    f"the features {features!r} need the state of the drive: give --space SIZE, "
                    "the part of the drive that the workload uses; --fill and --recent-writes are "
                    "optional"
                )
            return characteristics.frame()
        return of_trace(self._requests, features=features, **dict(self._of_windows()))

    def characteristics(self) -> Characteristics:
        """Return the characteristics of a workload or fio job, which determine its row.

        Raises:
            WriteampError: as `rows`.
        """
        if self.workload is not None:
            return of_workload(self.workload, use=self._use())
        jobs = jobs_of(self.fio, self.fio_run).jobs
        if len(jobs) != 1:
            raise WriteampError(
                f"{self.name} has {len(jobs)} jobs; a black-box model predicts one job"
            )
        return of_fio_job(jobs[0].options, use=self._use())

    @cached_property
    def _requests(self) -> traces.Trace:
        return traces.read(str(self.trace), self.trace_format, origins=False)

    def _of_windows(self) -> Iterator[tuple[str, Any]]:
        if self.window is not None:
            yield "window_s", self.window
        if self.service is not None:
            yield "service_us", self.service * 1e6
        if self.space is not None:
            yield "capacity_bytes", self.space
        if self.fill is not None:
            yield "fill", self.fill

    def _use(self) -> DriveUse | None:
        if self.space is None:
            if self.fill is not None or self.recent_writes is not None:
                raise WriteampError("--fill and --recent-writes need --space SIZE")
            return None
        return DriveUse(
            space_bytes=self.space,
            fill=1.0 if self.fill is None else self.fill,
            recent_write_bytes=float(self.recent_writes or 0),
        )
