"""Result of a virtual drive: its counts since counting began."""

from __future__ import annotations

import math
import signal
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from writeamp._engine import TIMED_CAUSES, __version__
from writeamp.devices.device import Device
from writeamp.devices.policy import Policy
from writeamp.plots.spec import FigureSpec
from writeamp.plots.style import DRIVE_WRITES_LABEL
from writeamp.results.any_result import OneLine
from writeamp.results.beside import erase_counts, over_time, valid_pages
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.results.handles import table_of_handles
from writeamp.results.numbers import json_number, with_interval
from writeamp.runs.drive_result import OF_THE_HOST
from writeamp.runs.partial_pages import differs
from writeamp.runs.preconditioning import Ageing
from writeamp.runs.steadiness_checks import check_turnovers
from writeamp.runs.words import size_in_words
from writeamp.statistics.steady import SteadyState, analyse
from writeamp.traces.recorded import KEPT
from writeamp.units.byte_sizes import shown_bytes
from writeamp.units.durations import shown_duration
from writeamp.vssd import live, notes
from writeamp.vssd.control import Document
from writeamp.vssd.layers import Layers
from writeamp.vssd.placement_handles import by_handle
from writeamp.vssd.result_figure import layers_figure, points_of, wa_figure
from writeamp.vssd.settings import DriveSettings

_OF_THE_HOST = (*OF_THE_HOST, "write_requests", "read_requests", "trim_requests")
_LATENCIES = ("mean", "p50", "p99", "p99_9", "max")
_NS_PER_S = 1e9
_NS_PER_US = 1e3
_US_PER_S = 1e6


@dataclass(frozen=True, repr=False, eq=False)
class ServeResult(OneLine, Drawn):
    """Counts of a virtual drive since counting began, and its write amplification.

    `began` and `ended` are the drive's counts since it was new, at the beginning and the end of
    counting. `samples` are host pages written and flash pages programmed in between. `blocks` is
    the state of its blocks at the end of counting.
    """

    device: Device
    policy: Policy
    settings: DriveSettings
    began: Document
    ended: Document
    samples: Mapping[str, list[int]]
    blocks: Document
    ageing: Ageing | None = None
    is_kept: bool = False
    """Whether the drive continued from an earlier run."""
    layers: Layers | None = None
    run: str | None = None
    """Command that ran on the drive, or None."""
    run_exit_status: int | None = None
    """Exit status of the command as in a shell: 128 plus the number of a signal that ended it."""
    interrupted_by: signal.Signals | None = None
    """Signal sent to this process that ended the command, or None."""
    complaints: tuple[str, ...] = ()
    """Errors and warnings of the server, such as a failed snapshot of the flash."""
    remarks: tuple[str, ...] = ()
    """Sentences about the construction of the drive, and about errors."""
    failures: tuple[str, ...] = ()
    """Sentences about lost data of the drive, or a lost recording, capture or counter log."""

    @property
    def unfinished(self) -> tuple[str, ...]:
        """The command, if a signal to this process ended it (`interrupted_by`); otherwise empty."""
        return () if self.run is None or self.interrupted_by is None else (self.run,)

    @property
    def host(self) -> dict[str, int]:
        """Counts of host traffic: pages (partial pages count fully), bytes and requests."""
        return {name: self._counted("host", name) for name in _OF_THE_HOST}

    @property
    def host_pages(self) -> int:
        """Pages that the host wrote."""
        return self._counted("host", "written_pages")

    @property
    def host_bytes(self) -> int:
        """Bytes that the host wrote."""
        return self._counted("host", "written_bytes")

    @property
    def causes(self) -> dict[str, int]:
        """Flash pages programmed since counting began, by cause.

        On a drive with a given mapping unit, `read_modify_write` has the units with data that the
        host wrote in part, and `host` the others that it wrote.
        """
        programs = self.ended["programs"]
        return {
            cause: self._counted("programs", cause) for cause in TIMED_CAUSES if cause in programs
        }

    @property
    def flash_pages(self) -> int:
        """Flash pages programmed since counting began, for all causes."""
        return sum(self.causes.values())

    @property
    def flash_bytes(self) -> int:
        """Flash bytes programmed since counting began, for all causes."""
        return self.flash_pages * int(self.ended["page_bytes"])

    @property
    def handles(self) -> list[dict[str, Any]] | None:
        """Counts by placement handle since counting began; None if the drive counts none.

        The keys are those of `simulate`, without `hints`.
        """
        return by_handle(self.ended, self.began)

    @property
    def erases(self) -> int:
        """Blocks erased since counting began."""
        return self._counted("erases")

    @property
    def read_modify_write_pages(self) -> int:
        """Pages that the host wrote only partially, so that the drive read the rest first."""
        return self._counted("read_modify_write_pages")

    @property
    def precondition(self) -> str:
        """Initial state of the drive: a setting, or "kept" from an earlier run."""
        return KEPT if self.is_kept else self.settings.precondition

    @property
    def has_collected(self) -> bool:
        """Whether any block was erased since counting began."""
        return self.erases > 0

    @property
    def has_ever_collected(self) -> bool:
        """Whether any block was erased since the drive was new."""
        return int(self.ended["erases"]) > 0

    @property
    def max_erase_count(self) -> int:
        """Erases of the most worn block since the drive was new."""
        return int(self.ended["max_erase_count"])

    @property
    def wa(self) -> float:
        """Write amplification: flash pages programmed per host page written; NaN without writes."""
        return self.flash_pages / self.host_pages if self.host_pages else math.nan

    @property
    def wa_bytes(self) -> float:
        """Flash bytes programmed per host byte written, as in SMART; NaN without writes."""
        return self.flash_bytes / self.host_bytes if self.host_bytes else math.nan

    @property
    def partial_page_factor(self) -> float:
        """Bytes of all pages that the host wrote, even partly / bytes that it wrote, or NaN."""
        pages_bytes = self.host_pages * int(self.ended["page_bytes"])
        return pages_bytes / self.host_bytes if self.host_bytes else math.nan

    @property
    def has_partial_pages(self) -> bool:
        """Whether WA per byte visibly differs from WA per page."""
        return differs(self.partial_page_factor)

    @cached_property
    def steady_state(self) -> SteadyState | None:
        """Steady state of WA by batch means; None without writes.

        No warm-up is excluded. A drive with few programmed pages since new is not steady, as it has
        hardly collected garbage.
        """
        return self._analysed(0)

    @cached_property
    def settled_state(self) -> SteadyState | None:
        """Steady state after the warm-up of this run; None without writes."""
        return self._analysed("auto")

    @property
    def ci(self) -> tuple[float, float]:
        """The 95% confidence interval of `wa`; NaN if there were too few writes or erases."""
        steady = self.steady_state
        if steady is None or self.erases < notes.FEWEST_ERASES:
            return math.nan, math.nan
        # Without a write cache, no drive programs less than the host writes.
        is_below = steady.ci_low < 1 <= self.wa
        return 1.0 if is_below else steady.ci_low, steady.ci_high

    @property
    def latency_us(self) -> dict[str, dict[str, float] | None] | None:
        """Latencies since counting began, in µs of the drive's time; None if it is not timed.

        By direction (read and write, None without requests): mean, p50, p99, p99_9 and max.
        """
        latency = self.ended["latency"]
        if latency is None:
            return None
        return {
            direction: {name: latency[direction][f"{name}_ns"] / _NS_PER_US for name in _LATENCIES}
            if latency[direction]["requests"]
            else None
            for direction in ("read", "write")
        }

    @property
    def elapsed_s(self) -> float:
        """Seconds since counting began."""
        return (int(self.ended["elapsed_ns"]) - int(self.began["elapsed_ns"])) / _NS_PER_S

    @property
    def notes(self) -> list[str]:
        """Notes on the reliability of the results, then on assumptions."""
        sentences = [
            *filter(None, [self.ended["recording_error"]]),
            *self.complaints,
            *notes.of_wa(
                self.steady_state,
                self.settled_state,
                host_pages=self.host_pages,
                samples=self._intervals()[0].size,
                erases=self.erases,
                has_ever_collected=self.has_ever_collected,
            ),
            *(self.layers.notes() if self.layers else []),
            *(self.ageing.warnings if self.ageing else []),
            *self.remarks,
            *notes.of_flushes(self.host["flushes"], self.device, is_timed=self.settings.is_timed),
        ]
        return list(dict.fromkeys(sentences))

    def with_layers(self, layers: Layers) -> ServeResult:
        """Return the result with the bytes of each layer."""
        return replace(self, layers=layers)

    def with_end(self, complaints: Iterable[str], failures: Iterable[str]) -> ServeResult:
        """Return the result with the complaints and failures of the drive's shutdown added."""
        lost = tuple(failures)
        complaints = (*self.complaints, *complaints)
        remarks = (*self.remarks, *lost)
        return replace(self, complaints=complaints, remarks=remarks, failures=lost)

    def exceeds(self, most: float) -> bool:
        """Return whether `wa` is above a limit; False without writes."""
        return self.wa > most

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON types, with the keys of `writeamp serve --json`."""
        steady = self.steady_state
        return {
            "wa": json_number(self.wa),
            "wa_ci95": [json_number(bound) for bound in self.ci],
            "wa_bytes": json_number(self.wa_bytes),
            "partial_page_factor": json_number(self.partial_page_factor),
            "steady": steady is not None and steady.steady,
            "steady_reason": None if steady is None else steady.reason,
            "host_bytes": self.host_bytes,
            "flash_bytes": self.flash_bytes,
            "host_pages": self.host_pages,
            "flash_pages": self.flash_pages,
            "host": self.host,
            "causes": self.causes,
            **({} if self.handles is None else {"handles": self.handles}),
            "read_modify_write_pages": self.read_modify_write_pages,
            "erases": self.erases,
            "max_erase_count": self.max_erase_count,
            "min_erase_count": self.ended["min_erase_count"],
            "mean_erase_count": self.ended["mean_erase_count"],
            "latency_us": self.latency_us,
            "layers": self.layers.to_dict() if self.layers else None,
            "run": self.run,
            "run_exit_status": self.run_exit_status,
            "interrupted": self.interrupted_by is not None,
            "count_from": self.settings.count_from,
            "counted_from_request": self.began["since"],
            "precondition": self.precondition,
            "preconditioning": self.ageing.to_dict() if self.ageing else None,
            "file_system": self.settings.file_system if self.settings.mount else None,
            "device": self.device.name,
            **self.device.facts(),
            **self.policy.facts(),
            "seed": self.settings.seed,
            "elapsed_s": self.elapsed_s,
            "version": __version__,
            "notes": self.notes,
        }

    def beside(self) -> dict[str, Any]:
        """Return plots of WA over drive writes, and of blocks by valid pages and by erases.

        Without garbage collection WA is 1 and blocks are new, so nothing is drawn.
        """
        host, flash = self._intervals()
        plots: dict[str, Any] = {}
        if not self.has_ever_collected:
            return plots
        if host.size and self.has_collected:
            drive_writes, wa = points_of(host, flash, self.device)
            plots |= over_time(drive_writes, wa, x_words=DRIVE_WRITES_LABEL, warmup=0, mean=self.wa)
        histogram = list(live.valid_pages(self.blocks).values())
        return plots | valid_pages(histogram) | erase_counts(live.erase_counts(self.blocks))

    def figure(self) -> FigureSpec:
        """Describe a figure of bytes by layer, or without a file system of WA over drive writes.

        Raises:
            WriteampError: the host has not written.
        """
        if self.layers is not None:
            return layers_figure(self.layers, self.device, self.policy, self.settings, self.run)
        return wa_figure(
            self._intervals(),
            self.wa,
            self.ci,
            device=self.device,
            policy=self.policy,
            settings=self.settings,
            run=self.run,
        )

    def card(self) -> Card:
        """Return the main facts, and tables of layers and latencies if available."""
        parts = []
        if self.layers is not None:
            columns = ("layer", ">bytes", ">of the layer above")
            parts.append(Card("From the application to the flash", self.layers.cells(), columns))
        if self.handles:
            parts.append(table_of_handles(self.handles))
        if self.latency_us is not None:
            rows = [
                [direction, *(shown_duration(us / _US_PER_S) for us in values.values())]
                for direction, values in self.latency_us.items()
                if values is not None
            ]
            names = ("latency", ">mean", ">p50", ">p99", ">p99.9", ">max")
            parts.append(Card("Latency in the drive's time", rows, names))
        command = [] if self.run is None else [f"command: {self.run}"]
        notes = [*command, *self.notes]
        return Card("Virtual SSD", self._facts(), notes=notes, parts=parts)

    def _facts(self) -> list[tuple[str, str]]:
        is_whole = self.settings.counts_from_start or self.run is None
        since = "start" if is_whole else "command's start"
        device = self.device
        unit = device.page_noun
        rows = [
            ("drive", f"{device.name}: {size_in_words(device)}, {device.layout}"),
            ("space", f"op {device.op:.4g} = (T-U)/U, fill {device.fill:.4g}"),
            ("manager, victims", str(self.policy)),
            ("before the run", "kept from an earlier run" if self.is_kept else self.precondition),
            ("counted", f"{shown_duration(self.elapsed_s)}, from the {since} on"),
            ("host wrote", f"{self.host_bytes:,} bytes in {self.host_pages:,} {unit}s"),
        ]
        if self.run_exit_status is not None:
            rows.append(("command", f"ended with status {self.run_exit_status}"))
        # With a given mapping unit they are a cause, too, which is shown below.
        if self.read_modify_write_pages not in (0, self.causes.get("read_modify_write")):
            rows.append(("read-modify-write", f"{self.read_modify_write_pages:,} {unit}s"))
        rows += [
            (f"programmed: {cause.replace('_', ' ')}", f"{pages:,} {unit}s")
            for cause, pages in self.causes.items()
            if pages
        ]
        rows.append(("flash wrote", f"{self.flash_bytes:,} bytes"))
        rows.append(("erased", f"{self.erases:,} blocks"))
        low, mean, high = (self.ended[f"{word}_erase_count"] for word in ("min", "mean", "max"))
        rows.append(("wear per block", f"{low:,} to {high:,} erases in its life, mean {mean:.4g}"))
        if self.has_partial_pages:
            rows.append(("WA per host byte", f"{self.wa_bytes:.4f}  (what SMART shows)"))
            factor = self.partial_page_factor
            rows.append(("", f"= WA per {unit} × {factor:.4f}, as {unit}s are written partially"))
        if math.isnan(self.wa):
            wa = "none: the host wrote nothing"
        else:
            unknown = "no confidence interval: no garbage collection"
            if self.has_collected:
                unknown = "too few writes for a confidence interval"
            wa = with_interval(self.wa, self.ci, unknown=unknown)
        name = f"WA per {unit}" if self.has_partial_pages else "write amplification"
        rows.append((name, wa))
        settled, whole = self.settled_state, self.steady_state
        is_settled = settled is not None and settled.steady and self.erases >= notes.FEWEST_ERASES
        if settled is not None and is_settled and whole is not None and not whole.steady:
            after = notes.after_warm_up(settled, self.host_pages)
            ci = max(settled.ci_low, 1.0), settled.ci_high
            rows.append(("", f"{with_interval(settled.wa, ci)}{after}, where it is steady"))
        return rows

    def _compared(self) -> dict[str, Any]:
        # Results are equal if both drives did the same work, regardless of the time that it took.
        began, ended = (
            {key: value for key, value in counters.items() if key != "elapsed_ns"}
            for counters in (self.began, self.ended)
        )
        return super()._compared() | {"began": began, "ended": ended}

    def __str__(self) -> str:
        """Return the result in one line."""
        return (
            f"WA {self.wa:.4f} of {shown_bytes(self.host_bytes)} written to {self.device.name} "
            f"under {self.policy}"
        )

    def _counted(self, *place: str) -> int:
        """Return the rise of a count since counting began."""
        began, ended = self.began, self.ended
        for key in place[:-1]:
            began, ended = began[key], ended[key]
        return int(ended[place[-1]]) - int(began[place[-1]])

    def _analysed(self, warmup: Literal[0, "auto"]) -> SteadyState | None:
        host, flash = self._intervals()
        if not host.size:
            return None
        times = sum(self.ended["programs"].values()) / self.device.physical_pages
        steady = analyse(host, flash, warmup=warmup)
        return check_turnovers(steady, times, since="the drive was new")

    def _intervals(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return host pages written and flash pages programmed in each interval with writes."""
        host = np.diff(np.array(self.samples["written_pages"], np.float64))
        flash = np.diff(np.array(self.samples["programmed_pages"], np.float64))
        return host[host > 0], flash[host > 0]
