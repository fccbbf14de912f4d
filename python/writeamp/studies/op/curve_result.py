"""Result of simulations of drives of one logical size: WA as a function of op."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from writeamp._engine import __version__
from writeamp.plots.figures.wa_over_op import OpPoint, wa_over_op
from writeamp.plots.spec import LineChart
from writeamp.plots.style import legend_of_error, with_error
from writeamp.results.any_result import OneLine
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.results.numbers import as_one, json_number, kind_of
from writeamp.runs.simulation_result import UNTIL_PASSES_AGREED, Result
from writeamp.studies.study import StoreStats

# Marks a WA that is not steady, and theory for a drive that violates the model's assumptions.
_MARK = "*"


@dataclass(frozen=True, repr=False)
class CurvePoint:
    """Simulation for one requested value, on the smallest drive with at least that op."""

    requested: float
    result: Result


@dataclass(frozen=True, repr=False, eq=False)
class OpCurve(OneLine, Drawn):
    """Write amplification as a function of `ratio`: "op", "fill" or "spare_factor".

    All drives have the same logical size, and the fewest blocks with at least the requested op. If
    the study was interrupted, the curve has the finished points, and `unfinished` the requested
    values without a result.
    """

    ratio: str
    points: tuple[CurvePoint, ...]
    elapsed_s: float = field(compare=False)
    unfinished: tuple[float, ...] = ()
    store_stats: StoreStats | None = field(default=None, compare=False)

    @property
    def results(self) -> list[Result]:
        """Simulation result of each point."""
        return [point.result for point in self.points]

    def _records(self) -> list[dict[str, Any]]:
        return [
            point(one_point.result) | {"asked": one_point.requested} for one_point in self.points
        ]

    @property
    def warnings(self) -> list[str]:
        """Warnings for readers of the curve."""
        by_kind: dict[str, list[tuple[str, str]]] = {}
        for point in self.points:
            for sentence in point.result.warnings:
                sentences_of_kind = by_kind.setdefault(kind_of(sentence), [])
                sentences_of_kind.append((f"{point.result.device.op:.4g}", sentence))
        return [
            f"at op {', '.join(dict.fromkeys(ops))}: {as_one(sentences)}"
            for ops, sentences in (
                zip(*sentences_of_kind, strict=True) for sentences_of_kind in by_kind.values()
            )
        ]

    @property
    def notes(self) -> list[str]:
        """Notes on assumptions, omissions and rounding, each once."""
        by_kind: dict[str, list[str]] = {}
        for sentence in (note for result in self.results for note in result.notes):
            # Drives at some op may end at the limit of passes instead.
            is_agreed = sentence.endswith(UNTIL_PASSES_AGREED)
            alike = sentence.removesuffix(UNTIL_PASSES_AGREED) if is_agreed else sentence
            by_kind.setdefault(kind_of(alike), []).append(alike)
        sentences = [
            group[0] if len(set(group)) == 1 else as_one(group) for group in by_kind.values()
        ]
        drives = len({result.device.geometry.blocks for result in self.results})
        rounding_note = (
            f"the {len(self.points)} requested values are simulated on only {drives} drive"
            f"{'s' if drives > 1 else ''}, because drives consist of whole blocks"
        )
        store_notes = self.store_stats.notes if self.store_stats else []
        blocks = [rounding_note] if drives < len(self.points) else []
        return [*sentences, *blocks, *store_notes]

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as JSON types, with the keys of `simulate --sweep --json`."""
        first = self.points[0].result
        interrupted = {"interrupted": True, "unfinished": list(self.unfinished)}
        return {
            **(interrupted if self.unfinished else {}),
            "swept": self.ratio,
            "points": self._records(),
            **common_facts(first),
            "partial_page_factor": json_number(first.partial_page_factor),
            **(self.store_stats.to_dict() if self.store_stats else {}),
            "version": __version__,
            "elapsed_s": self.elapsed_s,
            "warnings": self.warnings,
            "notes": self.notes,
        }

    def figure(self) -> LineChart:
        """Return a chart of WA by op, fill or spare factor, with intervals and theory's WA."""
        first = self.points[0].result
        plan, device = first.plan, first.device
        models = dict.fromkeys(result.theory.model for result in self.results)
        return wa_over_op(
            figure_points(self._records(), self.ratio),
            ratio=self.ratio,
            theory=" / ".join(models),
            title=f"Write amplification over {self.ratio.replace('_', ' ')}: {plan.load_name}",
            facts=f"{plan.policy} · {device.logical_pages:,} logical pages of "
            f"{device.page_bytes:,} bytes · seed {plan.seed}",
        )

    def card(self) -> Card:
        """Return one row for each point."""
        first = self.points[0].result
        has_bytes_column = first.has_partial_pages
        second_ratio = "spare_factor" if self.ratio == "op" else self.ratio
        rows = []
        for point in self.points:
            result, device, theory = point.result, point.result.device, point.result.theory
            rows.append(
                (
                    f"{device.op:.4g}",
                    f"{getattr(device, second_ratio):.4g}",
                    f"{device.geometry.blocks:,}",
                    with_error(result.wa, *result.ci) + ("" if result.steady else _MARK),
                    *((f"{result.wa_bytes:.3f}",) if has_bytes_column else ()),
                    f"{theory.wa:.3f}" + (_MARK if theory.outside else ""),
                )
            )
        columns = [
            ">op",
            ">" + second_ratio.replace("_", " "),
            ">blocks",
            ">WA",
            *([">WA/byte"] if has_bytes_column else []),
        ]
        return Card(
            f"{first.plan.load_name} under {first.plan.policy}, {first.device.logical_pages:,} "
            "logical pages; op = (T-U)/U",
            rows,
            (*columns, ">theory"),
            legend=self.legend,
            warnings=self.warnings,
            notes=self.notes,
        )

    @property
    def legend(self) -> list[str]:
        """Explanations of the symbols and rounding in the card."""
        error = legend_of_error(with_error(result.wa, *result.ci) for result in self.results)
        is_marked = not all(result.steady for result in self.results)
        is_outside = any(result.theory.outside for result in self.results)
        models = dict.fromkeys(result.theory.model for result in self.results)
        return [
            *([error] if error else []),
            *(f"theory: {model}" for model in models),
            *([f"{_MARK} beside WA: not steady, may change in a longer run"] if is_marked else []),
            *(
                [f"{_MARK} beside theory: the drive violates the model's assumptions"]
                if is_outside
                else []
            ),
        ]

    def __str__(self) -> str:
        """Return the first and last point of the curve in one line."""
        ends = [self.points[0].result, self.points[-1].result]
        plan = ends[0].plan
        values = " and ".join(f"{result.wa:.4f} at op {result.device.op:.4g}" for result in ends)
        return f"WA of {plan.load_name} under {plan.policy} at {len(self.points)} op: {values}"


def point(result: Result) -> dict[str, Any]:
    """Return the op of a drive, its WA with interval, and theory's WA there, as JSON types."""
    device = result.device
    return {
        "op": device.op,
        "fill": device.fill,
        "spare_factor": device.spare_factor,
        "blocks": device.geometry.blocks,
        "wa": json_number(result.wa),
        "wa_ci95": [json_number(bound) for bound in result.ci],
        "wa_bytes": json_number(result.wa_bytes),
        "steady": result.steady,
        "steady_reason": result.steady_state.reason,
        "theory": vars(result.theory),
        **result.substitute.facts_of_wa(),
    }


def common_facts(result: Result) -> dict[str, Any]:
    """Return the facts that all drives of one study share, as JSON types."""
    device, plan = result.device, result.plan
    varied = ("op", "fill", "spare_factor", "blocks", "physical_pages")
    return {
        **{name: fact for name, fact in device.facts().items() if name not in varied},
        "device": device.name,
        "workload": plan.load_name,
        **plan.policy.facts(),
        "precondition": plan.host.precondition,
        "seed": plan.seed,
        **result.substitute.facts_of_drive(),
    }


def figure_points(points: Sequence[dict[str, Any]], ratio: str) -> list[OpPoint]:
    """Return points for a plot with op, fill or spare factor as x, by ascending x."""
    op_points = []
    for record in sorted(points, key=lambda record: float(record[ratio])):
        wa, low, high = (
            math.nan if value is None else value for value in (record["wa"], *record["wa_ci95"])
        )
        op_points.append(
            OpPoint(record[ratio], wa, low, high, record["steady"], record["theory"]["wa"])
        )
    return op_points
