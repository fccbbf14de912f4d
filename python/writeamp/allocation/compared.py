"""Comparisons of methods: all of them on one drive, or the closed form in every workload."""

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
from writeamp.results.numbers import json_number
from writeamp.runners import Progress
from writeamp.units.ratios import all_ratios, space_in_words

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, repr=False, eq=False)
class AllocationsByMethod(OneLine, Drawn):
    """Division of one drive's space by every method.

    Attributes:
        sizes, frequencies: of the groups.
        op: of the drive.
        coldest: least space of the coldest group; None without one.
        allocations: by the name of the method.
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
            WriteampError: an argument outside its domain.
        """
        found = {name: by(sizes, frequencies, op, coldest) for name, by in METHODS.items()}
        return AllocationsByMethod(sizes, frequencies, op, coldest, found)

    def _records(self) -> list[dict[str, Any]]:
        return [
            {"method": name} | record
            for name, one in self.allocations.items()
            for record in one._records()
        ]

    def __str__(self) -> str:
        """Return WA by method in a line."""
        by_method = ", ".join(f"{name} {one.wa:.4f}" for name, one in self.allocations.items())
        return f"WA at op {self.op:.4g} by {by_method}"

    def to_dict(self) -> dict[str, Any]:
        """Return the divisions as JSON types; null is infinite."""
        return all_ratios(self.op) | {
            "sizes": self.sizes,
            "frequencies": self.frequencies,
            "coldest": vars(self.coldest) if self.coldest else None,
            "methods": [
                {
                    "method": name,
                    "op_shares": one.op_shares.tolist(),
                    "op_of_group": one.op_of_group.tolist(),
                    "wa_of_group": [json_number(wa) for wa in one.wa_of_group.tolist()],
                    "wa": json_number(float(one.wa)),
                    "over_optimal_percent": json_number(float(one.over_optimal_percent)),
                }
                for name, one in self.allocations.items()
            ],
        }

    def card(self) -> Card:
        """Return WA by method, and the share and WA of each group."""
        found = self.allocations
        summary = [
            (name, f"{one.wa:.4f}", f"{one.over_optimal_percent:.3f}")
            for name, one in found.items()
        ]
        groups: list[tuple[str, ...]] = []
        for i, (size, frequency) in enumerate(zip(self.sizes, self.frequencies, strict=True)):
            shares = (f"{one.op_shares[i]:.4f}" for one in found.values())
            groups.append((str(i + 1), f"{size:.4g}", f"{frequency:.4g}", *shares))
            groups.append(("", "", "", *(f"{one.wa_of_group[i]:.3f}" for one in found.values())))
        headings = ("group", ">size", ">frequency", *(f">{name}" for name in found))
        title = "by method: share of the spare space, and WA of the group"
        parts = [
            Card("all writes", summary, ("method", ">WA", ">over the optimum (%)")),
            Card(title, groups, headings),
        ]
        return Card(space_in_words(**all_ratios(self.op)), (), parts=parts)

    def figure(self) -> BarChart:
        """Describe how each method divides the space."""
        shares = {
            name: (one.op_shares.tolist(), float(one.wa)) for name, one in self.allocations.items()
        }
        groups = list(zip(self.sizes, self.frequencies, strict=True))
        return op_shares_by_method(groups, shares, subtitle=space_in_words(**all_ratios(self.op)))


@dataclass(frozen=True, repr=False, eq=False)
class Exploration(Drawn):
    """Closed form against the optimum in every workload of equal chunks.

    Attributes:
        chunks: of the pages, and of the writes.
        op: of the drive.
        by_groups: a row for each number of groups, as `explore` returns it.
    """

    chunks: int
    op: float
    by_groups: pl.DataFrame

    warnings: ClassVar[tuple[str, ...]] = ()
    notes: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    def of(chunks: int, op: float, progress: Progress | None = None) -> Exploration:
        """Compare them; arguments and errors are those of `explore`."""
        return Exploration(chunks, op, explore(chunks, op, progress))

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each number of groups."""
        return self.by_groups

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON types."""
        by_groups = {"by_groups": self.by_groups.to_dicts()}
        return all_ratios(self.op) | {"chunks": self.chunks} | self._overall() | by_groups

    def _overall(self) -> dict[str, Any]:
        found = self.by_groups
        weights = found["configurations"].to_numpy()
        means = found["mean_over_optimal_percent"].to_numpy()
        return {
            "configurations": int(weights.sum()),
            "mean_over_optimal_percent": float(np.average(means, weights=weights)),
            "max_over_optimal_percent": found["max_over_optimal_percent"].max(),
        }

    def card(self) -> Card:
        """Return a row for each number of groups, after one for all."""
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
        title = f"every workload of {self.chunks} equal chunks\n{self._space()}"
        return Card(title, (), parts=[Card("closed form over the optimum (%)", rows, columns)])

    def _space(self) -> str:
        return space_in_words(**all_ratios(self.op))

    def figure(self) -> PanelChart:
        """Describe the mean and the maximum over the optimum by groups."""
        found = self.by_groups
        means, maxima = (
            found[f"{kind}_over_optimal_percent"].to_list() for kind in ("mean", "max")
        )
        return over_optimal(
            found["groups"].to_list(),
            {f"{self.chunks} chunks": (means, maxima)},
            title="The closed form against the optimum",
            subtitle=f"every workload of {self.chunks} equal chunks of pages and of writes · "
            + self._space(),
            x_label="groups",
        )
