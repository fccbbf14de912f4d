"""Study of a fleet: each volume on a drive of its own, under each policy (docs/volumes.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, Unpack

import polars as pl

from writeamp.errors import Interrupted, WriteampError, unknown_argument
from writeamp.fields.shown_settings import with_settings_of
from writeamp.registry.specs import SpecLike
from writeamp.runners import Progress, Runner, check_callbacks, local_runner
from writeamp.settings.compared import PoliciesSettings
from writeamp.settings.experiment import Experiment
from writeamp.settings.precondition import Precondition
from writeamp.studies.compare.row import row_name
from writeamp.studies.shards import Keep
from writeamp.studies.study import RunStore, Studied, keep_runs
from writeamp.volumes.fleet import Fleet, requests_file
from writeamp.volumes.jobs import (
    VolumeAt,
    VolumeCodec,
    VolumeJob,
    VolumeOutcome,
    VolumeRunsDataset,
    failure,
    is_again,
    lost_volume,
    run_volume,
)
from writeamp.volumes.omitted import OmittedPolicy, omitted_policy
from writeamp.volumes.result import BY_VOLUME, ROW, FleetRun
from writeamp.volumes.selection import select
from writeamp.volumes.settings import RUN_OPTIONS, RUN_PLACES, ComparedSettings, SelectionSettings

if TYPE_CHECKING:
    from writeamp.volumes.arguments import RunArguments

R = TypeVar("R", bound=Studied)

# Policy: block manager, victim policy (None for the manager's default), and name.
Policy: TypeAlias = tuple[str, str | None, str]

# Placeholder for the trace in the experiment that checks the settings of all volumes.
_ANY_VOLUME = "volume"


@with_settings_of(RUN_PLACES)
def run(
    fleet: Fleet,
    managers: Sequence[SpecLike] | SpecLike,
    *,
    victims: Sequence[SpecLike] | SpecLike | None = None,
    keep: Keep | None = None,
    runner: Runner | None = None,
    progress: Progress | None = None,
    **settings: Unpack[RunArguments],
) -> FleetRun:
    """Run every chosen volume of a fleet on a drive of its own, under every policy.

    `where` takes an SQL condition on the columns of `Fleet.volumes`.

    Args:
        fleet: the volumes: `split(…).fleet`, or `Fleet.open(folder)` of what `split` made.
        managers: block managers; `managers` and `victims` have the forms of `writeamp.compare`.
        victims: victim policies; by default each manager's own.
        keep: folder that stores each finished run; stored runs are not repeated. Or several
            folders: runs in the others are copied to the first.
        runner: runner of the runs; by default threads of this process.
        progress: called with the number of runs done and the total.
        settings: choice of volumes, comparison with a baseline, and settings of the runs; listed
            below.

    Returns:
        `FleetRun`: `rows` (one per run), `managers` (WA by policy), `compared`, `too_small`,
        `failed`.

    Raises:
        WriteampError: a setting is invalid, or the folder cannot be written.
        Interrupted: Ctrl-C; it carries the finished runs, or None.

    >>> import tempfile
    >>> import writeamp as wa
    >>> small = {"volumes": 3, "requests": 5000, "size": "1MiB"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trace = wa.volumes.make(f"{folder}/fleet.csv", **small).path
    ...     fleet = wa.volumes.split(trace, f"{folder}/fleet", trace_format="alibaba").fleet
    ...     result = wa.volumes.run(fleet, "single,sepgc", op=0.25, pages_per_block=8, repeat=2)
    ...     [row["manager"] for row in result.managers], result.rows.height
    (['single', 'sepgc'], 6)
    """
    return run_fleet(
        fleet,
        PoliciesSettings(managers=managers, victims=victims),  # type: ignore[arg-type]
        keep=keep,
        runner=runner,
        progress=progress,
        **in_groups(settings),
    )


def in_groups(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return keyword arguments of a study in groups, as `study_fleet` takes them."""
    rest = dict(settings)
    groups: dict[str, Any] = {}
    for kind in (SelectionSettings, ComparedSettings):
        own = [setting.name for setting in fields(kind) if setting.name in rest]
        groups[kind.title] = kind(**{name: rest.pop(name) for name in own})
    return rest | groups


def run_fleet(fleet: Fleet, policies: PoliciesSettings, **options: Any) -> FleetRun:
    """Run every chosen volume under every policy; `options` are the options of `study_fleet`.

    Volumes with more page writes are run first, and the runs of one volume follow each other. Each
    run equals that of `simulate` on the volume's own trace with the same settings.
    """
    return study_fleet(fleet, policies, _jobs, lambda result: result, **options)


def study_fleet(
    fleet: Fleet,
    policies: PoliciesSettings,
    jobs_of: Callable[[Fleet, pl.DataFrame, Sequence[Policy]], list[VolumeJob]],
    result: Callable[[FleetRun], R],
    *,
    keep: Keep | None = None,
    selection: SelectionSettings | None = None,
    compared: ComparedSettings | None = None,
    runner: Runner | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> R:
    """Run jobs of the chosen volumes of a fleet, and store the finished runs.

    Args:
        fleet: the volumes: `split(…).fleet`, or `Fleet.open(folder)` of what `split` made.
        policies: block managers and victim policies.
        jobs_of: returns the jobs of the chosen volumes under the policies.
        result: converts the `FleetRun` of these jobs into the study's own result.
        keep: folder that stores each finished run; stored runs are not repeated. Or several
            folders: runs in the others are copied to the first.
        selection: choice of volumes.
        compared: baseline and resampling of the comparison.
        runner: runner of the runs; by default threads of this process.
        progress: called with the number of runs done and the total.
        settings: settings named in `RUN_OPTIONS`, as `simulate` takes them.

    Raises:
        WriteampError: a setting is invalid, or the folder cannot be written.
        Interrupted: Ctrl-C; it carries the result of the finished runs, or None.
    """
    check_callbacks(progress, runner)
    tables = _experiment_of(policies, settings).to_dict()
    chosen = select(fleet.volumes, selection or SelectionSettings())
    pairs = _named_pairs(policies)
    labels = tuple(name for _, _, name in pairs)
    comparison = compared or ComparedSettings()
    comparison.check_baseline(labels)
    jobs = jobs_of(fleet, chosen, pairs)

    def of_outcomes(done: Mapping[int, VolumeOutcome]) -> R:
        outcomes = [
            {
                **outcome.columns,
                "label": jobs[index].name,
                "error": outcome.error,
                "small": outcome.is_too_small,
            }
            for index, outcome in sorted(done.items())
        ]
        frame = pl.DataFrame(outcomes, schema=ROW)
        rows, took_s = frame.drop("elapsed_s", "run_s"), float(frame["elapsed_s"].sum())
        folder, omitted = str(fleet.folder), _omitted(tables, jobs, chosen, done)
        fleet_run = FleetRun(folder, chosen, labels, rows, comparison, len(jobs), took_s)
        by_volume = pl.DataFrame(
            [
                {"label": jobs[index].name, **row}
                for index, outcome in sorted(done.items())
                for row in outcome.columns.get("by_volume", ())
            ],
            schema=BY_VOLUME,
        )
        return result(replace(fleet_run, omitted=omitted, by_volume=by_volume))

    def study(store: RunStore) -> R:
        try:
            outcomes = store.gather(
                VolumeCodec(tables),
                runner or local_runner(len(jobs)),
                partial(run_volume, tables),
                jobs,
                lost=lost_volume,
                files=sorted({file for job in jobs for file in job.volume.files}),
                again=is_again,
                failure=failure,
                progress=progress,
            )
        except Interrupted as stopped:
            raise Interrupted(of_outcomes(stopped.finished)) from None
        return of_outcomes(dict(enumerate(outcomes)))

    return keep_runs(keep, study, VolumeRunsDataset)


def _omitted(
    tables: Mapping[str, Any],
    jobs: Sequence[VolumeJob],
    volumes: pl.DataFrame,
    done: Mapping[int, VolumeOutcome],
) -> dict[str, OmittedPolicy]:
    """Return the policies for which every volume is too small, by name."""
    size_of = dict(volumes.select("volume", "written_set_bytes").iter_rows())
    by_label: dict[str, list[int]] = {}
    for index, job in enumerate(jobs):
        by_label.setdefault(job.name, []).append(index)
    omitted = {}
    for label, indices in by_label.items():
        if all(index in done and done[index].is_too_small for index in indices):
            smallest = min(indices, key=lambda index: size_of.get(jobs[index].volume.name, 0))
            omitted[label] = omitted_policy(tables, jobs[smallest], str(done[smallest].error))
    return omitted


def _experiment_of(policies: PoliciesSettings, settings: Mapping[str, Any]) -> Experiment:
    """Return an experiment that has a placeholder as trace, and the first policy.

    Raises:
        WriteampError: a setting is invalid.
    """
    for name in settings:
        if name not in RUN_OPTIONS:
            raise unknown_argument("run", name, RUN_OPTIONS)
    assert policies.managers is not None
    experiment = Experiment.of(
        "simulate",
        trace=_ANY_VOLUME,
        spread=False,
        manager=policies.managers[0],
        wear_leveling=policies.wear_leveling,
        **settings,
    )
    if Precondition.of(experiment.load.precondition).trace is not None:
        raise WriteampError(
            "precondition names a trace, but each volume has its own drive; valid are full, "
            "workload, none, random and random:N"
        )
    return experiment


def _jobs(fleet: Fleet, chosen: pl.DataFrame, pairs: Sequence[Policy]) -> list[VolumeJob]:
    """Return the runs of all volumes; volumes with more page writes come first."""
    largest_first = chosen.sort("page_writes", "volume", descending=[True, False])
    return [VolumeJob(volume, *pair) for volume in places(fleet, largest_first) for pair in pairs]


def _named_pairs(policies: PoliciesSettings) -> list[Policy]:
    combinations = policies.combinations()
    return [
        (
            manager.text,
            None if victims is None else victims.text,
            row_name(
                manager.text,
                victims.text if victims is not None and combinations.with_victims else None,
            ),
        )
        for manager, victims in combinations.pairs
    ]


def places(fleet: Fleet, volumes: pl.DataFrame) -> list[VolumeAt]:
    """Return the locations of volumes in the files of a fleet, in the order of their table."""
    return [
        VolumeAt(
            row["volume"],
            row["digest"],
            str(requests_file(fleet.folder.absolute(), row["file"])),
            row["first_row"],
            row["requests"],
        )
        for row in volumes.iter_rows(named=True)
    ]
