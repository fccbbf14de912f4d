"""Options that choose the workload or the trace that a black-box model is asked about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import polars as pl
import typer

from writeamp import traces
from writeamp.blackbox.features import DriveUse, of_trace, of_workload
from writeamp.cli import options
from writeamp.devices.device import SIZE
from writeamp.errors import WriteampError
from writeamp.traces.words import EXAMPLE, FORMAT_NAMES
from writeamp.units.durations import DURATION

_FORMATS = f"{', '.join(FORMAT_NAMES)}; or what its columns mean, as in {EXAMPLE}"
_TRACE = "Trace"
_DRIVE = "State of the drive (features modern)"

_OF_TRACES = ("format", "window", "service")


def _option(flag: str, help_text: str, **more: Any) -> Any:
    return typer.Option(flag, help=help_text, show_default=False, **more)


Workload: TypeAlias = Annotated[
    str | None,
    _option(
        "--workload",
        "A workload whose parameters say what it is like, such as random:bs=8k,write=0.5,qd=8.",
        metavar="SPEC",
    ),
]
TraceFile: TypeAlias = Annotated[
    Path | None,
    _option(
        "--trace", "A trace, asked about window by window.", metavar="FILE", rich_help_panel=_TRACE
    ),
]
Format: TypeAlias = Annotated[
    str | None,
    _option(
        "--format",
        f"Format of the trace, if it cannot be detected: {_FORMATS}.",
        metavar="NAME",
        autocompletion=options.completer(tuple(traces.FORMATS)),
        rich_help_panel=_TRACE,
    ),
]
Window: TypeAlias = Annotated[
    str | None,
    _option(
        "--window",
        "Length of a window (1min by default).",
        metavar="TIME",
        rich_help_panel=_TRACE,
    ),
]
Service: TypeAlias = Annotated[
    str | None,
    _option(
        "--service",
        "The queue depth of a window is that at a drive which serves one request after another, "
        "each in this time (100us by default).",
        metavar="TIME",
        rich_help_panel=_TRACE,
    ),
]
Space: TypeAlias = Annotated[
    str | None,
    _option(
        "--space",
        "The part of the drive that a workload uses; of a trace, the drive's capacity.",
        metavar="SIZE",
        rich_help_panel=_DRIVE,
    ),
]
Fill: TypeAlias = Annotated[
    float | None,
    _option(
        "--fill",
        "Share of the drive that holds data (1 by default, 0 as a trace begins).",
        parser=options.ratio,
        metavar="SHARE",
        rich_help_panel=_DRIVE,
    ),
]
RecentWrites: TypeAlias = Annotated[
    str | None,
    _option(
        "--recent-writes",
        "What the host wrote in the minute before a workload (0 by default).",
        metavar="SIZE",
        rich_help_panel=_DRIVE,
    ),
]


@dataclass(frozen=True)
class ModelInput:
    """Input of a model, as the options say: a workload, or the windows of a trace.

    Raises:
        WriteampError: neither or both are given, or an option of the other one.
    """

    workload: str | None = None
    trace: Path | None = None
    format: str | None = None
    window: str | None = None
    service: str | None = None
    space: str | None = None
    fill: float | None = None
    recent_writes: str | None = None
    _read: dict[str, traces.Trace] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Refuse options that contradict each other."""
        if (self.workload is None) == (self.trace is None):
            raise WriteampError("give either --workload SPEC or --trace FILE")
        if self.trace is None:
            for name in _OF_TRACES:
                if getattr(self, name) is not None:
                    raise WriteampError(f"--{name} is of a --trace, and a --workload was given")
        elif self.recent_writes is not None:
            raise WriteampError("--recent-writes is of a --workload; a trace says itself")

    @property
    def name(self) -> str:
        """Name of the workload or trace."""
        return str(self.trace if self.workload is None else self.workload)

    @property
    def what(self) -> dict[str, str]:
        """Workload or trace as an entry of a document."""
        return {"trace" if self.workload is None else "workload": self.name}

    def rows(self, features: str) -> pl.DataFrame:
        """Return the characteristics that a set of features needs: one row, or one a window.

        Raises:
            WriteampError: the workload, the trace or an option is not valid, or the parameters of
                the workload do not say what it is like.
        """
        if self.workload is not None:
            return of_workload(self.workload, use=self._use()).frame()
        return of_trace(self._trace(), features=features, **dict(self._of_windows()))

    def _trace(self) -> traces.Trace:
        if "trace" not in self._read:
            self._read["trace"] = traces.read(str(self.trace), self.format)
        return self._read["trace"]

    def _of_windows(self) -> Iterator[tuple[str, Any]]:
        if self.window is not None:
            yield "window_s", DURATION.check("--window", self.window)
        if self.service is not None:
            yield "service_us", DURATION.check("--service", self.service) * 1e6
        if self.space is not None:
            yield "capacity_bytes", _bytes("--space", self.space)
        if self.fill is not None:
            yield "fill", self.fill

    def _use(self) -> DriveUse | None:
        if self.space is None:
            if self.fill is not None or self.recent_writes is not None:
                raise WriteampError("--fill and --recent-writes say nothing without --space SIZE")
            return None
        return DriveUse(
            space_bytes=_bytes("--space", self.space),
            fill=1.0 if self.fill is None else self.fill,
            recent_write_bytes=(
                0.0 if self.recent_writes is None else _bytes("--recent-writes", self.recent_writes)
            ),
        )


def _bytes(flag: str, text: str) -> int:
    return int(SIZE.check(flag, text))
