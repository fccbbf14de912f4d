"""Result of a simulation: write amplification with its interval, its causes and its history."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.devices.device import Device
from writeamp.plots.figures.group_changes import group_strips
from writeamp.plots.figures.page_lifetimes import lives_by_age
from writeamp.plots.figures.wa_over_time import WaSeries, wa_over_time
from writeamp.plots.spec import LineChart, Strip
from writeamp.plots.style import DRIVE_WRITES_LABEL
from writeamp.registry.specs import Spec
from writeamp.results.beside import over_time, valid_pages, wear_of_blocks
from writeamp.results.card import Card, Spark
from writeamp.results.drawn import Picture, draw
from writeamp.results.handles import table_of_handles
from writeamp.results.numbers import interval_in_words, json_number, plural
from writeamp.runs.capacity_error import ScalingError
from writeamp.runs.drive_result import DriveResult
from writeamp.runs.expectation import (
    Expectation,
    expectation,
    held_in_words,
    references,
    uniform_writes,
)
from writeamp.runs.plan import Plan
from writeamp.runs.preconditioning import Ageing
from writeamp.runs.series import points_of, series_of
from writeamp.runs.spread import Spread
from writeamp.runs.substitute import NO_SUBSTITUTE, Substitute
from writeamp.runs.words import (
    before_in_words,
    counted_in_words,
    facts_of_passes,
    handle_warnings,
    horizon_warnings,
    shape_in_words,
    steady_in_words,
    wa_in_words,
)
from writeamp.runs.zones import ZonesOnDrive
from writeamp.settings.precondition import Precondition
from writeamp.statistics.steady import SteadyState
from writeamp.text import printable
from writeamp.units.ratios import space_in_words

# For a trace, or a given number of writes: a warning is given if the half width of WA's confidence
# interval exceeds this share of WA.
ROUGH = 0.05
# Otherwise, the requested precision applies to the noise of a single run. A warning is given if the
# half width of that noise exceeds the requested one. The interval over replicas is wider, so it may
# exceed the requested half width by this factor before a warning is given.
_BEYOND = 4
# An op above 300% is almost certainly a percentage that was given as a ratio, so a warning is
# given.
_PERCENT_LIKE_OP = 3
# More marks of changes than this would hide the curve, so none are drawn.
_MOST_CHANGES = 50

UNTIL_PASSES_AGREED = ", until its passes agreed"
EVENT_SCHEMA = {
    "host_pages": pl.UInt64,
    "kind": pl.String,
    "group": pl.UInt64,
    "groups": pl.UInt64,
    "blocks": pl.UInt64,
}


@dataclass(frozen=True, repr=False, eq=False)
class Result(DriveResult):
    """Result of one simulation.

    The counts (`host_pages`, `causes`, …) cover the measured interval, which begins after the
    initial fill and after the first `warmup_pages` host page writes. The fill is never counted.
    """

    plan: Plan
    device: Device
    steady_state: SteadyState
    samples: dict[str, npt.NDArray[np.uint64]]
    """Cumulative counters since the fill, at increasing numbers of host pages."""
    events: pl.DataFrame
    """Log of group changes since the fill, in order; empty for managers without groups.

    Columns: `host_pages` (as in `series`), `kind` ("created", "merged" or "moved"), `group` (its
    number; the number of a merged group is reused), `groups` (number of groups after the change)
    and `blocks` (blocks taken from the group by movement operations since the manager's last
    check).
    """
    events_complete: bool
    """False if the manager's log of events became full before the run ended."""
    erases_of_block: npt.NDArray[np.uint32]
    """Erases of each block since the fill."""
    valid_page_histogram: npt.NDArray[np.uint64]
    """Closed blocks at the end: element i counts those with i valid pages; i ≤ pages per block."""
    hints: str | None
    """Hints of the host on its pages: "groups", "handles", "invalidation_times" or None."""
    scheme_bytes: int
    """Memory of the block manager's own tables in bytes, without the mapping table."""
    predicted_wa: float | None
    """WA that the block manager's own model predicts at the end of the run, or None."""
    lives: pl.DataFrame
    """Lifetimes of pages as the manager has learnt them; empty for most managers.

    One row for each class of pages and each age that was counted. An interval is the time between
    two writes of a page. Columns: `usual_pages` (middle of the class's usual intervals; 0 for pages
    not yet rewritten), `intervals` (minimum number of intervals of a page in the class),
    `last_octaves` (log2 of the last interval divided by the usual one), `age_pages` (age),
    `overwritten` and `seen` (numbers of pages that were overwritten at that age, and that reached
    it, both exponentially weighted), and `rest_pages` (expected time until a page is overwritten).
    Times are in pages that the host writes.
    """
    passes: pl.DataFrame
    """One row for each pass over a trace; empty for a synthetic workload.

    Columns: `pass` (from 1), `host_pages` written in it (the last pass may be incomplete), and its
    `wa`. The warm-up is included.
    """
    held_pages: int
    """Number of logical pages that hold data at the end of the run."""
    ageing: Ageing | None
    """Record of how the drive was aged before the run, or None."""
    elapsed_s: float = field(compare=False)
    run_s: float = field(compare=False)
    """Seconds of computing for the run, without the initial fill."""
    spread: Spread | None = None
    scaling: ScalingError | None = None
    """Scale and error of the smaller drive that was simulated for a capacity, or None."""

    @property
    def ci(self) -> tuple[float, float]:
        """The 95% confidence interval of `wa`; NaN if the run is too short.

        For a requested capacity, it includes the scaling error.
        """
        return self.substitute.widened(super().ci)

    @property
    def substitute(self) -> Substitute:
        """Relation of the run to the requested experiment, if they differ."""
        return self.scaling or NO_SUBSTITUTE

    @property
    def zones(self) -> ZonesOnDrive | None:
        """Zones of the workload beside the drive's erase units, or None without zones."""
        scale = None if self.scaling is None else self.scaling.scale
        return ZonesOnDrive.of(self.plan.load, self.device, scale)

    def with_error_of(self, other: Result) -> Result:
        """Return this result with the scaling error of another run instead of its own."""
        return replace(self, scaling=other.scaling)

    @property
    def op(self) -> float:
        """Over-provisioning of the drive: (T−U)/U, T physical and U logical pages."""
        return self.device.op

    @property
    def utilization(self) -> float:
        """Share of the logical pages that the host writes."""
        return self.used_share

    @cached_property
    def theory(self) -> Expectation:
        """WA that theory predicts for this run, or for uniform writes on an equally full drive."""
        return expectation(self.plan, self.device, self.held_pages)

    @property
    def uniform_theory(self) -> list[Expectation]:
        """Theory's WA of uniform writes under FIFO and greedy, on an equally full drive."""
        return uniform_writes(self.plan, self.device, self.held_pages)

    @property
    def held_in_words(self) -> str:
        """Op at which theory's WA is computed, as text, with a reason if it is not the drive's."""
        return held_in_words(self.device, self.held_pages)

    @property
    def host_pages_per_s(self) -> float:
        """Host page writes simulated per second of computing."""
        return self.writes / self.run_s

    @cached_property
    def series(self) -> pl.DataFrame:
        """One row per sampling interval of the whole run.

        Columns: `host_pages` and `drive_writes` (at the end of the interval, since the fill),
        `wa` (of the interval), `erases` and `trimmed_pages` (in it), and `<cause>_programs`
        (pages programmed in it) for each cause.
        """
        return series_of(self.samples, self.device.logical_pages)

    @property
    def warnings(self) -> list[str]:
        """Warnings for readers of `wa`."""
        sentences = []
        if not self.steady:
            sentences.append(
                f"WA is not steady and may change in a longer run: {self.steady_state.reason}"
            )
            sentences += self.advice
        if self.steady and self._is_rough():
            reached = self._own_half_width / self.wa
            sentences.append(f"WA is uncertain by ±{reached:.2%}{self._how_to_reduce_it()}")
        spread = self.spread and self.spread.warning(self._cyclic_part())
        sentences += [spread] if spread else []
        sentences += self.substitute.warnings(self.wa)
        sentences += self.application.warnings if self.application else []
        return [*sentences, *self.warnings_of_the_drive]

    def _cyclic_part(self) -> str | None:
        """Return the name of the load's cyclic part; it may lock in phase with collection."""
        if isinstance(self.plan.load, Spec):
            return "the sequential stream"
        return "the looped trace" if self.passes.height > 1 else None

    @property
    def advice(self) -> list[str]:
        """Advice on a trace for which the run is not steady."""
        if self.steady or isinstance(self.plan.load, Spec):
            return []
        if self.steady_state.loop_decides and self.ageing and self.plan.repeat == 1:
            return [
                "the trace is too short for a steady WA; use a longer trace, or a smaller drive"
            ]
        if self.steady_state.loop_decides:
            return [
                "for WA of the workload itself, replay one pass on an aged drive: "
                "--repeat 1 --precondition random"
            ]
        option = "--writes" if self.plan.run.writes is not None else "--repeat"
        return [
            f"the trace writes {self.drive_writes:.2f} times the drive's capacity in "
            f"{plural(self.passes.height, 'pass', 'passes')}, too little for a steady WA; increase "
            f"{option}"
        ]

    @property
    def warnings_of_the_drive(self) -> list[str]:
        """Warnings on the drive and its load, independent of the measured WA."""
        sentences = [*self.plan.warnings]
        if self.device.op > _PERCENT_LIKE_OP:
            sentences.append(
                f"op is {self.device.op:.4g}, or {self.device.op:.0%}; op is a ratio, so write 28% "
                "as 0.28 or 28%"
            )
        sentences += horizon_warnings(self.plan.policy, self.device)
        sentences += handle_warnings(self.plan)
        return sentences + (self.ageing.warnings if self.ageing else [])

    @property
    def notes(self) -> list[str]:
        """Notes on assumptions, omissions and rounding."""
        passes = self.passes.height  # 0 if the load is a workload
        return [
            *self.plan.notes,
            *([f"the trace was looped {passes} times{self._why_so_often()}"] if passes > 1 else []),
            *([] if self.events_complete else [self._events_note()]),
        ]

    def __str__(self) -> str:
        """Return the result in one line."""
        within = interval_in_words(*self.ci)
        return (
            f"WA {self.wa:.4f} ({within}{', ' if within else ''}"
            f"{'steady' if self.steady else 'NOT steady'}) of {self.plan.load_name} under "
            f"{self.plan.policy} at op {self.device.op:.4g}"
        )

    @property
    def _own_half_width(self) -> float:
        low, high = super().ci
        return (high - low) / 2

    def _is_rough(self) -> bool:
        half_width = self._own_half_width
        if self.plan.run.writes is not None or not isinstance(self.plan.load, Spec):
            return half_width > ROUGH * self.wa
        wanted = self.plan.run.precision * self.wa
        return half_width > _BEYOND * wanted or self.steady_state.own_half_width > wanted

    def _how_to_reduce_it(self) -> str:
        steady = self.steady_state
        own_share = steady.own_half_width / self._own_half_width
        if own_share > 0.5 or not steady.wa_of_replicas:  # own_share is NaN for a trace
            option = "--writes" if isinstance(self.plan.load, Spec) else "--repeat"
            return f" after {self.drive_writes:.0f} drive writes; increase {option}"
        values = (self.wa, *steady.wa_of_replicas)
        return (
            f", since runs with other seeds give {min(values):.4g} to {max(values):.4g}; increase "
            "--replicas"
        )

    @property
    def _repeat(self) -> int:
        return super()._repeat if self.plan.host.repeat != "auto" else self.passes.height

    def _why_so_often(self) -> str:
        return UNTIL_PASSES_AGREED if self.plan.host.repeat == "auto" and self.steady else ""

    def _events_note(self) -> str:
        contents = "all changes since the fill are missing"
        if self.events.height:
            contents = f"changes after host page {self.events['host_pages'][-1]:,} are missing"
        return f"the manager's log of group changes is full: {contents}"

    def to_dict(self, *, series: bool = False, theory: bool = True) -> dict[str, Any]:
        """Return the result as JSON types, with the keys of `writeamp simulate --json`.

        Args:
            series: add "series", an array for each column of `series`, and "events", an object for
                each row of `events`.
            theory: add "theory", which may take longer to compute than a short run.
        """
        document: dict[str, Any] = {
            **self._facts_of_wa(),
            "wa_of_replicas": list(self.steady_state.wa_of_replicas),
            **({} if self.predicted_wa is None else {"predicted_wa": self.predicted_wa}),
            **self._facts_of_counts(),
            **self.substitute.facts(),
            "utilization": self.utilization,
            "held_pages": self.held_pages,
            **({"theory": vars(self.theory)} if theory else {}),
            **self._facts_of_run(),
            "host_pages_per_s": self.host_pages_per_s,
            "warnings": self.warnings,
            "notes": self.notes,
        }
        if not isinstance(self.plan.load, Spec):
            document |= self._facts_of_trace()
            document["passes"] = self.passes.to_dicts()
        if self.spread:
            around = (self.spread.one_block_less, self.spread.one_block_more)
            document["wa_spread"] = self.spread.wa_spread
            document["wa_one_block_less_more"] = [json_number(wa) for wa in around]
        if series:
            document["series"] = self.series.to_dict(as_series=False)
            document["events"] = self.events.to_dicts()
        return document

    def beside(self) -> dict[str, Any]:
        """Return charts of WA over the run, and of valid pages and block erases at its end."""
        ends, wa = self._points()
        warmup = self.steady_state.warmup_pages / self.device.logical_pages
        return {
            **over_time(ends, wa, x_words=DRIVE_WRITES_LABEL, warmup=warmup, mean=self.wa),
            **valid_pages(self.valid_page_histogram),
            **wear_of_blocks(self.erases_of_block),
        }

    def _points(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return drive writes and WA of the points to draw; merges intervals to fit a figure."""
        return points_of(self.series, self.device.logical_pages, self.steady_state.warmup_pages)

    def figure(self) -> LineChart:
        """Describe WA over the run's drive writes, with changes of the manager's groups."""
        device, plan, steady = self.device, self.plan, self.steady_state
        pages_per_block = device.geometry.pages_per_block
        ends, wa = self._points()
        run = WaSeries(
            label=str(plan.policy),
            drive_writes=ends,
            wa=wa,
            warmup_drive_writes=steady.warmup_pages / device.logical_pages,
            steady_wa=self.wa,
            ci_low=self.ci[0],
            ci_high=self.ci[1],
        )
        theory = references(plan, device, self.held_pages)
        ends_of_passes = self.passes["host_pages"].cum_sum() / device.logical_pages
        return wa_over_time(
            [run],
            [(expected.model, expected.wa) for expected in theory],
            passes=list(zip(ends_of_passes, self.passes["wa"], strict=True)),
            title=f"Write amplification over time: {plan.load_name}",
            subtitle=(
                self._per_byte()
                + f"op = (T-U)/U = {device.op:.4g} · device {printable(device.name)}: "
                f"{device.physical_pages // pages_per_block:,} blocks of {pages_per_block:,} pages"
                f" · seed {plan.seed}"
                + (f" · {Precondition.of(plan.host.precondition).name}" if self.ageing else "")
                + ("" if steady.steady else " · not steady")
            ),
            changes=[swap / device.logical_pages for swap in _swaps(plan.load, self.writes)],
            strips=self._strips(),
        )

    def plot_lives(self, path: str | PathLike[str] | None = None) -> Picture | None:
        """Draw `lives` to a .png, .svg, .pdf or .html file, or without a path in the notebook.

        Returns:
            The picture for a notebook, if no path is given.

        Raises:
            WriteampError: the manager does not learn page lifetimes, the suffix is unknown, or the
                file cannot be written.
        """
        return draw(
            lives_by_age(
                self.lives,
                self.device.logical_pages,
                title=f"Lives of pages: {self.plan.load_name}",
                subtitle=f"{self.plan.policy} · op {self.device.op:.4g} · seed {self.plan.seed}",
            ),
            path,
        )

    def card(self) -> Card:
        """Return the main facts, with WA over the run as a line."""
        device = self.device
        rows = [
            ("workload", self.plan.load_name),
            ("manager, victims", str(self.plan.policy)),
            ("drive", shape_in_words(device)),
            ("space", space_in_words(device.op, device.fill, device.spare_factor)),
            ("measured", counted_in_words(device, self.host_pages, self.warmup_pages)),
            (
                "before the run",
                before_in_words(self.ageing, self.plan.host.precondition, self.device),
            ),
            ("run", f"{self.drive_writes:.1f} drive writes, seed {self.plan.seed}"),
            ("steady", steady_in_words(self.steady, self.steady_state.reason)),
        ]
        rows += self._rows_of_counts()
        rows.append(("theory", f"{self.theory}; at {self.held_in_words}"))
        rows += self.substitute.rows()
        if self.spread:
            rows.append(
                (
                    "WA with one block less / more",
                    f"{self.spread.one_block_less:.4f} / {self.spread.one_block_more:.4f}",
                )
            )
        rows += facts_of_passes(self.passes["wa"])
        if self.predicted_wa is not None:
            rows.append(("predicted by the manager", f"{self.predicted_wa:.4f}"))
        name = "write amplification"
        if self.has_partial_pages:
            factor = self.partial_page_factor
            unit = self.device.page_noun
            rows.append(("WA per host byte", f"{self.wa_bytes:.4f}  (the value of SMART)"))
            rows.append(
                ("", f"= WA per {unit} × {factor:.4f}, because requests cover some {unit}s in part")
            )
            name = f"WA per {unit}"
        rows.append((name, wa_in_words(self.wa, self.ci)))
        series = self.series
        spark = Spark(
            series["drive_writes"], series["wa"], f"WA over {self.drive_writes:.3g} drive writes"
        )
        parts = [] if self.handles is None else [table_of_handles(self.handles)]
        return Card(
            "Simulation",
            rows,
            warnings=self.warnings,
            notes=self.notes,
            parts=parts,
            spark=spark,
        )

    def _per_byte(self) -> str:
        if not self.has_partial_pages:
            return ""
        return (
            f"WA per host byte {self.wa_bytes:.3f} = {self.wa:.3f} per page × "
            f"{self.partial_page_factor:.3f} (some pages are written in part)\n"
        )

    def _strips(self) -> tuple[Strip, ...]:
        events = self.events.with_columns(
            drive_writes=pl.col("host_pages") / self.device.logical_pages
        )
        created, merged, moved = (
            events.filter(kind=kind) for kind in ("created", "merged", "moved")
        )
        return group_strips(
            created["drive_writes"].to_numpy(),
            merged["drive_writes"].to_numpy(),
            moved["drive_writes"].to_numpy(),
            moved["blocks"].to_numpy(),
            intervals=self.series.height,
            end=self.drive_writes,
        )


def _swaps(load: object, writes: int) -> list[int]:
    """Return the host pages at which the workload `groups` swapped its groups' frequencies.

    Empty for other workloads, and if there are more than 50 swaps, too many to draw.
    """
    if not (isinstance(load, Spec) and load.name == "groups"):
        return []
    first_swaps, period = load.params["swap_at"], load.params["period"]
    if first_swaps == "never":
        return []
    # The parameter counts random draws, which include TRIM requests. The figure needs host writes.
    written = 1 - float(load.params.get("trim", "0"))
    swaps = [int(text) for text in first_swaps.split("/")]
    if period != "never":
        most = math.ceil(writes / written)
        swaps += range(swaps[-1] + int(period), most, int(period))[: _MOST_CHANGES + 1]
    swaps = [round(swap * written) for swap in swaps if swap * written < writes]
    return swaps if len(swaps) <= _MOST_CHANGES else []
