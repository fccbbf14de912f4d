"""Result of simulations of drives of one logical size at several op: WA over op."""

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
from writeamp.runs.simulation_result import Result
from writeamp.studies.study import StoreStats

# What stands beside a WA that may still change, and beside theory outside its domain.
_MARK = "*"


@dataclass(frozen=True, repr=False)
class CurvePoint:
    """Simulation at one of the values asked for, of whole blocks."""

    asked: float
    result: Result


@dataclass(frozen=True, repr=False, eq=False)
class OpCurve(OneLine, Drawn):
    """Write amplification over `ratio` ("op", "fill" or "spare_factor"), as asked for.

    The logical size is the same for every drive; each has the fewest blocks that make at least the
    op asked for. One that was interrupted has the points that were finished, and `unfinished` the
    other values that were asked for.
    """

    ratio: str
    points: tuple[CurvePoint, ...]
    elapsed_s: float = field(compare=False)
    unfinished: tuple[float, ...] = ()
    kept: StoreStats | None = field(default=None, compare=False)

    @property
    def results(self) -> list[Result]:
        """The simulation of each point."""
        return [one.result for one in self.points]

    def _records(self) -> list[dict[str, Any]]:
        return [point(one.result) | {"asked": one.asked} for one in self.points]

    @property
    def warnings(self) -> list[str]:
        """Sentences that a reader of the curve should know."""
        found: dict[str, list[tuple[str, str]]] = {}
        for one in self.points:
            for sentence in one.result.warnings:
                of_kind = found.setdefault(kind_of(sentence), [])
                of_kind.append((f"{one.result.device.op:.4g}", sentence))
        return [
            f"at op {', '.join(dict.fromkeys(ops))}: {as_one(sentences)}"
            for ops, sentences in (zip(*of_kind, strict=True) for of_kind in found.values())
        ]

    @property
    def notes(self) -> list[str]:
        """Sentences on what was assumed, left out or rounded, each once."""
        found = (sentence for result in self.results for sentence in result.notes)
        drives = len({result.device.geometry.blocks for result in self.results})
        same = (
            f"whole blocks make {drives} drive{'s' if drives > 1 else ''} of the "
            f"{len(self.points)} values asked for"
        )
        of_folder = self.kept.notes if self.kept else []
        blocks = [same] if drives < len(self.points) else []
        return [*dict.fromkeys(found), *blocks, *of_folder]

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
            **(self.kept.to_dict() if self.kept else {}),
            "version": __version__,
            "elapsed_s": self.elapsed_s,
            "warnings": self.warnings,
            "notes": self.notes,
        }

    def figure(self) -> LineChart:
        """Describe WA over the ratio, with intervals, and theory's beside it."""
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
        """Return a row for each point."""
        first = self.points[0].result
        of_bytes = first.has_partial_pages
        beside = "spare_factor" if self.ratio == "op" else self.ratio
        rows = []
        for one in self.points:
            result, device, theory = one.result, one.result.device, one.result.theory
            rows.append(
                (
                    f"{device.op:.4g}",
                    f"{getattr(device, beside):.4g}",
                    f"{device.geometry.blocks:,}",
                    with_error(result.wa, *result.ci) + ("" if result.steady else _MARK),
                    *((f"{result.wa_bytes:.3f}",) if of_bytes else ()),
                    f"{theory.wa:.3f}" + (_MARK if theory.outside else ""),
                )
            )
        columns = [
            ">op",
            ">" + beside.replace("_", " "),
            ">blocks",
            ">WA",
            *([">WA/byte"] if of_bytes else []),
        ]
        return Card(
            f"{first.plan.load_name} under {first.plan.policy}, {first.device.logical_pages:,} "
            "logical pages; op = (T-U)/U",
            rows,
            (*columns, ">theory"),
            warnings=self.warnings,
            notes=[*self.legend, *self.notes],
        )

    @property
    def legend(self) -> list[str]:
        """Sentences on the marks and digits of the card."""
        error = legend_of_error(with_error(one.wa, *one.ci) for one in self.results)
        is_marked = not all(one.steady for one in self.results)
        is_outside = any(one.theory.outside for one in self.results)
        models = dict.fromkeys(one.theory.model for one in self.results)
        return [
            *([error] if error else []),
            *(f"theory: {model}" for model in models),
            *([f"{_MARK} beside WA: not steady, so it may not last"] if is_marked else []),
            *([f"{_MARK} beside theory: outside the model's domain"] if is_outside else []),
        ]

    def __str__(self) -> str:
        """Return the curve's ends in a line."""
        ends = [self.points[0].result, self.points[-1].result]
        plan = ends[0].plan
        found = " and ".join(f"{one.wa:.4f} at op {one.device.op:.4g}" for one in ends)
        return f"WA of {plan.load_name} under {plan.policy} at {len(self.points)} op: {found}"


def point(result: Result) -> dict[str, Any]:
    """Return WA, its interval and theory's WA at the op of a drive, as JSON types."""
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
    """Return the facts that drives of one logical size share, as JSON types."""
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
    """Return points for a picture over op, fill or spare factor, x rising."""
    found = []
    for one in sorted(points, key=lambda one: float(one[ratio])):
        wa, low, high = (
            math.nan if value is None else value for value in (one["wa"], *one["wa_ci95"])
        )
        found.append(OpPoint(one[ratio], wa, low, high, one["steady"], one["theory"]["wa"]))
    return found
