"""Result of a study of a fleet: WA by volume and policy, and statistics over the volumes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from writeamp.plots.figures.volumes import VolumesOfPolicy, wa_of_volumes
from writeamp.plots.spec import PanelChart
from writeamp.plots.style import with_error
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.results.facts import fact_in_words
from writeamp.results.numbers import plural
from writeamp.studies.study import StoreStats
from writeamp.volumes.jobs import OUTCOME
from writeamp.volumes.omitted import NOT_OMITTED, OmittedPolicy, sentences_on
from writeamp.volumes.settings import ComparedSettings
from writeamp.volumes.statistics import VolumeWa, classes, compared, without_volumes

# Facts (columns of volumes) that divide the volumes into thirds.
CLASSED_BY = ("hottest_10pct_share", "sequential_share")
ROW = {"label": pl.String, "error": pl.String, "small": pl.Boolean, "wa": pl.Float64, **OUTCOME}
# Bytes of each volume in the measured interval of a run of several volumes.
BY_VOLUME = {
    "label": pl.String,
    "volume": pl.String,
    "host_bytes": pl.Int64,
    "flash_bytes": pl.Int64,
}
# Memory in bytes that a worker needs for each request that it reads, and for each page of the
# drive. Both include a margin (measured by benches/volumes.py).
_BYTES_A_REQUEST, _BYTES_A_PAGE = 240, 24
_START_BYTES = 256 << 20


@dataclass(frozen=True, eq=False)
class FleetRun(Drawn):
    """Runs of a fleet's volumes under several policies.

    Attributes:
        folder: folder of the fleet.
        volumes: facts of the chosen volumes.
        labels: names of the policies, in their order.
        rows: one row for each run with an outcome: `label`, the columns of `OUTCOME`, `wa`, and
            `error` if the run has no WA.
        compared: settings of the comparison of policies.
        runs: number of requested runs.
        elapsed_s: total time of all runs in seconds, including stored ones.
        omitted: policies that can run on no volume, by name.
        by_volume: bytes of each volume in runs of several volumes, with the columns `BY_VOLUME`.
        store_stats: statistics of the folder that stores the runs, or None.
    """

    folder: str
    volumes: pl.DataFrame
    labels: tuple[str, ...]
    rows: pl.DataFrame
    compared: ComparedSettings
    runs: int
    elapsed_s: float = field(compare=False)
    store_stats: StoreStats | None = None
    omitted: Mapping[str, OmittedPolicy] = field(default_factory=dict)
    by_volume: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=BY_VOLUME))

    @property
    def compared_labels(self) -> tuple[str, ...]:
        """Names of the policies that are not omitted, in their order."""
        return tuple(label for label in self.labels if label not in self.omitted)

    @property
    def unfinished(self) -> tuple[Any, ...]:
        """A tuple with one None for each run without an outcome."""
        return (None,) * (self.runs - self.rows.height)

    @property
    def is_drawable(self) -> bool:
        """Whether any volume has a WA under every policy and can be drawn."""
        return not self.common.is_empty()

    @property
    def too_small(self) -> pl.DataFrame:
        """Runs of volumes that are too small for the policy: `volume`, `label`, `error`."""
        return self.rows.filter(pl.col("small")).select("volume", "label", "error")

    @property
    def failed(self) -> pl.DataFrame:
        """Runs that failed: `volume`, `label`, `error`."""
        failed = pl.col("error").is_not_null() & ~pl.col("small")
        return self.rows.filter(failed).select("volume", "label", "error")

    @cached_property
    def common(self) -> pl.DataFrame:
        """Table of the volumes with a WA under every policy: `volume`, and one column per policy.

        Policies that can run on no volume are left out. The facts of each volume are in further
        columns.
        """
        wide = self.rows.drop_nulls("wa").pivot("label", index="volume", values="wa")
        missing = [
            pl.lit(None, pl.Float64).alias(label)
            for label in self.compared_labels
            if label not in wide
        ]
        whole = wide.with_columns(missing).drop_nulls(list(self.compared_labels))
        return whole.select("volume", *self.compared_labels).join(self.volumes, on="volume")

    @cached_property
    def measured(self) -> VolumeWa:
        """WA and page writes of the volumes in `common`."""
        return VolumeWa(
            self.common.select(self.compared_labels).to_numpy().astype(float),
            self.common["page_writes"].to_numpy().astype(float),
        )

    @property
    def baseline(self) -> str:
        """Name of the policy with which the others are compared; one that can run, if any can."""
        requested = self.compared.baseline or self.labels[0]
        is_usable = requested in self.compared_labels or not self.compared_labels
        return requested if is_usable else self.compared_labels[0]

    @cached_property
    def managers(self) -> list[dict[str, Any]]:
        """Result of each policy over the volumes in `common`; without them, only counts.

        `volumes` counts all volumes with a WA under this policy, even if they have none under
        others. `unsteady` counts those of them whose run is not steady.
        """
        unsteady = dict(self._restless.group_by("label").len().iter_rows())
        have = dict(self.rows.drop_nulls("wa").group_by("label").len().iter_rows())
        by_label = {label: without_volumes(label) for label in self.labels}
        if not self.common.is_empty():
            rows = compared(
                self.measured,
                self.compared_labels,
                self.compared_labels.index(self.baseline),
                resamples=self.compared.resamples,
                seed=1,
            )
            by_label |= zip(self.compared_labels, rows, strict=True)
        reasons = {label: policy.facts for label, policy in self.omitted.items()}
        return [
            row
            | {"volumes": have.get(label, 0), "unsteady": unsteady.get(label, 0)}
            | reasons.get(label, NOT_OMITTED)
            for label, row in by_label.items()
        ]

    @cached_property
    def classes(self) -> list[dict[str, Any]]:
        """Thirds of the volumes in `common` by skew and sequential share, with the best policy."""
        if self.common.is_empty():
            return []
        facts = {name: self.common[name].to_numpy().astype(float) for name in CLASSED_BY}
        return classes(self.measured, self.compared_labels, facts)

    @property
    def memory_per_worker_bytes(self) -> int:
        """Upper bound in bytes of the memory of the process that runs the largest volume."""
        pages = pl.col("written_set_bytes") // 4096 * _BYTES_A_PAGE
        needed = self.volumes.select((pl.col("requests") * _BYTES_A_REQUEST + pages).max())
        return int(needed.item()) + _START_BYTES

    @property
    def warnings(self) -> list[str]:
        """Warnings about failed and unsteady runs."""
        sentences = []
        if self.failed.height:
            row = self.failed.row(0, named=True)
            sentences.append(
                f"{plural(self.failed.height, 'run')} failed, the first for volume "
                f"{row['volume']} under {row['label']}: {row['error']}"
            )
        restless = self._restless.height
        if restless:
            are, their = ("are", "their") if restless > 1 else ("is", "its")
            sentences.append(
                f"{plural(restless, 'run')} {are} not steady, so {their} WA may change in a longer "
                "run; the column `steady` of --csv shows which"
            )
        return sentences

    @property
    def _restless(self) -> pl.DataFrame:
        """Runs that are not steady."""
        return self.rows.filter(~pl.col("steady"))

    @property
    def notes(self) -> list[str]:
        """Notes on volumes and runs that were left out."""
        sentences = [] if self.store_stats is None else list(self.store_stats.notes)
        too_small = self.too_small.filter(~pl.col("label").is_in(list(self.omitted)))
        if too_small.height:
            names = too_small["volume"].unique(maintain_order=True).to_list()
            shown = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
            sentences.append(
                f"{plural(too_small.height, 'run')} of {plural(len(names), 'volume')} "
                f"{'was' if too_small.height == 1 else 'were'} skipped, because the "
                f"{'volume is' if len(names) == 1 else 'volumes are'} too small for the policy: "
                f"{shown} (all names: --json)"
            )
        left_out = self.volumes.height - self.common.height
        if left_out and not self.unfinished:
            sentences.append(
                f"{left_out} of {plural(self.volumes.height, 'volume')} "
                f"{'has' if left_out == 1 else 'have'} no WA under at least one policy and "
                f"{'is' if left_out == 1 else 'are'} left out of the statistics"
            )
        return sentences

    def to_dict(self) -> dict[str, Any]:
        """Return the result with the keys of `writeamp volumes run --json`."""
        store = (
            {"skipped": 0, "out": None} if self.store_stats is None else self.store_stats.to_dict()
        )
        return {
            "volumes": self.volumes.height,
            "compared_volumes": self.common.height,
            "runs": self.runs,
            "skipped": store["skipped"],
            "failed": self.failed.height,
            "too_small": self.too_small.to_dicts(),
            "baseline": self.baseline,
            "managers": self.managers,
            "classes": self.classes,
            "memory_per_worker_bytes": self.memory_per_worker_bytes,
            "runs_s": self.elapsed_s,
            "out": store["out"],
            "warnings": self.warnings,
            "notes": self.notes,
        }

    def _records(self) -> Iterable[Mapping[str, Any]]:
        return self.rows.drop("small").to_dicts()

    def card(self) -> Card:
        """Return a table of the policies, and the best policy for each third of the volumes."""
        notes = [f"fleet: {self.folder}", *self.notes]
        if self.common.is_empty():
            title = "no volume has a WA under every policy, so the policies cannot be compared"
            legend = sentences_on(self.omitted)
            return Card(title, [], warnings=self.warnings, notes=notes, legend=legend)
        rows = [
            (
                row["manager"],
                with_error(row["overall_wa"], *row["overall_wa_ci95"]),
                f"{row['median_wa']:.3f}",
                f"{row['saving']:.1%} ({row['saving_ci95'][0]:.1%} to {row['saving_ci95'][1]:.1%})",
                f"{row['wins']:,}",
                f"{row['unsteady']:,} of {row['volumes']:,}" if row["unsteady"] else "–",
            )
            if row["overall_wa"] is not None
            else (row["manager"], "–", "–", "–", "–", "–")
            for row in self.managers
        ]
        by_class = [
            (
                fact_in_words(row["by"], row["least"])[0],
                f"{row['class']} ({row['least']:.1%} to {row['greatest']:.1%})",
                f"{row['volumes']:,}",
                row["best"],
                f"{row['overall_wa'][row['best']]:.3f}",
            )
            for row in self.classes
        ]
        heading = ("manager", ">overall WA", ">median WA", f">saving over {self.baseline}",
                   ">wins", ">not steady")  # fmt: skip
        columns = ("volumes by", "third", ">volumes", "best policy", ">its overall WA")
        return Card(
            f"{self.common.height:,} of {plural(self.volumes.height, 'volume')}, "
            f"{plural(self.runs, 'run')}",
            rows if self._restless.height else [row[:-1] for row in rows],
            heading if self._restless.height else heading[:-1],
            warnings=self.warnings,
            notes=notes,
            parts=[Card("Best policy by volume type", by_class, columns)],
            legend=sentences_on(self.omitted),
        )

    def figure(self) -> PanelChart:
        """Describe the distribution of WA by policy, overall WA, and savings by skew."""
        baseline = self.measured.wa[:, self.compared_labels.index(self.baseline)]
        rows = [row for row in self.managers if row["manager"] not in self.omitted]
        policies = [
            VolumesOfPolicy(
                row["manager"],
                self.measured.wa[:, index],
                row["overall_wa"],
                row["overall_wa_ci95"][0],
                row["overall_wa_ci95"][1],
                1 - self.measured.wa[:, index] / baseline,
            )
            for index, row in enumerate(rows)
        ]
        return wa_of_volumes(
            policies,
            np.asarray(self.common["hottest_10pct_share"].to_numpy(), float),
            baseline=self.baseline,
            subtitle=f"{self.common.height} of {self.volumes.height} volumes of {self.folder}",
        )
