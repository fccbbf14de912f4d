"""Measured values of a timed run, read from the engine at its end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp._engine import TIMED_CAUSES, TimedRun
from writeamp.devices.device import Device
from writeamp.runs.plan import Plan
from writeamp.units.durations import shown_duration

_Counts: TypeAlias = dict[str, npt.NDArray[np.uint64]]

# Names of latency quantiles here, and in the engine.
_QUANTILES = {"p50": "p50_ns", "p99": "p99_ns", "p99_9": "p99_9_ns", "p99_99": "p99_99_ns"}


@dataclass(frozen=True)
class Served:
    """Requests of one direction (read or write) completed in the measured interval.

    `upper_us` and `counts` are a histogram of latencies, both of shape (bins,): the upper bound of
    each bin in microseconds, and the number of requests in the bin.
    """

    requests: int
    bytes: int
    mean_us: float | None
    quantiles_us: dict[str, float | None]
    upper_us: npt.NDArray[np.float64]
    counts: npt.NDArray[np.uint64]

    @staticmethod
    def of(run: TimedRun, direction: str) -> Served:
        """Return the completed requests of a run; `direction` is "read" or "write"."""
        served = run.served(direction)
        names = _QUANTILES | {"max": "max_ns"}
        return Served(
            requests=served["requests"],
            bytes=served["bytes"],
            mean_us=_us(served["mean_ns"]),
            quantiles_us={name: _us(served[key]) for name, key in names.items()},
            upper_us=served["histogram"]["upper_ns"] / 1e3,
            counts=served["histogram"]["requests"],
        )

    def latency_us(self) -> dict[str, float | None] | None:
        """Return mean, quantiles and maximum in microseconds, or None without requests."""
        return {"mean": self.mean_us, **self.quantiles_us} if self.requests else None

    def cells(self) -> list[str]:
        """Return the latencies as text, in the order of the keys of `latency_us`."""
        return [shown_duration((us or 0.0) / 1e6) for us in (self.latency_us() or {}).values()]


@dataclass(frozen=True)
class TimedFigures:
    """Measured values of a finished run.

    `samples` are cumulative counters since the fill, each with its `time_ns`; `end` has the last
    sample. `busy` has, for each level of components ("channel", "die", …), its name, the number of
    components and their total busy time in ns. `edges` is the number of edges in the capture of the
    pins, if any. `slc_wear` has the erases of SLC cache blocks and the number of these blocks, or
    None without a cache. `read_errors` has the repeated reads ("retries") and the "uncorrectable"
    reads of the whole run, by purpose, or None without a model of errors.
    """

    reads: Served
    writes: Served
    interval_ns: tuple[int, int]
    virtual_ns: int
    written_bytes: int
    busy: tuple[tuple[str, int, int], ...]
    has_flash: bool
    samples: _Counts
    end: dict[str, int]
    program_operations: int
    read_operations: int
    slc_wear: tuple[int, int] | None
    read_errors: dict[str, dict[str, int]] | None
    time_series: pl.DataFrame
    run_s: float = field(compare=False)
    edges: int | None

    @staticmethod
    def of(
        run: TimedRun, *, run_s: float, edges: int | None, is_window: bool = False
    ) -> TimedFigures:
        """Return all measured values of a run that took `run_s` seconds of computing.

        If `is_window`, samples count from the start of the window in which the recorded drive
        counted.
        """
        counters, operations, samples = run.counters(), run.operations(), run.samples()
        end = counters or {name: int(column[-1]) for name, column in samples.items()}
        since = _since(samples) if is_window else dict.fromkeys(samples, 0)
        samples = {name: column - np.uint64(since[name]) for name, column in samples.items()}
        return TimedFigures(
            reads=Served.of(run, "read"),
            writes=Served.of(run, "write"),
            interval_ns=run.interval_ns(),
            virtual_ns=run.now_ns,
            written_bytes=run.written_bytes,
            busy=tuple(run.busy()),
            has_flash=counters is not None,
            samples=_with_end(samples, _rise(end, since) | {"time_ns": run.now_ns}),
            end=end,
            program_operations=operations["programs"],
            read_operations=operations["reads"],
            slc_wear=run.slc_wear(),
            read_errors=run.read_errors(),
            time_series=_time_series(run),
            run_s=run_s,
            edges=edges,
        )

    @property
    def flash_pages(self) -> int:
        """Pages programmed in the whole run."""
        return sum(self.end[cause] for cause in TIMED_CAUSES)

    @property
    def erases(self) -> int:
        """Blocks erased in the whole run, including those of an SLC cache."""
        return self.end["erases"] + (self.slc_wear[0] if self.slc_wear else 0)

    @property
    def flash_operations(self) -> int:
        """Programs, page reads (including repeated ones) and erases of the whole run."""
        return self.program_operations + self.read_operations + self.erases


@dataclass(frozen=True)
class Capture:
    """Counts of the whole run, as a capture of the Ready/Busy pins shows them.

    Run and capture begin after the fill. `wa` is `flash_bytes` over `host_bytes`, or NaN if the
    host wrote nothing.
    """

    path: str | None
    pins: int
    edges: int | None
    programs: int
    reads: int
    erases: int
    pages_per_program: int
    page_bytes: int
    flash_bytes: int
    host_bytes: int

    @staticmethod
    def of(plan: Plan, device: Device, figures: TimedFigures, page_bytes: int) -> Capture:
        """Return the counts of a run of `device`; `page_bytes` is the size of its mapped pages."""
        flash = [member for member in (device, *device.members) if member.kind == "flash"]
        return Capture(
            path=None if plan.run.rb_capture is None else str(plan.run.rb_capture),
            pins=device.dies,
            edges=figures.edges,
            programs=figures.program_operations,
            reads=figures.read_operations,
            erases=figures.erases,
            pages_per_program=flash[0].pages_per_program if flash else 0,
            page_bytes=page_bytes,
            flash_bytes=figures.flash_pages * page_bytes,
            host_bytes=figures.written_bytes,
        )

    @property
    def wa(self) -> float:
        """Flash bytes programmed over the bytes that the host wrote."""
        return self.flash_bytes / self.host_bytes if self.host_bytes else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as JSON types."""
        return vars(self) | {"wa": self.wa if self.host_bytes else None}


def _us(ns: float | None) -> float | None:
    return None if ns is None else ns / 1e3


def _since(samples: _Counts) -> dict[str, int]:
    """Return each counter's first sample, to be subtracted from all samples; 0 for the time."""
    return {name: int(column[0]) for name, column in samples.items()} | {"time_ns": 0}


def _rise(end: dict[str, int], since: dict[str, int]) -> dict[str, int]:
    return {name: count - since.get(name, 0) for name, count in end.items()}


def _with_end(samples: _Counts, end: dict[str, int]) -> _Counts:
    """Return the samples and the end of the run, without intervals without a host write.

    Programs in an interval without a host write are added to the previous interval.
    """
    whole = {name: np.append(column, np.uint64(end[name])) for name, column in samples.items()}
    host = whole["host_pages"]
    is_used = np.append(host[:-1] != host[1:], True)
    # The first and the last sample are always used, even if the host wrote nothing next to them.
    is_used[1:-1] &= host[1:-1] != host[0]
    is_used[0] = True
    return {name: column[is_used] for name, column in whole.items()}


def _time_series(run: TimedRun) -> pl.DataFrame:
    rows = run.rows()
    row_s = rows["row_ns"] / 1e9
    count = rows["reads"].size

    def mean_us(sums_ns: str, requests: str) -> pl.Series:
        sums = pl.Series(rows[sums_ns]).cast(pl.Float64)
        served = pl.Series(rows[requests])
        return pl.select(pl.when(served > 0).then(sums / served / 1e3)).to_series()

    return pl.DataFrame(
        {
            "time_s": np.arange(1, count + 1) * row_s,
            "read_mb_s": rows["read_bytes"] / 1e6 / row_s,
            "write_mb_s": rows["written_bytes"] / 1e6 / row_s,
            "read_iops": rows["reads"] / row_s,
            "write_iops": rows["writes"] / row_s,
            "read_us": mean_us("read_ns", "reads"),
            "write_us": mean_us("write_ns", "writes"),
        }
    )
