"""Result of a timed run: latencies, bandwidth, throughput, and WA as in an untimed run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp._engine import TIMED_CAUSES
from writeamp.devices.device import Device
from writeamp.plots.spec import PanelChart
from writeamp.results.card import Card, Spark
from writeamp.results.numbers import with_interval
from writeamp.runs.drive_result import DriveResult
from writeamp.runs.plan import Plan
from writeamp.runs.preconditioning import Ageing
from writeamp.runs.series import series_of
from writeamp.runs.timed.device import notes_on_merging, notes_on_table
from writeamp.runs.timed.figure import beside_of, figure_of
from writeamp.runs.timed.measured import Capture, Served, TimedFigures
from writeamp.runs.words import (
    counted_in_words,
    handle_warnings,
    size_in_words,
    steady_in_words,
)
from writeamp.statistics.steady import SteadyState
from writeamp.units.durations import shown_duration

_NOT_BY_HANDLE = (
    "timed runs do not count by placement handle; untimed runs do "
    "(docs/timing.md#when-a-run-is-timed)"
)
_LATENCIES = ("", ">mean", ">p50", ">p99", ">p99.9", ">p99.99", ">max")
# Keys of the JSON result that are null for a device without flash.
_OF_FLASH = (
    "host_pages",
    "flash_pages",
    "host",
    "causes",
    "erases",
    "warmup_pages",
    "writes",
    "drive_writes",
)


@dataclass(frozen=True, repr=False, eq=False)
class TimedResult(DriveResult):
    """Result of one run in virtual time.

    Latencies, bandwidth and throughput cover requests completed in the measured interval, which
    begins after the first tenth of the run. The counts (`host_pages`, `causes`, …) and `wa` cover
    writes after the first `warmup_pages` host page writes. A page that leaves the write cache, with
    its resulting operations, counts at the time of the host write. A run with `host_bytes` or
    `warmup=0` counts from its start.
    """

    cause_names: ClassVar[Sequence[str]] = TIMED_CAUSES

    plan: Plan
    device: Device
    steady_state: SteadyState
    samples: dict[str, npt.NDArray[np.uint64]]
    """Cumulative counters since the fill, and `time_ns`, at increasing numbers of host pages.

    The flash operations of a page that waits in the write cache count at the host's write.
    """
    ageing: Ageing | None
    """Record of how the drive was aged before the run, or None."""
    elapsed_s: float = field(compare=False)
    figures: TimedFigures
    """Values measured in virtual time."""

    @property
    def reads(self) -> Served:
        """Read requests completed in the measured interval."""
        return self.figures.reads

    @property
    def writes_served(self) -> Served:
        """Write requests completed in the measured interval."""
        return self.figures.writes

    @property
    def latency_us(self) -> dict[str, dict[str, float | None] | None]:
        """Mean, quantiles and maximum of latency in microseconds by direction, or None."""
        return {"read": self.reads.latency_us(), "write": self.writes_served.latency_us()}

    @property
    def bandwidth_mb_s(self) -> dict[str, float]:
        """Bandwidth of reads, writes and both, in 10⁶ bytes per second."""
        return self._per_second(self.reads.bytes / 1e6, self.writes_served.bytes / 1e6)

    @property
    def iops(self) -> dict[str, float]:
        """Requests per second of reads, writes and both."""
        return self._per_second(self.reads.requests, self.writes_served.requests)

    @property
    def virtual_time_s(self) -> float:
        """Virtual time in seconds until the device had settled, including the write cache."""
        return self.figures.virtual_ns / 1e9

    @property
    def measured_from_s(self) -> float:
        """Virtual time at which the measured interval begins, in seconds."""
        return self.figures.interval_ns[0] / 1e9

    @property
    def measured_s(self) -> float:
        """Length of the measured interval in seconds of virtual time."""
        return (self.figures.interval_ns[1] - self.figures.interval_ns[0]) / 1e9

    @property
    def wa_by_flash(self) -> dict[str, float] | None:
        """WA by kind of flash (SLC cache and main flash); None without SLC cache or host writes.

        Keys: `slc`, pages programmed in the cache per host page; `tlc`, those in the flash behind
        the cache (for any number of bits per cell); and `total`, their sum, which is `wa`. Each
        kind of flash wears in proportion to its own WA.
        """
        if self.figures.slc_wear is None or not self.host_pages:
            return None
        slc = self.causes["slc"] / self.host_pages
        return {"tlc": self.wa - slc, "slc": slc, "total": self.wa}

    @property
    def wear_by_flash(self) -> dict[str, dict[str, float | None]] | None:
        """Wear of SLC cache and main flash in the whole run, or None without an SLC cache.

        `tlc` and `slc` each have the number of `erases`, the number of `blocks`, and `cycles`, the
        mean erases of a block. `rated_cycles` is the profile's rating, and `used_share` is `cycles`
        over the rating; both are None if the profile has no rating.
        """
        if self.figures.slc_wear is None:
            return None
        flash = [member for member in (self.device, *self.device.members) if member.kind == "flash"]
        blocks = sum(member.geometry.blocks for member in flash)
        rated = {(member.times or {}).get("slc", {}).get("rated_cycles", 0) for member in flash} - {
            0
        }
        return {
            "tlc": _wear(self.figures.end["erases"], blocks, _least_rated(flash)),
            "slc": _wear(*self.figures.slc_wear, min(rated, default=None)),
        }

    @property
    def read_retries(self) -> dict[str, int] | None:
        """Repeated page reads in the whole run, by purpose; None without a model of read errors.

        Purposes are `host`, `copies` (of any cause) and `mapping`; see docs/read-errors.md.
        """
        return None if self.figures.read_errors is None else self.figures.read_errors["retries"]

    @property
    def uncorrectable_reads(self) -> dict[str, int] | None:
        """Page reads that failed even in the last retry, by purpose, as in `read_retries`."""
        return (
            None if self.figures.read_errors is None else self.figures.read_errors["uncorrectable"]
        )

    @property
    def utilization(self) -> dict[str, float]:
        """Mean share of the whole run in which a component was busy, by level ("channel", …)."""
        virtual_ns = max(self.figures.virtual_ns, 1)
        return {
            level: busy_ns / (parts * virtual_ns) for level, parts, busy_ns in self.figures.busy
        }

    @property
    def page_bytes(self) -> int:
        """Size of the counted pages in bytes: the mapping unit of the flash.

        For an array, it is that of the first member with flash.
        """
        flash = [member for member in self.device.members if member.kind == "flash"]
        return flash[0].page_bytes if flash else self.device.page_bytes

    @property
    def has_flash(self) -> bool:
        """True if any part of the device is flash."""
        return self.figures.has_flash

    @property
    def capture(self) -> Capture | None:
        """Counts of the whole run as a capture of its pins shows them, or None.

        None if neither a capture nor `host_bytes` is requested.
        """
        if self.plan.run.rb_capture is None and self.plan.run.host_bytes is None:
            return None
        return Capture.of(self.plan, self.device, self.figures, self.page_bytes)

    @cached_property
    def time_series(self) -> pl.DataFrame:
        """One row per span of virtual time, with the requests completed in it.

        Columns: `time_s` (end of the span), `read_mb_s`, `write_mb_s`, `read_iops`, `write_iops`,
        and the mean latencies `read_us` and `write_us`, which are null without requests.
        """
        return self.figures.time_series

    @cached_property
    def series(self) -> pl.DataFrame:
        """One row per sampling interval of the whole run, with the columns of `Result.series`.

        `time_s` is the end of the interval. Empty if the host wrote nothing.
        """
        # Without host writes WA is undefined, even if pages were programmed. So the series is
        # empty.
        rows = None if self.writes else 1
        samples = {name: column[:rows] for name, column in self.samples.items()}
        time_ns = samples["time_ns"]
        table = series_of(samples, self.device.capacity_bytes / self.page_bytes, TIMED_CAUSES)
        ends = np.isin(samples["host_pages"], table["host_pages"].to_numpy())
        return table.insert_column(0, pl.Series("time_s", time_ns[ends][-table.height :] / 1e9))

    @property
    def _erases_of_run(self) -> int:
        return self.figures.end["erases"]

    @property
    def flash_ops_per_s(self) -> float:
        """Flash operations simulated per second of computing."""
        return self.figures.flash_operations / self.figures.run_s

    @property
    def warnings(self) -> list[str]:
        """Warnings for readers of the measured values."""
        sentences = []
        if self.host_pages and not self.steady:
            sentences.append(
                f"WA is not steady and may change in a longer run: {self.steady_state.reason}"
            )
        if not self.reads.requests and not self.writes_served.requests:
            sentences.append(
                "no request was completed in the measured interval, so there are no latencies; "
                "increase --time"
            )
        uncorrectable = sum((self.uncorrectable_reads or {}).values())
        if uncorrectable:
            sentences.append(
                f"{uncorrectable:,} page reads could not be corrected, even by the last retry: a "
                "real drive would lose these data, or take time to rebuild them, which this run "
                "does not simulate"
            )
        sentences += self.application.warnings if self.application else []
        sentences += handle_warnings(self.plan)
        return sentences + (self.ageing.warnings if self.ageing else [])

    @property
    def notes(self) -> list[str]:
        """Notes on assumptions, omissions and rounding."""
        return [
            *self.plan.notes,
            *notes_on_merging(self.device, self.causes, self.host_pages),
            *notes_on_table(self.causes, self.host_pages),
            *([_NOT_BY_HANDLE] if self.plan.counts_handles else []),
        ]

    def __str__(self) -> str:
        """Return the result in one line."""
        all_iops, all_mb_s = self.iops["all"], self.bandwidth_mb_s["all"]
        return (
            f"{self.plan.load_name} on {self.device.name}: {all_iops:.0f} IOPS, {all_mb_s:.4g} "
            f"MB/s, WA {self.wa:.4f} over {self.virtual_time_s:.4g} s"
        )

    def to_dict(self, *, series: bool = False, theory: bool = True) -> dict[str, Any]:
        """Return the result as JSON types, with the keys of a timed `writeamp simulate --json`.

        Args:
            series: add "series" and "time_series", an array for each column.
            theory: has no effect, because no model has times.
        """
        document: dict[str, Any] = {"timed": True, **self._facts_of_wa(), **self._facts_of_counts()}
        if not self.host_pages:
            document["wa_ci95"] = None
        if self.wear_by_flash is not None:
            document |= {"wa_by_flash": self.wa_by_flash, "wear_by_flash": self.wear_by_flash}
        if self.figures.read_errors is not None:
            document |= {
                "read_retries": self.read_retries,
                "uncorrectable_reads": self.uncorrectable_reads,
            }
        if not self.has_flash:
            document |= dict.fromkeys(_OF_FLASH)
        document |= {
            "latency_us": self.latency_us,
            "bandwidth_mb_s": self.bandwidth_mb_s,
            "iops": self.iops,
            "virtual_time_s": self.virtual_time_s,
            "measured_from_s": self.measured_from_s,
            "measured_s": self.measured_s,
            "utilization": self.utilization,
            "used_share": self.used_share,
            "program_operations": self.figures.program_operations,
            "read_operations": self.figures.read_operations,
            **self._facts_of_run(),
            "flash_ops_per_s": self.flash_ops_per_s,
            "capture": None if self.capture is None else self.capture.to_dict(),
            "warnings": self.warnings,
            "notes": self.notes,
            **self._facts_of_trace(),
        }
        if series:
            document["series"] = self.series.to_dict(as_series=False)
            document["time_series"] = self.time_series.to_dict(as_series=False)
        return document

    def beside(self) -> dict[str, Any]:
        """Return charts of WA, latencies and bandwidth over virtual time."""
        return beside_of(self.device, self.figures, self.series, self.warmup_pages, self.wa)

    def figure(self) -> PanelChart:
        """Describe the distribution of latencies, and activity over virtual time in seconds."""
        return figure_of(self.plan, self.device, self.figures, self.series)

    def card(self) -> Card:
        """Return the facts and latencies, with throughput over virtual time as a line."""
        times = self.time_series
        iops = times["read_iops"] + times["write_iops"]
        served = {"read": self.reads, "write": self.writes_served}
        kinds = [kind for kind, requests in served.items() if requests.requests]
        latencies = [[kind, *served[kind].cells()] for kind in kinds]
        rates = [
            [kind, _rate(self.iops[kind]), _rate(self.bandwidth_mb_s[kind])]
            for kind in (kinds if len(kinds) == 1 else [*kinds, "all"])
        ]
        return Card(
            "Simulation in virtual time",
            self._facts(),
            warnings=self.warnings,
            notes=self.notes,
            spark=Spark(times["time_s"], iops, f"IOPS over {self.virtual_time_s:.4g} s"),
            parts=[
                *([Card("Latency", latencies, _LATENCIES)] if latencies else []),
                Card("Throughput and bandwidth", rates, ("", ">IOPS", ">MB/s")),
            ],
        )

    def _facts(self) -> list[tuple[str, str]]:
        device, virtual_s = self.device, self.virtual_time_s
        rows = [
            ("workload", self.plan.load_name),
            ("manager, victims", str(self.plan.policy)),
            ("device", f"{device.name}: {device.kind}, {size_in_words(device)}"),
            ("before the run", self.plan.host.precondition),
            ("run", f"{shown_duration(virtual_s)} of virtual time, seed {self.plan.seed}"),
            (
                "measured",
                f"{shown_duration(self.measured_s)} from {shown_duration(self.measured_from_s)} on",
            ),
        ]
        rows += [(f"busy: {level}", f"{share:.1%}") for level, share in self.utilization.items()]
        return rows + self._facts_of_flash() if self.has_flash else rows

    def _facts_of_flash(self) -> list[tuple[str, str]]:
        figures = self.figures
        rows = [
            (
                "flash operations",
                f"{figures.program_operations:,} programs, {figures.read_operations:,} page reads, "
                f"{figures.end['erases']:,} erases",
            )
        ]
        retries = self.read_retries
        if retries is not None and any(retries.values()):
            by_purpose = ", ".join(f"{count:,} {name}" for name, count in retries.items() if count)
            rows.append(("repeated reads", by_purpose))
        capture = self.capture
        if capture is not None and capture.path is not None:
            rows.append(
                ("capture", f"{capture.path}: {capture.pins} pins, {capture.edges:,} edges")
            )
        if not self.host_pages:
            return [*rows, ("write amplification", "none: the host wrote nothing")]
        rows += [
            ("counted", counted_in_words(self.device, self.host_pages, self.warmup_pages)),
            ("steady", steady_in_words(self.steady, self.steady_state.reason)),
        ]
        rows += self._rows_of_counts()
        if self.has_partial_pages:
            rows.append(("WA per host byte", f"{self.wa_bytes:.4f}  (the value of SMART)"))
        if self.wa_by_flash is not None:
            kinds = ", ".join(f"{kind} {wa:.4g}" for kind, wa in self.wa_by_flash.items())
            rows.append(("WA by kind of flash", kinds))
        name = "write amplification"
        if self.has_partial_pages:
            name = f"WA per {self.device.page_noun}"
        return [*rows, (name, with_interval(self.wa, self.ci, unknown="too short for an interval"))]

    def _per_second(self, read: float, write: float) -> dict[str, float]:
        seconds = self.measured_s
        rate = 1 / seconds if seconds else 0.0
        return {"read": read * rate, "write": write * rate, "all": (read + write) * rate}


def _least_rated(flash: list[Device]) -> int | None:
    """Return the lowest rated number of erases of these drives, or None if none has a rating."""
    return min(
        (drive.rated_erases for drive in flash if drive.rated_erases is not None), default=None
    )


def _wear(erases: int, blocks: int, rated_cycles: int | None) -> dict[str, float | None]:
    cycles = erases / blocks
    used_share = cycles / rated_cycles if rated_cycles else None
    return {
        "erases": erases,
        "blocks": blocks,
        "cycles": cycles,
        "rated_cycles": rated_cycles,
        "used_share": used_share,
    }


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
