"""Figures of a timed run, taken from the engine when it has ended."""

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

# As the engine names quantiles, and we do.
_QUANTILES = {"p50": "p50_ns", "p99": "p99_ns", "p99_9": "p99_9_ns", "p99_99": "p99_99_ns"}


@dataclass(frozen=True)
class Served:
    """Requests of one direction that were answered in the measured interval.

    `upper_us` and `counts` are a histogram of their latencies, both of shape (bins,): so many were
    answered within that time, but not within that of the bin before.
    """

    requests: int
    bytes: int
    mean_us: float | None
    quantiles_us: dict[str, float | None]
    upper_us: npt.NDArray[np.float64]
    counts: npt.NDArray[np.uint64]

    @staticmethod
    def of(run: TimedRun, direction: str) -> Served:
        """Return the requests of the engine's run; `direction` is "read" or "write"."""
        found = run.served(direction)
        names = _QUANTILES | {"max": "max_ns"}
        return Served(
            requests=found["requests"],
            bytes=found["bytes"],
            mean_us=_us(found["mean_ns"]),
            quantiles_us={name: _us(found[key]) for name, key in names.items()},
            upper_us=found["histogram"]["upper_ns"] / 1e3,
            counts=found["histogram"]["requests"],
        )

    def latency_us(self) -> dict[str, float | None] | None:
        """Return mean, quantiles and maximum in microseconds; None without a request."""
        return {"mean": self.mean_us, **self.quantiles_us} if self.requests else None

    def cells(self) -> list[str]:
        """Return the latencies in words, as `latency_us` has them."""
        return [shown_duration((us or 0.0) / 1e6) for us in (self.latency_us() or {}).values()]


@dataclass(frozen=True)
class TimedFigures:
    """Figures of a run that has ended.

    `samples` are cumulative counters since the fill, with their `time_ns`; `end` the last of them.
    `busy` has level, number and busy time in ns of the device's parts. `edges` were written to the
    capture of the pins, if there is one. `slc_wear` has the erases of the blocks of SLC caches, and
    the number of these blocks; None without one. `read_errors` has the further tries ("retries") of
    reads and the "uncorrectable" ones of the whole run, by what they were for; None without errors.
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
        """Return all figures of a run of the engine that took `run_s` of computing.

        If `is_window`, the samples are of a window, and begin at 0 with it.
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
        """Blocks erased in the whole run, those of an SLC cache too."""
        return self.end["erases"] + (self.slc_wear[0] if self.slc_wear else 0)

    @property
    def flash_operations(self) -> int:
        """Programs, page reads (each try of them) and erases of the whole run."""
        return self.program_operations + self.read_operations + self.erases


@dataclass(frozen=True)
class Capture:
    """Counts of the whole run that its pins showed, and their causes.

    The run began after the fill, as the capture did. `wa` is `flash_bytes` over `host_bytes`, NaN
    where the host wrote nothing.
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
    def of(plan: Plan, device: Device, found: TimedFigures, page_bytes: int) -> Capture:
        """Return the counts of a run of `device`, whose mapping unit has `page_bytes`."""
        flash = [one for one in (device, *device.members) if one.kind == "flash"]
        return Capture(
            path=None if plan.run.rb_capture is None else str(plan.run.rb_capture),
            pins=device.dies,
            edges=found.edges,
            programs=found.program_operations,
            reads=found.read_operations,
            erases=found.erases,
            pages_per_program=flash[0].pages_per_program if flash else 0,
            page_bytes=page_bytes,
            flash_bytes=found.flash_pages * page_bytes,
            host_bytes=found.written_bytes,
        )

    @property
    def wa(self) -> float:
        """Flash bytes over the bytes that the host wrote."""
        return self.flash_bytes / self.host_bytes if self.host_bytes else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as JSON types."""
        return vars(self) | {"wa": self.wa if self.host_bytes else None}


def _us(ns: float | None) -> float | None:
    return None if ns is None else ns / 1e3


def _since(samples: _Counts) -> dict[str, int]:
    """Return the first sample of each counter; 0 of the time."""
    return {name: int(column[0]) for name, column in samples.items()} | {"time_ns": 0}


def _rise(end: dict[str, int], since: dict[str, int]) -> dict[str, int]:
    return {name: count - since.get(name, 0) for name, count in end.items()}


def _with_end(samples: _Counts, end: dict[str, int]) -> _Counts:
    """Return the samples up to the end, at rising numbers of host pages.

    What was programmed without a write of the host belongs to the interval before it.
    """
    whole = {name: np.append(column, np.uint64(end[name])) for name, column in samples.items()}
    host = whole["host_pages"]
    kept = np.append(host[:-1] != host[1:], True)
    # The start is a sample of its own, whatever was programmed before the first write; so is the
    # end, though nothing was written.
    kept[1:-1] &= host[1:-1] != host[0]
    kept[0] = True
    return {name: column[kept] for name, column in whole.items()}


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
