"""Divisions of a drive's spare space by all methods, and the closed form in many workloads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from writeamp.allocation.coldest import ColdestGroup
from writeamp.allocation.exploration import explore
from writeamp.allocation.methods import METHODS
from writeamp.allocation.result import Allocation
from writeamp.plots.figures.allocation import op_shares_by_method, over_optimal
from writeamp.plots.spec import BarChart, PanelChart
from writeamp.results.any_result import OneLine
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.results.numbers import four_digits, json_number
from writeamp.runners import Progress
from writeamp.units.ratios import all_ratios, space_in_words

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, repr=False, eq=False)
class AllocationsByMethod(OneLine, Drawn):
    """Division of one drive's space by every method.

    Attributes:
        sizes, frequencies: each group's share of the logical pages, and of the host's writes.
        op: over-provisioning of the drive.
        coldest: rule for the space of the coldest group, or None.
        allocations: division of the space, by name of the method.
    """

    sizes: list[float]
    frequencies: list[float]
    op: float
    coldest: ColdestGroup | None
    allocations: Mapping[str, Allocation]

    warnings: ClassVar[tuple[str, ...]] = ()
    notes: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    def of(
        sizes: list[float], frequencies: list[float], op: float, coldest: ColdestGroup | None
    ) -> AllocationsByMethod:
        """Divide the space by every method.

        Raises:
            WriteampError: an argument is outside its domain.
        """
        allocations = {name: by(sizes, frequencies, op, coldest) for name, by in METHODS.items()}
        return AllocationsByMethod(sizes, frequencies, op, coldest, allocations)

    def _records(self) -> list[dict[str, Any]]:
        return [
            {"method": name} | record
            for name, allocation in self.allocations.items()
            for record in allocation._records()
        ]

    def __str__(self) -> str:
        """Return WA by method in one line."""
        by_method = ", ".join(
            f"{name} {allocation.wa:.4f}" for name, allocation in self.allocations.items()
        )
        return f"WA at op {self.op:.4g} by {by_method}"

    def to_dict(self) -> dict[str, Any]:
        """Return the divisions as JSON types; null means infinite."""
        return all_ratios(self.op) | {
            "sizes": self.sizes,
            "frequencies": self.frequencies,
            "coldest": vars(self.coldest) if self.coldest else None,
            "methods": [
                {
                    "method": name,
                    "op_shares": allocation.op_shares.tolist(),
                    "op_of_group": allocation.op_of_group.tolist(),
                    "wa_of_group": [json_number(wa) for wa in allocation.wa_of_group.tolist()],
                    "wa": json_number(float(allocation.wa)),
                    "over_optimal_percent": json_number(float(allocation.over_optimal_percent)),
                }
                for name, allocation in self.allocations.items()
            ],
        }

    def card(self) -> Card:
        """Return WA by method, and the share and WA of each group."""
        allocations = self.allocations
        summary = [
            (name, f"{allocation.wa:.4f}", f"{allocation.over_optimal_percent:.3f}")
            for name, allocation in allocations.items()
        ]
        groups: list[tuple[str, ...]] = []
        for i, (size, frequency) in enumerate(zip(self.sizes, self.frequencies, strict=True)):
            shares = (f"{allocation.op_shares[i]:.2%}" for allocation in allocations.values())
            groups.append((str(i + 1), f"{size:.2%}", f"{frequency:.2%}", *shares))
            groups.append(
                (
                    "",
                    "",
                    "",
                    *(
                        f"WA {four_digits(allocation.wa_of_group[i])}"
                        for allocation in allocations.values()
                    ),
                )
            )
        headings = (
            "group",
            ">of the pages",
            ">of the writes",
            *(f">{name}" for name in allocations),
        )
        title = "each group's share of the spare space by each method, and the group's WA"
        tables = [
            Card("all writes", summary, ("method", ">WA", ">over the optimum (%)")),
            Card(title, groups, headings),
        ]
        return Card(space_in_words(**all_ratios(self.op)), (), parts=tables)

    def figure(self) -> BarChart:
        """Return a chart of the share of the space that each group gets under each method."""
        shares = {
            name: (allocation.op_shares.tolist(), float(allocation.wa))
            for name, allocation in self.allocations.items()
        }
        groups = list(zip(self.sizes, self.frequencies, strict=True))
        return op_shares_by_method(groups, shares, subtitle=space_in_words(**all_ratios(self.op)))


@dataclass(frozen=True, repr=False, eq=False)
class Exploration(Drawn):
    """Comparison of the closed-form division with the optimal one for workloads of equal chunks.

    Attributes:
        chunks: number of equal chunks of the pages, and of the writes.
        op: over-provisioning of the drive.
        by_groups: one row for each number of groups, as `explore` returns it.
    """

    chunks: int
    op: float
    by_groups: pl.DataFrame

    warnings: ClassVar[tuple[str, ...]] = ()
    notes: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    def of(chunks: int, op: float, progress: Progress | None = None) -> Exploration:
        """Run the comparison; arguments and errors are the same as for `explore`."""
        return Exploration(chunks, op, explore(chunks, op, progress))

    def to_frame(self) -> pl.DataFrame:
        """Return one row for each number of groups."""
        return self.by_groups

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON types."""
        by_groups = {"by_groups": self.by_groups.to_dicts()}
        return all_ratios(self.op) | {"chunks": self.chunks} | self._overall() | by_groups

    def _overall(self) -> dict[str, Any]:
        table = self.by_groups
        weights = table["configurations"].to_numpy()
        means = table["mean_over_optimal_percent"].to_numpy()
        return {
            "configurations": int(weights.sum()),
            "mean_over_optimal_percent": float(np.average(means, weights=weights)),
            "max_over_optimal_percent": table["max_over_optimal_percent"].max(),
        }

    def card(self) -> Card:
        """Return one row for all workloads, then one row for each number of groups."""
        rows = [
            (
                str(row["groups"]),
                f"{row['configurations']:,}",
                f"{row['mean_over_optimal_percent']:.3f}",
                f"{row['max_over_optimal_percent']:.3f}",
            )
            for row in ({"groups": "all"} | self._overall(), *self.by_groups.to_dicts())
        ]
        columns = (">groups", ">workloads", ">mean", ">maximum")
        title = (
            f"every workload of {self.chunks} equal chunks of pages and of writes\n{self._space()}"
        )
        return Card(
            title, (), parts=[Card("WA of the closed form over the optimum (%)", rows, columns)]
        )

    def _space(self) -> str:
        return space_in_words(**all_ratios(self.op))

    def figure(self) -> PanelChart:
        """Return a chart of the mean and maximum excess of WA over the optimum, by groups."""
        table = self.by_groups
        means, maxima = (
            table[f"{kind}_over_optimal_percent"].to_list() for kind in ("mean", "max")
        )
        return over_optimal(
            table["groups"].to_list(),
            {f"{self.chunks} chunks": (means, maxima)},
            title="Closed form compared with the optimum",
            subtitle=f"every workload of {self.chunks} equal chunks of pages and of writes · "
            + self._space(),
            x_label="groups",
        )
