"""Study of volumes that share one drive, with the volume of each write as a hint."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from writeamp._engine import CAUSES, MOST_TAGS
from writeamp.errors import WriteampError
from writeamp.fields.shown_settings import with_settings_of
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
from writeamp.studies.shards import Keep
from writeamp.studies.study import StoreStats
from writeamp.volumes.fleet import Fleet
from writeamp.volumes.jobs import VolumeJob, VolumesTogether
from writeamp.volumes.omitted import NOT_OMITTED, OmittedPolicy, sentences_on
from writeamp.volumes.result import BY_VOLUME, FleetRun
from writeamp.volumes.settings import RUN_PLACES
from writeamp.volumes.study import Policy, in_groups, places, study_fleet

if TYPE_CHECKING:
    from writeamp.volumes.arguments import RunArguments


@dataclass(frozen=True, eq=False)
class TogetherRun(Drawn):
    """Runs of all volumes of a fleet on one shared drive, under several policies.

    Attributes:
        folder: folder of the fleet.
        volumes: facts of the chosen volumes.
        labels: names of the policies, in their order.
        rows: one row for each run with an outcome, as in `FleetRun`; `volume` is null, since a run
            covers all volumes.
        baseline: the policy with which the others are compared.
        store_stats: statistics of the folder that stores the runs, or None.
        omitted: policies that cannot run, by name.
        by_volume: bytes of each volume under each policy in the measured interval: `label`,
            `volume` (null for data from before the run, and for the drive's own pages),
            `host_bytes` and `flash_bytes`.
    """

    folder: str
    volumes: pl.DataFrame
    labels: tuple[str, ...]
    rows: pl.DataFrame
    baseline: str
    elapsed_s: float = field(compare=False)
    store_stats: StoreStats | None = None
    omitted: Mapping[str, OmittedPolicy] = field(default_factory=dict)
    by_volume: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=BY_VOLUME))

    @property
    def unfinished(self) -> tuple[Any, ...]:
        """A tuple with one None for each run without an outcome."""
        return (None,) * (len(self.labels) - self.rows.height)

    @property
    def is_drawable(self) -> bool:
        """Whether any policy has a WA and can be drawn."""
        return not self.rows.drop_nulls("wa").is_empty()

    @property
    def failed(self) -> pl.DataFrame:
        """Runs that failed: `label`, `error`."""
        failed = pl.col("error").is_not_null() & ~pl.col("small")
        return self.rows.filter(failed).select("label", "error")

    @property
    def managers(self) -> list[dict[str, Any]]:
        """Results of each policy that has a WA, and the reason of each that cannot run.

        `hint` is the kind of hint that the host passes with each write: "volume" or None.
        """
        wa_of = dict(self.rows.select("label", "wa").iter_rows())
        base = wa_of.get(self.baseline)
        rows = [
            {
                "manager": row["label"],
                "overall_wa": row["wa"],
                "overall_wa_ci95": [row["wa_low"], row["wa_high"]],
                "saving": None if base is None else 1 - row["wa"] / base,
                "steady": row["steady"],
                "hint": "volume" if _uses_volume_hints(row["manager"]) else None,
                "host_pages": row["host_pages"],
                "flash_pages": row["flash_pages"],
                "erases": row["erases"],
                **NOT_OMITTED,
            }
            for row in self.rows.drop_nulls("wa").iter_rows(named=True)
        ]
        keys = rows[0] if rows else ("manager",)
        rows += [
            dict.fromkeys(keys) | {"manager": label} | policy.facts
            for label, policy in self.omitted.items()
        ]
        return sorted(rows, key=lambda row: self.labels.index(row["manager"]))

    @property
    def wa_by_volume(self) -> list[dict[str, Any]]:
        """Host and flash bytes of each volume under each policy, and their quotient `wa`.

        `wa` is None for a volume without writes in the measured interval, and for data of no
        volume.
        """
        return [
            {
                "manager": row["label"],
                "volume": row["volume"],
                "host_bytes": row["host_bytes"],
                "flash_bytes": row["flash_bytes"],
                "wa": row["flash_bytes"] / row["host_bytes"] if row["host_bytes"] else None,
            }
            for row in self.by_volume.iter_rows(named=True)
        ]

    @property
    def warnings(self) -> list[str]:
        """Warnings about failed and unsteady runs."""
        failed = [f"{label} has no WA: {error}" for label, error in self.failed.iter_rows()]
        restless = self.rows.filter(~pl.col("steady"))["label"].to_list()
        if restless:
            failed.append(f"WA is not steady and may change in a longer run: {', '.join(restless)}")
        return failed

    @property
    def notes(self) -> list[str]:
        """Notes on volumes that are not counted, and on stored runs."""
        notes = [] if self.store_stats is None else list(self.store_stats.notes)
        if self.by_volume.is_empty() and not self.rows["wa"].drop_nulls().is_empty():
            notes.append(
                f"WA by volume is not counted: more than {MOST_TAGS} volumes are written. Choose "
                "fewer with --sample or --where"
            )
        return notes

    def to_dict(self) -> dict[str, Any]:
        """Return the result with the keys of `writeamp volumes run --together --json`."""
        store = (
            {"skipped": 0, "out": None} if self.store_stats is None else self.store_stats.to_dict()
        )
        return {
            "together": True,
            "volumes": self.volumes.height,
            "runs": len(self.labels),
            "skipped": store["skipped"],
            "failed": self.failed.height,
            "baseline": self.baseline,
            "managers": self.managers,
            "wa_by_volume": self.wa_by_volume,
            "runs_s": self.elapsed_s,
            "out": store["out"],
            "warnings": self.warnings,
            "notes": self.notes,
        }

    def _records(self) -> Iterable[Mapping[str, Any]]:
        return self.rows.drop("small", "volume").to_dicts()

    def card(self) -> Card:
        """Return one row for each policy."""
        rows = [
            (
                row["manager"],
                "–"
                if row["overall_wa"] is None
                else with_error(row["overall_wa"], *interval_of(*row["overall_wa_ci95"]))
                + ("" if row["steady"] else ", not steady"),
                "–" if row["saving"] is None else f"{row['saving']:.1%}",
                row["hint"] or "–",
            )
            for row in self.managers
        ]
        return Card(
            f"{self.volumes.height:,} volumes on one drive",
            rows,
            ("manager", ">WA", f">saving over {self.baseline}", "hint"),
            warnings=self.warnings,
            notes=[f"fleet: {self.folder}", *self.notes],
            legend=sentences_on(self.omitted),
        )

    def figure(self) -> BarChart:
        """Describe the WA of each policy, by cause."""
        bars = [
            PolicyResult(
                row["label"],
                row["wa"],
                {cause: row[f"{cause}_programs"] for cause in CAUSES},
                *interval_of(row["wa_low"], row["wa_high"]),
            )
            for row in self.rows.drop_nulls("wa").iter_rows(named=True)
        ]
        bars += [PolicyResult(label, math.nan, {}) for label in self.omitted]
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
    keep: Keep | None = None,
    runner: Runner | None = None,
    progress: Progress | None = None,
    **settings: Unpack[RunArguments],
) -> TogetherRun:
    """Run all chosen volumes of a fleet on one shared drive, under every policy.

    For managers that use group hints, such as "nvme-fdp", the hint with each write is its volume.

    Args:
        fleet: the volumes: `split(…).fleet`, or `Fleet.open(folder)` of what `split` made.
        managers: block managers; `managers` and `victims` have the forms of `writeamp.compare`.
        victims: victim policies; by default each manager's own.
        keep: folder that stores each finished run; stored runs are not repeated. Or several
            folders: runs in the others are copied to the first.
        runner: runner of the runs; by default threads of this process.
        progress: called with the number of runs done and the total.
        settings: as for `writeamp.volumes.run`; listed below.

    Returns:
        `TogetherRun`: `rows` (WA by policy), `volumes`, `failed`, `warnings`.

    Raises:
        WriteampError: a setting is invalid, or there are more volumes than hints can name.
        Interrupted: Ctrl-C; it carries the finished runs, or None.

    >>> import tempfile
    >>> import writeamp as wa
    >>> small = {"volumes": 3, "requests": 5000, "size": "1MiB"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trace = wa.volumes.make(f"{folder}/fleet.csv", **small).path
    ...     fleet = wa.volumes.split(trace, f"{folder}/fleet", trace_format="alibaba").fleet
    ...     tenants = "single,nvme-fdp:handles=3"
    ...     result = wa.volumes.together(fleet, tenants, op=0.25, pages_per_block=8, repeat=2)
    ...     [(row["manager"], row["hint"]) for row in result.managers]
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


def run_together(fleet: Fleet, policies: PoliciesSettings, **options: Any) -> TogetherRun:
    """Run all chosen volumes on one drive; `options` are the options of `study_fleet`.

    The pages that the volumes write become adjacent ranges of addresses, and their requests are
    merged in order of time. For managers that use group hints, the hint with each write is its
    volume. Each run equals a run of `simulate` on one trace with all volumes as devices, with the
    same settings.

    Raises:
        WriteampError: as for `study_fleet`, or there are more volumes than hints can name.
    """
    return study_fleet(fleet, policies, _jobs, _result, **options)


def _jobs(fleet: Fleet, chosen: pl.DataFrame, pairs: Sequence[Policy]) -> list[VolumeJob]:
    for manager, _, _ in pairs:
        _refuse_many(manager, chosen.height)
    volumes = VolumesTogether(tuple(places(fleet, chosen)))
    return [VolumeJob(volumes, *pair) for pair in pairs]


def _result(fleet_run: FleetRun) -> TogetherRun:
    return TogetherRun(
        fleet_run.folder,
        fleet_run.volumes,
        fleet_run.labels,
        fleet_run.rows,
        fleet_run.baseline,
        fleet_run.elapsed_s,
        omitted=fleet_run.omitted,
        by_volume=fleet_run.by_volume,
    )


def interval_of(low: float | None, high: float | None) -> tuple[float, float]:
    """Return the ends of an interval, or NaN where they are missing."""
    return (math.nan, math.nan) if low is None or high is None else (low, high)


def _uses_volume_hints(manager: str) -> bool:
    return declared(manager)["required_hints"] in ("groups", "handles")


def _refuse_many(manager: str, volumes: int) -> None:
    if volumes > MOST_GROUPS and _uses_volume_hints(manager):
        raise WriteampError(
            f"{manager} takes the volume of each write as a hint, at most {MOST_GROUPS} volumes; "
            f"these are {volumes}; select fewer with --sample or --where"
        )
