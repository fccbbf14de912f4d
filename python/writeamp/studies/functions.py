"""Functions `simulate`, `compare`, `endurance` and `run`, like the subcommands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from writeamp.devices.device import DeviceLike
from writeamp.errors import WriteampError
from writeamp.fields.shown_settings import with_settings_of
from writeamp.files.output import AnyPath
from writeamp.registry.specs import SpecLike
from writeamp.results.protocol import SimulationResult
from writeamp.runners import Progress, Runner, check_callbacks
from writeamp.settings.experiment import Experiment, setting_places
from writeamp.studies.compare.comparison import run_comparison
from writeamp.studies.compare.result import Comparison
from writeamp.studies.endurance.lifetime import run_lifetime
from writeamp.studies.endurance.result import Endurance
from writeamp.studies.shards import Keep
from writeamp.studies.simulation import run_simulation

if TYPE_CHECKING:
    from writeamp.studies.arguments import (
        CompareArguments,
        EnduranceArguments,
        SimulateArguments,
    )


@with_settings_of(setting_places("simulate"))
def simulate(
    device: DeviceLike | None = None,
    workload: SpecLike | None = None,
    *,
    progress: Progress | None = None,
    **settings: Unpack[SimulateArguments],
) -> SimulationResult:
    """Simulate a page-mapped drive and measure its steady write amplification.

    The result is a `TimedResult`, with latencies, bandwidth and throughput, if the run is timed: if
    a time setting is given, if the workload sets the pace of its requests ("io", "random" or
    "sequential" with `qd`, the queue depth, or `rate`), or if a trace is replayed on a profile that
    is timed by default (docs/timing.md). On a profile learnt from a real drive (`wa.twin`), the
    result is a `Mixture` of the runs of all candidate drives, with its intervals.
    `writeamp.results.protocol` lists the attributes that all three types have.

    `trace` is a file, "-" for standard input, a trace, or data: an array of page numbers, a table
    with offset, length and op, or page (NumPy, Arrow, Polars, pandas; `trace_format` names other
    columns), or an iterator of these (docs/traces.md). With `capacity`, `Result.scaling` has the
    scale of the simulated drive and its error (docs/capacity.md). The same `seed` gives the same
    counters on every machine.

    Args:
        device: name or path of a profile, or a device. Without one, a synthetic workload runs on
            "generic", and a trace on a flat drive sized to its footprint.
        workload: a workload or its text, such as "hot-cold:f=0.1,r=0.9"; by default "uniform",
            unless a trace is given.
        progress: called from time to time with the number of host pages written and expected; in a
            timed run, with the progress and the total in the unit that ends it (ns, bytes or
            requests).
        settings: listed below.

    Returns:
        `Result`, `TimedResult` or `Mixture`. Each has `wa` with `ci` (a `Mixture` with `interval`
        and `level`), `steady`, `series`, `notes`, `warnings`, `to_dict()`, `to_frame()`, `plot()`.
        `Result` and `TimedResult` have `causes`, `host_pages`, `erases` and `device`.

    Raises:
        WriteampError: an input is invalid; the message names it and the valid values.

    >>> import writeamp as wa
    >>> result = wa.simulate(workload="uniform", op=0.25, blocks=64, pages_per_block=16,
    ...                      writes=20_000, warmup=10_000)
    >>> result.host_pages, sorted(result.causes)
    (10000, ['gc', 'host', 'wear_leveling'])
    """
    check_callbacks(progress)
    return run_simulation(
        Experiment.of("simulate", device=device, workload=workload, **settings), progress
    )


@with_settings_of(setting_places("compare"))
def compare(
    device: DeviceLike | None = None,
    workload: Sequence[SpecLike] | SpecLike | None = None,
    *,
    progress: Progress | None = None,
    runner: Runner | None = None,
    keep: Keep | None = None,
    **settings: Unpack[CompareArguments],
) -> Comparison:
    """Simulate the same drive and host under each of several block managers.

    `managers`, `victims` and `trace` may be lists. Each victim policy is combined with each manager
    that supports it, and each trace is a load beside the workloads. A drive without a size is
    fitted to each trace.

    Args:
        device: name or path of a profile, or a device, as for `simulate`.
        workload: one or several, as a list or one text with commas. Each workload and each trace is
            a load for all managers. By default "uniform", unless a trace is given.
        progress: called after each run with the number of runs done and the total.
        runner: runner of the runs, a `writeamp.runners.Runner` such as `Threads(4)`; by default
            this process, with one run at a time per processor.
        keep: folder that stores each finished run; stored runs are not repeated, so that the same
            call continues after an interruption. Or several folders, such as those of shards: runs
            in the others are copied to the first.
        settings: listed below.

    Returns:
        `Comparison`: `rows` (each with `manager`, `wa`, `ci`, `causes`, `pe_fairness`), `loads`,
        `warnings`, `to_frame()`, `unfinished`.

    Raises:
        WriteampError: an input is invalid; the message names it and the valid values.

    >>> import writeamp as wa
    >>> result = wa.compare(workload="hot-cold:f=0.1,r=0.9", managers=["single", "sepgc"], op=0.25,
    ...                     blocks=64, pages_per_block=16, writes=20_000, replicas=2)
    >>> result.to_frame()["manager"].to_list()
    ['single', 'sepgc']
    >>> result = wa.compare(workload=["uniform", "zipf"], managers="single", victims="greedy,fifo",
    ...                     op=0.25, blocks=64, pages_per_block=16, writes=20_000, replicas=2)
    >>> [(row.workload, row.victims) for row in result.rows]
    [('uniform', 'greedy'), ('uniform', 'fifo'), ('zipf', 'greedy'), ('zipf', 'fifo')]
    """
    check_callbacks(progress, runner)
    _refuse_threads(settings)
    experiment = Experiment.of("compare", device=device, workload=workload, **settings)
    return run_comparison(experiment, progress, runner, keep)


@with_settings_of(setting_places("endurance"))
def endurance(
    device: DeviceLike | None = None,
    workload: SpecLike | None = None,
    *,
    progress: Progress | None = None,
    runner: Runner | None = None,
    keep: AnyPath | None = None,
    **settings: Unpack[EnduranceArguments],
) -> Endurance:
    """Run replicas of a drive until they are worn out; measure evenness of wear and lifetime.

    The life of a drive ends when its first block has been erased `w_max` times. With spare blocks,
    it ends when as many blocks are worn out as there are spare ones; in layouts where each LUN has
    its own spare blocks, those of one LUN (docs/endurance.md). `spare_share` is rounded down to
    whole blocks, in each LUN unless the layout is "flat". `precondition` is "full", "workload" or
    "none" and causes no wear.

    Args:
        device: `device` and `workload` are as for `simulate`; a trace is replayed without end.
        workload: see `device`.
        progress: called from time to time with the erases of the most worn block, summed over the
            replicas, and the expected total, by one thread at a time, not always this one. If the
            lives run in other processes, it is called on this thread, after each life.
        runner: runner of the replicas, as for `compare`.
        keep: folder that stores each finished life, as for `compare`.
        settings: listed below.

    Returns:
        `Endurance`: `pe_fairness`, `endurance_full_drive_writes`, `tbw`, `dwpd`, `wa` with `ci`,
        `under_jesd219`, `erases_of_block`, `years(daily_bytes)`.

    Raises:
        WriteampError: an input is invalid; the message names it and the valid values.

    >>> import writeamp as wa
    >>> result = wa.endurance(blocks=32, pages_per_block=8, op=0.25, w_max=20, replicas=2)
    >>> 0 < result.pe_fairness <= 1
    True
    """
    check_callbacks(progress, runner)
    _refuse_threads(settings)
    return run_lifetime(
        Experiment.of("endurance", device=device, workload=workload, **settings),
        progress,
        runner=runner,
        keep=keep,
        is_rated=True,
    )


def run(
    experiment: Experiment | str | Path,
    progress: Progress | None = None,
    *,
    runner: Runner | None = None,
    keep: AnyPath | None = None,
) -> SimulationResult | Comparison | Endurance:
    """Run an experiment, or the one in a file: `simulate`, `compare` or `endurance`.

    Args:
        experiment: an experiment, or the path of its file.
        progress: as for the function that runs the experiment.
        runner: runner of the runs, as for `compare`; only for `compare` and `endurance`.
        keep: folder that stores each finished run; only for `compare` and `endurance`.

    Returns:
        The result of that function: see `simulate`, `compare` and `endurance`.

    Raises:
        WriteampError: an input is invalid, or `runner` or `keep` is given for `simulate`.

    >>> import writeamp as wa
    >>> experiment = wa.Experiment.of("simulate", blocks=64, pages_per_block=16, op=0.25,
    ...                               writes=2_000, warmup=1_000)
    >>> wa.run(experiment).host_pages
    1000
    """
    check_callbacks(progress, runner)
    if not isinstance(experiment, Experiment):
        experiment = Experiment.from_toml(experiment, to_run=True)
    if experiment.verb == "compare":
        return run_comparison(experiment, progress, runner, keep)
    if experiment.verb == "endurance":
        return run_lifetime(experiment, progress, runner=runner, keep=keep, is_rated=True)
    if runner is not None or keep is not None:
        raise WriteampError("simulate takes neither runner nor keep; leave them out")
    return run_simulation(experiment, progress)


def _refuse_threads(settings: Mapping[str, object]) -> None:
    """Reject the command's option `threads`; functions have the argument `runner` instead."""
    if "threads" in settings:
        raise WriteampError(
            "threads is an option of the command; give runner=writeamp.runners.Threads(4) for 4 "
            "threads"
        )
