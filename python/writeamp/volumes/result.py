"""Result of a study of a fleet: WA of each volume and policy, and what follows for all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.plots.figures.volumes import VolumesOfPolicy, wa_of_volumes
from writeamp.plots.spec import PanelChart
from writeamp.plots.style import with_error
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.studies.study import StoreStats
from writeamp.volumes.jobs import OUTCOME
from writeamp.volumes.settings import ComparedSettings

_Array = npt.NDArray[np.float64]

# Resamples that are in memory at once have so many numbers.
_MOST_NUMBERS = 10_000_000
_CLASSES = ("low", "middle", "high")


@dataclass(frozen=True)
class VolumeWa:
    """WA of volumes under policies, shape (volumes, policies), and what the volumes write.

    `page_writes` are those of the volume's own trace, once: a short trace that is replayed until it
    is steady counts no more than it writes.
    """

    wa: _Array
    page_writes: _Array

    def overall(self) -> _Array:
        """Return the programs over the host writes of all, for each policy."""
        return _overall(self.wa, self.page_writes)

    def part(self, chosen: npt.NDArray[np.bool_]) -> VolumeWa:
        """Return some of the volumes."""
        return VolumeWa(self.wa[chosen], self.page_writes[chosen])

    def resampled(self, resamples: int, seed: int) -> _Array:
        """Return the overall WA of fleets of volumes drawn anew, shape (resamples, policies).

        All policies have the same draws, so that differences of theirs are of pairs.
        """
        volumes = len(self.page_writes)
        draws = np.random.default_rng([seed, 37])
        at_once = max(1, _MOST_NUMBERS // volumes)
        parts = []
        for first in range(0, resamples, at_once):
            count = min(at_once, resamples - first)
            drawn = draws.multinomial(volumes, np.full(volumes, 1 / volumes), size=count)
            weights = drawn * self.page_writes
            parts.append(weights @ self.wa / weights.sum(axis=1, keepdims=True))
        return np.concatenate(parts)


def compared(
    found: VolumeWa, labels: Sequence[str], baseline: int, *, resamples: int, seed: int
) -> list[dict[str, Any]]:
    """Return a row for each policy, as `--json` has it.

    `overall_wa_ci95` and `saving_ci95` are the middle 95% over fleets drawn anew; `saving` is the
    share of the flash writes that the baseline's volumes would be spared; `median_saving` that of
    the median volume; `wins` counts the volumes where no other policy has a lower WA.
    """
    overall, drawn = found.overall(), found.resampled(resamples, seed)
    savings = 1 - drawn / drawn[:, [baseline]]
    own_savings = 1 - found.wa / found.wa[:, [baseline]]
    wins = (found.wa <= found.wa.min(axis=1, keepdims=True)).sum(axis=0)
    return [
        {
            "manager": label,
            "overall_wa": float(overall[at]),
            "overall_wa_ci95": _middle(drawn[:, at]),
            "median_wa": float(np.median(found.wa[:, at])),
            "quartiles_wa": np.quantile(found.wa[:, at], (0.25, 0.75)).tolist(),
            "saving": float(1 - overall[at] / overall[baseline]),
            "saving_ci95": _middle(savings[:, at]),
            "median_saving": float(np.median(own_savings[:, at])),
            "wins": int(wins[at]),
        }
        for at, label in enumerate(labels)
    ]


def without_volumes(label: str) -> dict[str, Any]:
    """Return the row of a policy where no volume has a WA under all of them."""
    names = ("overall_wa", "overall_wa_ci95", "median_wa", "quartiles_wa", "saving",
             "saving_ci95", "median_saving")  # fmt: skip
    return {"manager": label, **dict.fromkeys(names), "wins": 0}


def classes(
    found: VolumeWa, labels: Sequence[str], facts: dict[str, _Array]
) -> list[dict[str, Any]]:
    """Return thirds of the volumes by each fact, with each policy's overall WA and the best.

    Volumes on the border of two thirds are in the lower one; a third without a volume is left out.
    """
    rows = []
    for name, values in facts.items():
        borders = np.quantile(values, (1 / 3, 2 / 3))
        third = np.searchsorted(borders, values, side="left")
        for number, word in enumerate(_CLASSES):
            inside = third == number
            if not inside.any():
                continue
            part = found.part(inside)
            overall = part.overall()
            wins = (part.wa <= part.wa.min(axis=1, keepdims=True)).sum(axis=0)
            rows.append(
                {
                    "by": name,
                    "class": word,
                    "least": float(values[inside].min()),
                    "greatest": float(values[inside].max()),
                    "volumes": int(inside.sum()),
                    "best": labels[int(np.argmin(overall))],
                    "overall_wa": dict(zip(labels, overall.tolist(), strict=True)),
                    "wins": dict(zip(labels, wins.tolist(), strict=True)),
                }
            )
    return rows


def _overall(wa: _Array, page_writes: _Array) -> _Array:
    return np.asarray(page_writes @ wa / page_writes.sum())


def _middle(values: _Array) -> list[float]:
    low, high = np.quantile(values, (0.025, 0.975))
    return [float(low), float(high)]


# Facts by which volumes are classed.
CLASSED_BY = ("hottest_10pct_share", "sequential_share")
ROW = {"label": pl.String, "error": pl.String, "small": pl.Boolean, "wa": pl.Float64, **OUTCOME}
# Memory of a worker for each request that it reads and each page of the drive, with room to spare
# (benches/volumes.py measures it).
_BYTES_A_REQUEST, _BYTES_A_PAGE = 240, 24
_START_BYTES = 256 << 20


@dataclass(frozen=True, eq=False)
class FleetRun(Drawn):
    """Runs of a fleet's volumes under several policies.

    Attributes:
        folder: of the fleet.
        volumes: facts of the volumes that were chosen.
        labels: names of the policies, in their order.
        rows: a row for each run that has an outcome: `label`, what `OUTCOME` says of it, `wa`, and
            `error` where there is none.
        compared: how the policies are compared.
        runs: how many were asked for.
        elapsed_s: seconds that all of them took, those that were kept among them.
        kept: account of the folder of the runs.
    """

    folder: str
    volumes: pl.DataFrame
    labels: tuple[str, ...]
    rows: pl.DataFrame
    compared: ComparedSettings
    runs: int
    elapsed_s: float = field(compare=False)
    kept: StoreStats | None = None

    @property
    def unfinished(self) -> tuple[Any, ...]:
        """None for each run without an outcome."""
        return (None,) * (self.runs - self.rows.height)

    @property
    def is_drawable(self) -> bool:
        """Whether there is anything to draw: a volume with a WA under every policy."""
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
        """WA of the volumes that have one under every policy: `volume`, and a column a policy.

        The facts of each volume stand beside it.
        """
        wide = self.rows.drop_nulls("wa").pivot("label", index="volume", values="wa")
        missing = [pl.lit(None, pl.Float64).alias(one) for one in self.labels if one not in wide]
        whole = wide.with_columns(missing).drop_nulls(list(self.labels))
        return whole.select("volume", *self.labels).join(self.volumes, on="volume")

    @cached_property
    def measured(self) -> VolumeWa:
        """WA and page writes of these volumes."""
        return VolumeWa(
            self.common.select(self.labels).to_numpy().astype(float),
            self.common["page_writes"].to_numpy().astype(float),
        )

    @property
    def baseline(self) -> str:
        """Policy with which the others are compared."""
        return self.compared.baseline or self.labels[0]

    @cached_property
    def managers(self) -> list[dict[str, Any]]:
        """Numbers of each policy over these volumes, None where there is no such volume.

        `volumes` counts those that have a WA under this policy, also where others have none.
        """
        have = dict(self.rows.drop_nulls("wa").group_by("label").len().iter_rows())
        counts = [{"volumes": have.get(label, 0)} for label in self.labels]
        if self.common.is_empty():
            rows = [without_volumes(label) for label in self.labels]
        else:
            rows = compared(
                self.measured,
                self.labels,
                self.labels.index(self.baseline),
                resamples=self.compared.resamples,
                seed=1,
            )
        return [row | count for row, count in zip(rows, counts, strict=True)]

    @cached_property
    def classes(self) -> list[dict[str, Any]]:
        """Thirds of these volumes by skew and by sequential share, and who is best there."""
        if self.common.is_empty():
            return []
        facts = {name: self.common[name].to_numpy().astype(float) for name in CLASSED_BY}
        return classes(self.measured, self.labels, facts)

    @property
    def memory_per_worker_bytes(self) -> int:
        """Bound of what the largest volume needs in the process that runs it."""
        pages = pl.col("written_set_bytes") // 4096 * _BYTES_A_PAGE
        needed = self.volumes.select((pl.col("requests") * _BYTES_A_REQUEST + pages).max())
        return int(needed.item()) + _START_BYTES

    @property
    def warnings(self) -> list[str]:
        """Sentences that a reader should know."""
        found = []
        if self.failed.height:
            row = self.failed.row(0, named=True)
            found.append(
                f"{self.failed.height} runs failed, the first of them of volume {row['volume']} "
                f"under {row['label']}: {row['error']}"
            )
        restless = self.rows.filter(~pl.col("steady")).height
        if restless:
            found.append(
                f"{restless} runs are not steady, so that their WA may not last; `steady` in the "
                "rows tells which"
            )
        return found

    @property
    def notes(self) -> list[str]:
        """Sentences on what was left out."""
        found = [] if self.kept is None else list(self.kept.notes)
        if self.too_small.height:
            names = self.too_small["volume"].unique(maintain_order=True).to_list()
            shown = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
            found.append(
                f"{self.too_small.height} runs of {len(names)} volumes cannot be, as these are too "
                f"small for the scheme: {shown} (all by name in --json)"
            )
        left_out = self.volumes.height - self.common.height
        if left_out and not self.unfinished:
            found.append(
                f"{left_out} of {self.volumes.height} volumes have no WA under some policy, and "
                "are left out of what is said of all"
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return it with the keys of `writeamp volumes run --json`."""
        kept = {"skipped": 0, "out": None} if self.kept is None else self.kept.to_dict()
        return {
            "volumes": self.volumes.height,
            "compared_volumes": self.common.height,
            "runs": self.runs,
            "skipped": kept["skipped"],
            "failed": self.failed.height,
            "too_small": self.too_small.to_dicts(),
            "baseline": self.baseline,
            "managers": self.managers,
            "classes": self.classes,
            "memory_per_worker_bytes": self.memory_per_worker_bytes,
            "runs_s": self.elapsed_s,
            "out": kept["out"],
        }

    def _records(self) -> Iterable[Mapping[str, Any]]:
        return self.rows.drop("small").to_dicts()

    def card(self) -> Card:
        """Return a row for each policy, and which of them is best for which volumes."""
        notes = [f"fleet: {self.folder}", *self.notes]
        if self.common.is_empty():
            title = "no volume has a WA under every policy, so that they cannot be compared"
            return Card(title, [], warnings=self.warnings, notes=notes)
        rows = [
            (
                one["manager"],
                with_error(one["overall_wa"], *one["overall_wa_ci95"]),
                f"{one['median_wa']:.3f}",
                f"{one['saving']:.1%} ({one['saving_ci95'][0]:.1%} to {one['saving_ci95'][1]:.1%})",
                f"{one['wins']:,}",
            )
            for one in self.managers
        ]
        by_class = [
            (
                one["by"].replace("_", " "),
                f"{one['class']} ({one['least']:.3g} to {one['greatest']:.3g})",
                f"{one['volumes']:,}",
                one["best"],
                f"{one['overall_wa'][one['best']]:.3f}",
            )
            for one in self.classes
        ]
        columns = ("volumes by", "third", ">volumes", "best overall", ">its WA")
        return Card(
            f"{self.common.height:,} of {self.volumes.height:,} volumes, {self.runs:,} runs",
            rows,
            ("manager", ">overall WA", ">median WA", f">saving over {self.baseline}", ">wins"),
            warnings=self.warnings,
            notes=notes,
            parts=[Card("Who is best where", by_class, columns)],
        )

    def figure(self) -> PanelChart:
        """Describe boxes and curves of WA, overall WA, and savings against skew."""
        baseline = self.measured.wa[:, self.labels.index(self.baseline)]
        policies = [
            VolumesOfPolicy(
                one["manager"],
                self.measured.wa[:, at],
                one["overall_wa"],
                one["overall_wa_ci95"][0],
                one["overall_wa_ci95"][1],
                1 - self.measured.wa[:, at] / baseline,
            )
            for at, one in enumerate(self.managers)
        ]
        return wa_of_volumes(
            policies,
            np.asarray(self.common["hottest_10pct_share"].to_numpy(), float),
            baseline=self.baseline,
            subtitle=f"{self.common.height} of {self.volumes.height} volumes of {self.folder}",
        )
