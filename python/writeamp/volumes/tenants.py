"""Study of volumes that share one drive, on which the host names the volume with each write."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from writeamp._engine import CAUSES
from writeamp.errors import WriteampError
from writeamp.fields.shown_settings import with_settings_of
from writeamp.files.output import AnyPath
from writeamp.plots.figures.wa_by_policy import PolicyResult, wa_by_policy
from writeamp.plots.spec import BarChart
from writeamp.plots.style import with_error
from writeamp.registry.declarations import declared
from writeamp.registry.specs import SpecLike
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.runners import Progress, Runner
from writeamp.runs.loads import MOST_GROUPS
from writeamp.settings.compared import PoliciesSettings
from writeamp.studies.study import StoreStats
from writeamp.volumes.fleet import Fleet
from writeamp.volumes.jobs import VolumeJob, VolumesTogether
from writeamp.volumes.result import FleetRun
from writeamp.volumes.settings import RUN_PLACES
from writeamp.volumes.study import Policy, in_groups, places, study_fleet

if TYPE_CHECKING:
    from writeamp.volumes.arguments import RunArguments


@dataclass(frozen=True, eq=False)
class TogetherRun(Drawn):
    """Runs of one drive that has all volumes of a fleet, under several policies.

    Attributes:
        folder: of the fleet.
        volumes: facts of the volumes that were chosen.
        labels: names of the policies, in their order.
        rows: a row for each run that has an outcome, as those of `FleetRun`; `volume` is null.
        baseline: the policy with which the others are compared.
        kept: account of the folder of the runs.
    """

    folder: str
    volumes: pl.DataFrame
    labels: tuple[str, ...]
    rows: pl.DataFrame
    baseline: str
    elapsed_s: float = field(compare=False)
    kept: StoreStats | None = None

    @property
    def unfinished(self) -> tuple[Any, ...]:
        """None for each run without an outcome."""
        return (None,) * (len(self.labels) - self.rows.height)

    @property
    def is_drawable(self) -> bool:
        """Whether there is anything to draw: a policy with a WA."""
        return bool(self.managers)

    @property
    def failed(self) -> pl.DataFrame:
        """Runs that cannot be or failed: `label`, `error`."""
        return self.rows.filter(pl.col("error").is_not_null()).select("label", "error")

    @property
    def managers(self) -> list[dict[str, Any]]:
        """Numbers of each policy that has a WA.

        `hint` is what the host names with each write for this policy: the volume, or nothing.
        """
        wa_of = dict(self.rows.select("label", "wa").iter_rows())
        base = wa_of.get(self.baseline)
        return [
            {
                "manager": row["label"],
                "overall_wa": row["wa"],
                "overall_wa_ci95": [row["wa_low"], row["wa_high"]],
                "saving": None if base is None else 1 - row["wa"] / base,
                "steady": row["steady"],
                "hint": "volume" if _hears_volumes(row["manager"]) else None,
                "host_pages": row["host_pages"],
                "flash_pages": row["flash_pages"],
                "erases": row["erases"],
            }
            for row in self.rows.drop_nulls("wa").iter_rows(named=True)
        ]

    @property
    def warnings(self) -> list[str]:
        """Sentences that a reader should know."""
        failed = [f"{label} has no WA: {error}" for label, error in self.failed.iter_rows()]
        restless = self.rows.filter(~pl.col("steady"))["label"].to_list()
        if restless:
            failed.append(f"not steady, so that the WA may not last: {', '.join(restless)}")
        return failed

    @property
    def notes(self) -> list[str]:
        """Sentences on what is not told."""
        return [
            *([] if self.kept is None else self.kept.notes),
            "collection moves pages of all volumes and is not counted by volume, so that the drive "
            "has one WA",
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return it with the keys of `writeamp volumes run --together --json`."""
        kept = {"skipped": 0, "out": None} if self.kept is None else self.kept.to_dict()
        return {
            "together": True,
            "volumes": self.volumes.height,
            "runs": len(self.labels),
            "skipped": kept["skipped"],
            "failed": self.failed.height,
            "baseline": self.baseline,
            "managers": self.managers,
            "runs_s": self.elapsed_s,
            "out": kept["out"],
        }

    def _records(self) -> Iterable[Mapping[str, Any]]:
        return self.rows.drop("small", "volume").to_dicts()

    def card(self) -> Card:
        """Return a row for each policy that has a WA."""
        rows = [
            (
                one["manager"],
                with_error(one["overall_wa"], *interval_of(*one["overall_wa_ci95"])),
                "–" if one["saving"] is None else f"{one['saving']:.1%}",
                one["hint"] or "–",
            )
            for one in self.managers
        ]
        return Card(
            f"{self.volumes.height:,} volumes on one drive",
            rows,
            ("manager", ">WA", f">saving over {self.baseline}", "hint"),
            warnings=self.warnings,
            notes=[f"fleet: {self.folder}", *self.notes],
        )

    def figure(self) -> BarChart:
        """Describe WA of each policy, by cause."""
        bars = [
            PolicyResult(
                row["label"],
                row["wa"],
                {cause: row[f"{cause}_programs"] for cause in CAUSES},
                *interval_of(row["wa_low"], row["wa_high"]),
            )
            for row in self.rows.drop_nulls("wa").iter_rows(named=True)
        ]
        return wa_by_policy(
            bars,
            title="Write amplification of one drive for all volumes",
            subtitle=f"{self.volumes.height} volumes of {self.folder}",
        )


@with_settings_of(RUN_PLACES)
def together(
    fleet: Fleet,
    managers: Sequence[SpecLike] | SpecLike,
    *,
    victims: Sequence[SpecLike] | SpecLike | None = None,
    keep: AnyPath | None = None,
    runner: Runner | None = None,
    progress: Progress | None = None,
    **settings: Unpack[RunArguments],
) -> TogetherRun:
    """Run all chosen volumes of a fleet on one drive, side by side, under every policy.

    Managers that hear groups, such as "nvme-fdp", hear the volume of each write.

    Args:
        fleet: the volumes: `split(…).fleet`, or `Fleet.open(folder)` of what `split` made.
        managers: block managers, as `writeamp.compare` takes them, like `victims`.
        victims: victim policies; each manager's own by default.
        keep: a folder that keeps each finished run; runs that it holds are not done again.
        runner: who does the runs; threads of this process by default.
        progress: called with the runs done and in all.
        settings: as of `writeamp.volumes.run`; listed below.

    Returns:
        `TogetherRun`: `rows` (WA by policy), `volumes`, `failed`, `warnings`.

    Raises:
        WriteampError: a setting that cannot be, or more volumes than hints can name.
        Interrupted: Ctrl-C, with what was finished, or None.

    >>> import tempfile
    >>> import writeamp as wa
    >>> small = {"volumes": 3, "requests": 5000, "size": "1MiB"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trace = wa.volumes.make(f"{folder}/fleet.csv", **small).path
    ...     fleet = wa.volumes.split(trace, f"{folder}/fleet", trace_format="alibaba").fleet
    ...     tenants = "single,nvme-fdp:handles=3"
    ...     found = wa.volumes.together(fleet, tenants, op=0.25, pages_per_block=8, repeat=2)
    ...     [(one["manager"], one["hint"]) for one in found.managers]
    [('single', None), ('nvme-fdp:handles=3', 'volume')]
    """
    return run_together(
        fleet,
        PoliciesSettings(managers=managers, victims=victims),  # type: ignore[arg-type]
        keep=keep,
        runner=runner,
        progress=progress,
        **in_groups(settings),
    )


def run_together(fleet: Fleet, policies: PoliciesSettings, **asked: Any) -> TogetherRun:
    """Run all chosen volumes on one drive under every policy; `asked` is as of `study_fleet`.

    The written sets of the volumes lie side by side, and their requests come in the order of their
    times. Managers that hear groups hear the volume of each write. Each run is what `simulate`
    finds of a trace of these devices with the same settings.

    Raises:
        WriteampError: as `study_fleet`, or more volumes than hints can name.
    """
    return study_fleet(fleet, policies, _jobs, _result, **asked)


def _jobs(fleet: Fleet, chosen: pl.DataFrame, pairs: Sequence[Policy]) -> list[VolumeJob]:
    for manager, _, _ in pairs:
        _refuse_many(manager, chosen.height)
    volumes = VolumesTogether(tuple(places(fleet, chosen)))
    return [VolumeJob(volumes, *pair) for pair in pairs]


def _result(found: FleetRun) -> TogetherRun:
    first = found.compared.baseline or found.labels[0]
    return TogetherRun(
        found.folder, found.volumes, found.labels, found.rows, first, found.elapsed_s
    )


def interval_of(low: float | None, high: float | None) -> tuple[float, float]:
    """Return the ends of an interval, NaN where there is none."""
    return (math.nan, math.nan) if low is None or high is None else (low, high)


def _hears_volumes(manager: str) -> bool:
    return bool(declared(manager)["hears"] == "groups")


def _refuse_many(manager: str, volumes: int) -> None:
    if volumes > MOST_GROUPS and _hears_volumes(manager):
        raise WriteampError(
            f"{manager} hears the volume of each write, of at most {MOST_GROUPS}, and these are "
            f"{volumes}; choose fewer (--sample, --where)"
        )
