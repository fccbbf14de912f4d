"""Results of one drive, timed or not: host writes, and flash programs by cause."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp import traces
from writeamp._engine import CAUSES, __version__
from writeamp.devices.device import Device
from writeamp.registry.declarations import declared
from writeamp.registry.specs import Spec
from writeamp.results.any_result import OneLine
from writeamp.results.drawn import Drawn
from writeamp.results.handles import handle_row
from writeamp.results.numbers import json_number
from writeamp.runs.application import ApplicationWrites
from writeamp.runs.partial_pages import differs, partial_page_factor
from writeamp.runs.plan import Plan
from writeamp.runs.preconditioning import Ageing
from writeamp.runs.spread import Spread
from writeamp.runs.touched import TouchedAddresses
from writeamp.runs.zones import ZonesOnDrive
from writeamp.statistics.steady import SteadyState

# Names of the engine's counters of host requests.
OF_THE_HOST = (
    "written_pages",
    "written_bytes",
    "read_pages",
    "read_bytes",
    "trimmed_pages",
    "trimmed_bytes",
    "flushes",
)


class DriveResult(OneLine, Drawn):
    """Result of one drive, timed or not: counts of the measured interval, and WA.

    The interval begins after the preconditioning (fill and ageing), which is never counted, and
    after the first `warmup_pages` host page writes.
    """

    cause_names: ClassVar[Sequence[str]] = CAUSES

    plan: Plan
    device: Device
    steady_state: SteadyState
    samples: dict[str, npt.NDArray[np.uint64]]
    ageing: Ageing | None
    elapsed_s: float
    spread: Spread | None = None

    @property
    def load(self) -> Spec | traces.PageTrace:
        """The workload, or the trace in pages."""
        return self.plan.load

    @property
    @abstractmethod
    def series(self) -> pl.DataFrame:
        """One row per sampling interval of the whole run."""

    @property
    @abstractmethod
    def warnings(self) -> list[str]:
        """Warnings for readers of the result."""

    @property
    @abstractmethod
    def notes(self) -> list[str]:
        """Notes on assumptions, omissions and rounding."""

    @abstractmethod
    def to_dict(self, *, series: bool = False, theory: bool = True) -> dict[str, Any]:
        """Return the result as JSON types, with the keys of `writeamp simulate --json`."""

    @property
    def wa(self) -> float:
        """Write amplification: flash pages programmed per host page written; NaN without writes."""
        return self.flash_pages / self.host_pages if self.host_pages else math.nan

    @property
    def wa_bytes(self) -> float:
        """Flash bytes programmed per byte that the host wrote; NaN if the host's bytes are unknown.

        This is the value that SMART shows: `wa` times `partial_page_factor`.
        """
        return self.wa * self.partial_page_factor

    @property
    def partial_page_factor(self) -> float:
        """Bytes of the pages that the host wrote, divided by the bytes it requested, or NaN.

        It is above 1 if requests cover pages only in part, since pages are programmed whole. This
        occurs with small writes to large pages. The factor is not one of `causes`, which add up to
        `flash_pages`.
        """
        host_bytes = self._measured("host_bytes")
        return partial_page_factor(self.plan.load, self.host_pages, host_bytes, self.page_bytes)

    @property
    def page_bytes(self) -> int:
        """Size of the counted pages, in bytes."""
        return self.device.page_bytes

    @property
    def has_partial_pages(self) -> bool:
        """True if WA per byte visibly differs from WA per page."""
        return differs(self.partial_page_factor)

    @property
    def ci(self) -> tuple[float, float]:
        """The 95% confidence interval of `wa`; NaN if the run is too short.

        Also NaN if the run is not steady and the interval would reach below the least possible WA.
        """
        low = self.steady_state.ci_low
        # WA is at least 1, unless a write cache merges writes. So the lower end of the interval is
        # not below this least possible WA.
        least = 0.0 if self.wa < 1 else 1.0
        if low >= least or math.isnan(low):
            return low, self.steady_state.ci_high
        # If the run is not steady, an interval that reaches below the least possible WA is caused
        # by the first samples. It is meaningless, so NaN is returned.
        return (least, self.steady_state.ci_high) if self.steady else (math.nan, math.nan)

    @property
    def level(self) -> None:
        """None: a run has a confidence interval `ci`, not the `interval` of a learnt profile."""
        return

    @property
    def steady(self) -> bool:
        """True if the run reached a steady state; `steady_state.reason` explains the verdict."""
        return self.steady_state.steady

    @property
    def warmup_pages(self) -> int:
        """Host page writes left out as warm-up."""
        return self.steady_state.warmup_pages

    @property
    def host_pages(self) -> int:
        """Pages that the host wrote in the measured interval."""
        return self._measured("host_pages")

    @property
    def host(self) -> dict[str, int]:
        """Requests of the host in the measured interval, in pages and bytes.

        Keys: `written_pages` (equal to `host_pages`), `written_bytes`, `read_pages`, `read_bytes`,
        `trimmed_pages`, `trimmed_bytes` and `flushes`. A page that a request covers in part counts
        fully in pages, and with the covered part in bytes.
        """
        counters = {name: f"host_{name}" for name in OF_THE_HOST}
        counters |= {"written_pages": "host_pages", "written_bytes": "host_bytes"}
        return {name: self._measured(counter) for name, counter in counters.items()}

    @property
    def causes(self) -> dict[str, int]:
        """Pages programmed in the measured interval, by cause.

        On a drive with a given mapping unit, `read_modify_write` has the units that the host wrote
        in part, and `host` those that it wrote as a whole. In a timed run, units that hold no data
        yet count as `host`.
        """
        causes = {cause: self._measured(cause) for cause in self.cause_names}
        if self.device.host_page_bytes and "read_modify_write" not in causes:
            partial = self._measured("host_partial_pages")
            causes |= {"host": causes["host"] - partial, "read_modify_write": partial}
        return causes

    @property
    def flash_pages(self) -> int:
        """Pages programmed in the measured interval, for all causes."""
        return sum(self.causes.values())

    @property
    def by_tag(self) -> pl.DataFrame | None:
        """Writes and programs of the measured interval by the trace's tags; None without tags.

        One row for each of the trace's `tag_names`, one with `tag` null for data without a tag,
        such as data written before the run, and one for the drive's own pages, padding and the
        mapping table, if there are any. Columns: `tag`, `is_drive`, `host_pages`, `host_bytes`,
        `flash_pages`, and `<cause>_programs` for each cause. Sums are the counts of the result.
        """
        names = self.plan.tag_names
        if names is None:
            return None
        labels = {str(number): name for number, name in enumerate(names)}
        rows = [
            self._counts_of_tag(row) | {"tag": labels.get(row), "is_drive": row == "drive"}
            for row in [*labels, "untagged", "drive"]
        ]
        frame = pl.DataFrame(rows, schema_overrides={"tag": pl.String})
        is_used = pl.col("host_pages") + pl.col("flash_pages") > 0
        frame = frame.filter(pl.col("tag").is_not_null() | is_used)
        return frame.select("tag", "is_drive", pl.exclude("tag", "is_drive"))

    @cached_property
    def handles(self) -> list[dict[str, Any]] | None:
        """Counts of the measured interval by placement handle; None if none were counted.

        One row for each handle that was used, and one with `handle` null for reclaim units that
        handles share.
        Keys: `handle`, `hints` (names of the hints that the trace gives it), `host_bytes` and
        `media_bytes` (flash pages of the host's writes, and all flash pages of their data), `wa`
        (their ratio, or null), `moved_in` and `moved_out` (bytes that collection moved into and out
        of the handle's reclaim units). Sums are the counts of the result.
        """
        if "tag 0 moved_in" not in self.samples or not self.plan.counts_handles:
            return None
        count = int(declared(self.plan.policy.manager)["handles"])
        names = self._names_of_handles(count)
        rows = [self._facts_of_handle(row, names.get(row, [])) for row in [*range(count), None]]
        return [row for row in rows if row["media_bytes"] + row["moved_in"] + row["moved_out"]]

    def _names_of_handles(self, count: int) -> dict[int | None, list[str]]:
        names: dict[int | None, list[str]] = {}
        for number, name in enumerate(self.plan.hint_names):
            if name:
                names.setdefault(min(number, count - 1), []).append(name)
        return names

    def _facts_of_handle(self, handle: int | None, hints: list[str]) -> dict[str, Any]:
        row = "untagged" if handle is None else str(handle)
        counts = self._counts_of_tag(row)
        moved_in, moved_out = (
            self._measured(f"tag {row} {name}") for name in ("moved_in", "moved_out")
        )
        pages = counts["host_pages"], counts["flash_pages"]
        counted = handle_row(handle, pages, (moved_in, moved_out), self.page_bytes)
        return {"handle": handle, "hints": hints} | counted

    def _counts_of_tag(self, row: str) -> dict[str, Any]:
        programs = {cause: self._measured(f"tag {row} {cause}") for cause in self.cause_names}
        return {
            "host_pages": self._measured(f"tag {row} host_pages"),
            "host_bytes": self._measured(f"tag {row} host_bytes"),
            "flash_pages": sum(programs.values()),
            **{f"{cause}_programs": pages for cause, pages in programs.items()},
        }

    @property
    def erases(self) -> int:
        """Blocks erased in the measured interval."""
        return self._measured("erases")

    @property
    def percentage_used(self) -> float | None:
        """Percentage of the rated erases that the run after the fill used, or None if unrated.

        It is 100 times the mean number of erases of a block, divided by `wear.rated_erases` of the
        profile.
        For an array, the lowest rating of its drives is used. Blocks of SLC caches are not
        included.
        """
        flash = [member for member in (self.device, *self.device.members) if member.kind == "flash"]
        rated = [member.rated_erases for member in flash if member.rated_erases is not None]
        blocks = sum(member.geometry.blocks for member in flash)
        return 100.0 * self._erases_of_run / blocks / min(rated) if rated else None

    @property
    def _erases_of_run(self) -> int:
        return int(self.samples["erases"][-1])

    @property
    def writes(self) -> int:
        """Host page writes of the whole run after the fill, including the warm-up."""
        return int(self.samples["host_pages"][-1])

    @property
    def drive_writes(self) -> float:
        """Host page writes of the whole run, as a multiple of the logical capacity."""
        return self.writes * self.page_bytes / self.device.capacity_bytes

    @property
    def used_share(self) -> float:
        """Share of the logical pages that the host uses."""
        load = self.plan.load
        used = self.plan.used_pages(self.device) if isinstance(load, Spec) else load.footprint_pages
        return used / self.device.logical_pages

    @property
    def zones(self) -> ZonesOnDrive | None:
        """Zones of the workload beside the drive's erase units, or None without zones."""
        return ZonesOnDrive.of(self.plan.load, self.device, None)

    @cached_property
    def touched(self) -> TouchedAddresses | None:
        """Addresses that the workload touches, or None if it touches all of them."""
        load = self.plan.load
        if not isinstance(load, Spec):
            return None
        host_pages = self.plan.used_pages(self.device) * self.device.pages_per_unit
        return TouchedAddresses.of(load, host_pages, self.writes, self.device)

    @cached_property
    def application(self) -> ApplicationWrites | None:
        """Bytes of the application, host and drive; None if the workload has no application."""
        return ApplicationWrites.of(
            self.plan.load,
            self.device,
            self.plan.used_pages(self.device),
            seed=self.plan.seed,
            warmup_pages=self.writes - self.host_pages,
            host_pages=self.host_pages,
            host_bytes=self.host["written_bytes"],
            flash_bytes=self.flash_pages * self.page_bytes,
        )

    @property
    def _repeat(self) -> int:
        """Requested number of passes over the trace."""
        return self.plan.repeat

    def _rows_of_counts(self) -> list[tuple[str, str]]:
        """Return card rows on programs and erases in the measured interval."""
        unit = f"{self.device.page_noun}s"
        rows = [
            (f"programmed: {cause.replace('_', ' ')}", f"{pages:,} {unit}")
            for cause, pages in self.causes.items()
            if pages
        ]
        rows.append(("erased", f"{self.erases:,} blocks"))
        rows += self.zones.rows() if self.zones else []
        rows += self.touched.rows() if self.touched else []
        rows += self.application.rows() if self.application else []
        if self.percentage_used is not None:
            rows.append(
                (
                    "rated erases used",
                    f"{self.percentage_used:.3g}% in the whole run after the fill",
                )
            )
        return rows

    def _measured(self, counter: str) -> int:
        column = self.samples[counter]
        cut = int(np.searchsorted(self.samples["host_pages"], self.warmup_pages))
        return int(column[-1] - column[cut])

    def _facts_of_wa(self) -> dict[str, Any]:
        return {
            "wa": json_number(self.wa),
            "wa_ci95": [json_number(bound) for bound in self.ci],
            "wa_bytes": json_number(self.wa_bytes),
            "partial_page_factor": json_number(self.partial_page_factor),
            "steady": self.steady,
            "steady_reason": self.steady_state.reason,
        }

    def _facts_of_counts(self) -> dict[str, Any]:
        return {
            "host_pages": self.host_pages,
            "flash_pages": self.flash_pages,
            "host": self.host,
            "causes": self.causes,
            "erases": self.erases,
            **({} if self.handles is None else {"handles": self.handles}),
            **({} if self.percentage_used is None else {"percentage_used": self.percentage_used}),
            "warmup_pages": self.warmup_pages,
            "writes": self.writes,
            "drive_writes": self.drive_writes,
            **(self.zones.facts() if self.zones else {}),
            **(self.touched.facts() if self.touched else {}),
            **(self.application.facts() if self.application else {}),
            **self.device.facts(),
        }

    def _facts_of_run(self) -> dict[str, Any]:
        return {
            "precondition": self.plan.host.precondition,
            "preconditioning": self.ageing.to_dict() if self.ageing else None,
            "device": self.device.name,
            "workload": self.plan.load_name,
            **self.plan.policy.facts(),
            "seed": self.plan.seed,
            "version": __version__,
            "elapsed_s": self.elapsed_s,
        }

    def _facts_of_trace(self) -> dict[str, Any]:
        """Return the facts on a trace; empty for a workload."""
        load = self.plan.load
        if isinstance(load, Spec):
            return {}
        return {
            "repeat": self._repeat,
            "mapping": load.mapping,
            "footprint_pages": load.footprint_pages,
            "partial_pages": load.partial_pages,
        }
