"""Result of the search for the op at which a drive has a write amplification."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from writeamp.plots.figures.wa_over_op import WaTarget, wa_over_op
from writeamp.plots.spec import LineChart
from writeamp.results.any_result import OneLine
from writeamp.results.card import Card, Spark
from writeamp.results.drawn import Drawn
from writeamp.results.frames import frame_of
from writeamp.results.numbers import interval_in_words, json_number
from writeamp.runs.simulation_result import Result
from writeamp.runs.words import shape_in_words, steady_in_words, wa_in_words
from writeamp.studies.op.curve_result import figure_points
from writeamp.studies.op.expected_op import ExpectedOp
from writeamp.studies.study import StoreStats

# A figure shows points up to this factor of op beyond the ends of the interval.
_SHOWN_FACTOR = 2.5


@dataclass(frozen=True)
class Rise:
    """Rise of WA with more spare space: from `wa` at `op` to `larger_wa` at `larger_op`."""

    op: float
    wa: float
    larger_op: float
    larger_wa: float


@dataclass(frozen=True, repr=False, eq=False)
class RequiredOp(OneLine, Drawn):
    """Over-provisioning at which a drive has the requested write amplification.

    All drives have the same logical size and differ in whole blocks of spare space. `result` is the
    simulation at the op found: that of the drive with the WA closest to the target.
    """

    target_wa: float
    result: Result
    next_result: Result | None
    """Simulation on the neighbouring drive, whose WA is on the other side of the target."""
    is_open: tuple[bool, bool]
    """For both ends of `ci`: whether no drive beyond it was run, or WA is not steady there."""
    rise: Rise | None
    """Largest rise of WA with more spare space, or None if it is negligible."""
    theory: ExpectedOp
    step_op: float
    """Difference of op between neighbouring drives, which is one block in each plane."""
    points: tuple[dict[str, Any], ...]
    """Results of every drive that was run, by ascending op."""
    elapsed_s: float = field(compare=False)
    ci: tuple[float, float] = (math.nan, math.nan)
    """The 95% interval of `op`; NaN if runs are too short.

    At its low end and every smaller op that was run, WA is certainly above the target; at its high
    end and every larger one, it is certainly below.
    """
    store_stats: StoreStats | None = field(default=None, compare=False)
    """Counts of the runs stored in a folder, or None without a folder."""

    @property
    def op(self) -> float:
        """Op found: (T−U)/U, with T physical and U logical pages of the drive."""
        return self.result.device.op

    @property
    def wa(self) -> float:
        """Write amplification at `op`."""
        return self.result.wa

    @property
    def is_monotone(self) -> bool:
        """True if WA nowhere rises noticeably with more spare space, over all drives run."""
        return self.rise is None

    @cached_property
    def tried(self) -> pl.DataFrame:
        """One row for each drive that was run, by ascending op, with the keys of `points`.

        In contrast, `to_frame()` has a single row: the result of the search.
        """
        return frame_of(self.points)

    @property
    def warnings(self) -> list[str]:
        """Warnings for readers of `op`."""
        sentences = list(self.result.warnings)
        if self.rise is not None:
            rise = self.rise
            sentences.append(
                f"WA is not monotone in op: it rises from {rise.wa:.4g} at op {rise.op:.4g} to "
                f"{rise.larger_wa:.4g} at op {rise.larger_op:.4g}; the interval contains every "
                f"crossing of {self.target_wa:.6g} seen on {len(self.points)} drives"
            )
        if not self.result.steady:
            sentences.append(
                f"op {self.op:.4g} was found from a WA that is not steady; both may change in "
                "longer runs"
            )
        if math.isnan(self.ci[0]):
            is_error_known = not math.isnan(self.result.substitute.error_of_wa)
            why = "WA is not steady" if is_error_known else "the scaling error is not known"
            if math.isnan(self.result.ci[0]):
                why = "the run is too short for an interval of WA"
            sentences.append(f"op has no interval, because {why}")
            return sentences
        for is_open, side, op in zip(self.is_open, ("smaller", "larger"), self.ci, strict=True):
            if is_open:
                sentences.append(
                    f"the interval ends at op {op:.4g}, because no {side} drive was run, or WA "
                    "there is not steady"
                )
        return sentences

    @property
    def notes(self) -> list[str]:
        """Notes on assumptions, omissions and rounding."""
        low, high = self.result.ci
        sentences = [*self.result.notes, *(self.store_stats.notes if self.store_stats else [])]
        other = self.next_result
        if other is not None and not low <= self.target_wa <= high:
            sentences.append(
                f"one block in each plane changes op by {self.step_op:.4g}: WA is {self.wa:.4f} "
                f"at op {self.op:.4g} and {other.wa:.4f} at op {other.device.op:.4g}; a "
                "smaller pages_per_block gives finer steps of op"
            )
        return sentences

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON types, with the keys of `simulate --target-wa --json`."""
        document = self.result.to_dict(theory=False)
        for idle in ("host_pages_per_s", "passes"):
            document.pop(idle, None)
        return {
            "target_wa": self.target_wa,
            "op": self.op,
            "op_low": json_number(self.ci[0]),
            "op_high": json_number(self.ci[1]),
            "op_is_open": list(self.is_open),
            "step_op": self.step_op,
            "theory": vars(self.theory),
            "monotone": self.is_monotone,
            "rise": None if self.rise is None else vars(self.rise),
            **{key: value for key, value in document.items() if key != "op"},
            "points": list(self.points),
            **(self.store_stats.to_dict() if self.store_stats else {}),
            "elapsed_s": self.elapsed_s,
            "warnings": self.warnings,
            "notes": self.notes,
        }

    def figure(self) -> LineChart:
        """Return a chart of WA by op for drives near the op found, with target and theory."""
        low, high = (self.op if math.isnan(end) else end for end in self.ci)
        shown = [
            record
            for record in self.points
            if low / _SHOWN_FACTOR <= record["op"] <= high * _SHOWN_FACTOR
        ]
        plan = self.result.plan
        return wa_over_op(
            figure_points(shown, "op"),
            ratio="op",
            theory=self.theory.model,
            title=f"Over-provisioning for a write amplification of {self.target_wa:.6g}: "
            f"{plan.load_name}",
            facts=f"{plan.policy} · {self.result.device.logical_pages:,} logical pages of "
            f"{self.result.device.page_bytes:,} bytes · seed {plan.seed}",
            target=WaTarget(self.target_wa, self.op, *self.ci),
        )

    def card(self) -> Card:
        """Return the result as a table, with a small plot of WA by op."""
        result, device = self.result, self.result.device
        rows = [
            ("workload", result.plan.load_name),
            ("manager, victims", str(result.plan.policy)),
            (
                "logical size (all drives)",
                f"{device.logical_pages:,} pages of {device.page_bytes:,} bytes"
                f"{result.substitute.drives_suffix()}",
            ),
            (
                "drives simulated",
                f"{len(self.points)} drives, with op in steps of {self.step_op:.4g} or more",
            ),
            ("drive", shape_in_words(device)),
            ("steady", steady_in_words(result.steady, result.steady_state.reason)),
            ("theory", str(self.theory)),
        ]
        if result.has_partial_pages:
            rows.append(("WA per host byte", f"{result.wa_bytes:.4f}  (the value of SMART)"))
        rows[:0] = [
            (f"op for WA {self.target_wa:.6g}", f"{self.op:.4g} = (T-U)/U  ({self._interval()})"),
            ("WA at that op", wa_in_words(result.wa, result.ci)),
            ("spare factor, fill", f"{device.spare_factor:.4g}, {device.fill:.4g}"),
        ]
        return Card(
            f"Over-provisioning for a WA of {self.target_wa:.6g}",
            rows,
            warnings=self.warnings,
            notes=self.notes,
            spark=Spark(self.tried["op"], self.tried["wa"], "WA over op"),
        )

    def _interval(self) -> str:
        return interval_in_words(*self.ci, ".4g") or "no interval"

    def __str__(self) -> str:
        """Return the result in one line."""
        plan = self.result.plan
        return (
            f"op {self.op:.4g} ({self._interval()}) for WA {self.target_wa:.6g} of "
            f"{plan.load_name} under {plan.policy}: WA there is {self.wa:.4f}"
        )
