"""Functions `simulate`, `compare`, `endurance` and `run`: the three verbs in Python."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeAlias, TypedDict, TypeVar, Unpack

from writeamp import traces
from writeamp.devices.device import DeviceLike, SizeLike
from writeamp.devices.times import ChangesLike
from writeamp.errors import WriteampError
from writeamp.files.output import AnyPath
from writeamp.registry.specs import SpecLike
from writeamp.results.protocol import SimulationResult
from writeamp.runners import Progress, Runner, check_callbacks
from writeamp.settings.experiment import Experiment, setting_places
from writeamp.settings.settings import Repeat, Warmup
from writeamp.studies.compare.comparison import run_comparison
from writeamp.studies.compare.result import Comparison
from writeamp.studies.endurance.lifetime import run_lifetime
from writeamp.studies.endurance.result import Endurance
from writeamp.studies.simulation import run_simulation
from writeamp.units.ratios import RatioLike

# A path, a trace, or data that say one, of whatever library.
TraceLike: TypeAlias = str | os.PathLike[str] | traces.Trace | traces.PageTrace | Any

_F = TypeVar("_F", bound=Callable[..., Any])


class _Arguments(TypedDict, total=False):
    """Keyword arguments of all three verbs besides device and load, described in `settings.py`."""

    size: SizeLike | None
    capacity: SizeLike | None
    blocks: int | None
    logical_blocks: int | None
    logical_pages: int | None
    pages_per_block: int | None
    page_bytes: SizeLike | None
    op: RatioLike | None
    fill: RatioLike | None
    spare_factor: RatioLike | None
    layout: str | None
    write_cache: SizeLike | None
    map_cache: SizeLike | None
    set: ChangesLike | None
    trace_format: str | None
    action: str | None
    mapping: traces.Mapping
    trace_device: str | None
    utilization: RatioLike
    precondition: str
    wear_leveling: SpecLike | None
    seed: int
    batch_pages: int


class _OfOneRun(_Arguments, total=False):
    """Keyword arguments of a run of one load and one policy."""

    trace: TraceLike | None
    manager: SpecLike
    victims: SpecLike | None


class SimulateArguments(_OfOneRun, total=False):
    """Keyword arguments of `simulate`."""

    repeat: Repeat
    writes: int | None
    warmup: Warmup
    precision: RatioLike
    replicas: int
    spread: bool

    time: float | str | None
    timed: bool
    host_bytes: SizeLike | None
    time_scale: RatioLike
    rb_capture: str | Path | None
    rb_rate: float | str | None
    rb_jitter: float | str | None
    rb_missed: RatioLike | None


class CompareArguments(_Arguments, total=False):
    """Keyword arguments of `compare`."""

    trace: TraceLike | Sequence[TraceLike] | None
    managers: Sequence[SpecLike] | SpecLike
    victims: Sequence[SpecLike] | SpecLike | None
    repeat: Repeat
    writes: int | None
    replicas: int


class EnduranceArguments(_OfOneRun, total=False):
    """Keyword arguments of `endurance`."""

    w_max: int
    replicas: int
    spare_share: RatioLike


def _with_defaults(verb: str, *others: str) -> Callable[[_F], _F]:
    """Show the settings' defaults in a function's signature, where `help` looks for them.

    Args:
        verb: whose settings they are.
        others: arguments besides, which are None by default.
    """

    def show(function: _F) -> _F:
        at_front = [
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
            for name in ("device", "workload")
        ]
        defaults = {
            name: one.default
            for name, (kind, field_name) in setting_places(verb).items()
            for one in fields(kind)  # type: ignore[arg-type]
            if one.name == field_name and name != "threads"  # `runner` says it
        }
        by_keyword = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
            for name, default in (defaults | dict.fromkeys(others)).items()
            if name not in ("device", "workload")
        ]
        function.__signature__ = inspect.Signature([*at_front, *by_keyword])  # type: ignore[attr-defined]
        return function

    return show


@_with_defaults("simulate", "progress")
def simulate(
    device: DeviceLike | None = None,
    workload: SpecLike | None = None,
    *,
    progress: Progress | None = None,
    **settings: Unpack[SimulateArguments],
) -> SimulationResult:
    """Simulate a page-mapped drive and measure its steady write amplification.

    A run is timed, and its result a `TimedResult` with latencies, bandwidth and throughput, if a
    setting of time asks for that, if the workload says how its requests are paced ("io", "random"
    or "sequential" with `qd` or `rate`), or if a trace plays on a profile that is timed by default
    (docs/timing.md). On a profile that was learnt from a real drive (`wa.twin`), it is the
    `Mixture` of the runs of all drives that this may be, with its intervals. What all three have
    is in `writeamp.results.protocol`.

    Args:
        device: a profile's name, the path of a profile, or a device. Without one, a synthetic
            workload runs on "generic", and a trace on a flat drive sized to its footprint.
        workload: a workload or its text, such as "hot-cold:f=0.1,r=0.9"; "uniform" unless there is
            a trace.
        progress: called from time to time with the host pages written and expected; in a timed
            run, with what is done of what ends it (ns, bytes or requests), and all of that.
        settings: by keyword, each with the default that the signature shows. `trace`: a trace
            file (`trace_format` and `action` say how to read it), "-" for standard input, a trace,
            one already turned into pages, or data: an array of page numbers, a table with offset,
            length and op, or page (NumPy, Arrow, Polars, pandas; of other columns, `trace_format`
            says what they mean), or an iterator of these (docs/traces.md);
            `repeat`: how often it is replayed, by default until its passes agree if it is short;
            `mapping`: how its addresses become logical pages; `trace_device`: the only device of it
            to replay.
            `manager`, `victims`, `wear_leveling`: specs or their texts; the victims are the
            manager's own and no wear is levelled unless they are given. `seed`: decides every
            random draw; the same seed gives the same counters everywhere. `writes`: host page
            writes after the initial fill; without it, a synthetic workload runs until it is steady
            and its own noise is within ±`precision` of WA, and a trace as often as `repeat` says.
            `warmup`: host page writes to leave out, or "auto" (docs/steady-state.md).
            `precondition`: what the drive holds when the run begins, none of it counted: each page
            written once, in order ("full"), only the pages that the host will write ("workload"),
            nothing ("none"), or a full drive aged by uniform writes until WA is steady ("random"),
            by so many drive writes of them ("random:4"), or by one pass over a trace
            ("aged:disk.csv"; docs/preconditioning.md). `utilization`: share of the logical pages
            that a synthetic workload, and the fill before it, use; the rest is never written and
            serves as spare space. `capacity`: what the host sees, in bytes or as "1.92TB",
            simulated by a smaller drive: `Result.scaling` says which, and the error of that
            (docs/capacity.md). `replicas`: runs from which the interval and steadiness are
            judged, this one and others of a workload with seeds of their own. `spread`: rerun a
            trace, or a mix with a sequential part, on drives one block (in each plane) smaller and
            larger. `batch_pages`: changes speed, never the outcome. What differs from the device
            profile: `size`, `blocks`, `logical_blocks` or `logical_pages`; `op`, `fill` or
            `spare_factor`; `pages_per_block`, `page_bytes`, `layout`, `write_cache`, `map_cache`,
            `set` (see `writeamp.device`).
            Of timed runs: `time`: end after so much virtual time, in seconds or as "500ms";
            `timed`: be timed; `host_bytes`: end when the host has written so many bytes, and count
            from the fill, without a warm-up; `time_scale`: factor for the times that requests have
            of their own; `rb_capture`: a .vcd file for the Ready/Busy pins of all dies; `rb_rate`,
            `rb_jitter`, `rb_missed`: how an analyser would sample those.

    Raises:
        WriteampError: an input that cannot be used; the sentence says which, and what is valid.

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


@_with_defaults("compare", "progress", "runner", "keep")
def compare(
    device: DeviceLike | None = None,
    workload: Sequence[SpecLike] | SpecLike | None = None,
    *,
    progress: Progress | None = None,
    runner: Runner | None = None,
    keep: AnyPath | None = None,
    **settings: Unpack[CompareArguments],
) -> Comparison:
    """Simulate the same drive and host under each of several block managers.

    Args:
        device: as for `simulate`.
        workload: one or several, as a list or one text with commas: each, and each trace, is a load
            that all managers get. "uniform" unless there is a trace.
        progress: called after each run with the runs done and in all.
        runner: who does the runs, a `writeamp.runners.Runner` such as `Threads(4)`; by default
            this process, as many at the same time as it has processors.
        keep: a folder that keeps each finished run; runs that it holds are not done again, so that
            the same call continues after an interruption.
        settings: by keyword. `managers`: block managers, each of which becomes a row: a list of
            specs or texts, or one text with commas. `victims`: victim policies, given alike, each
            tried with each manager that takes it; each manager's own by default. `trace`: one or a
            list, beside the workloads that are given; a drive without a size is fitted to each.
            `replicas`: runs of each row, the first with `seed` and others with seeds that
            follow from it; a trace has no draws of its
            own. `writes`: host page writes after the initial fill of each run, of which the second
            half is measured; by default 20 times the logical pages, or those of the trace. All
            others as for `simulate`.

    Raises:
        WriteampError: an input that cannot be used; the sentence says which, and what is valid.

    >>> import writeamp as wa
    >>> found = wa.compare(workload="hot-cold:f=0.1,r=0.9", managers=["single", "sepgc"], op=0.25,
    ...                    blocks=64, pages_per_block=16, writes=20_000, replicas=2)
    >>> found.table["manager"].to_list()
    ['single', 'sepgc']
    >>> found = wa.compare(workload=["uniform", "zipf"], managers="single", victims="greedy,fifo",
    ...                    op=0.25, blocks=64, pages_per_block=16, writes=20_000, replicas=2)
    >>> [(row.workload, row.victims) for row in found.rows]
    [('uniform', 'greedy'), ('uniform', 'fifo'), ('zipf', 'greedy'), ('zipf', 'fifo')]
    """
    check_callbacks(progress, runner)
    _refuse_threads(settings)
    experiment = Experiment.of("compare", device=device, workload=workload, **settings)
    return run_comparison(experiment, progress, runner, keep)


@_with_defaults("endurance", "progress", "runner", "keep")
def endurance(
    device: DeviceLike | None = None,
    workload: SpecLike | None = None,
    *,
    progress: Progress | None = None,
    runner: Runner | None = None,
    keep: AnyPath | None = None,
    **settings: Unpack[EnduranceArguments],
) -> Endurance:
    """Run replicas of a drive until they are worn out; measure how evenly and how long.

    The life of a drive ends when its first block has been erased `w_max` times, or, with spare
    blocks, when as many blocks have as there are spare ones, of one LUN in layouts where each LUN
    has its own (docs/endurance.md).

    Args:
        device: as for `simulate`, like `workload`; a trace is replayed without end.
        workload: see `device`.
        progress: called from time to time with the erases of the most worn block, summed over the
            replicas, and what they will be in the end; by one thread at a time, but not always this
            one. If the lives run in other processes, it is called on this thread, after each life.
        runner: who wears the replicas out, as for `compare`.
        keep: a folder that keeps each finished life, as for `compare`.
        settings: by keyword. `w_max`: erases after which a block is worn out (the paper's W_max).
            `replicas`: drives to run; the intervals are over them. `seed`: that of the first; those
            of the others follow from it. `spare_share`: share of the drive's blocks (of each LUN's,
            unless the layout is "flat"), rounded down to whole blocks, that is set aside to replace
            worn ones; they are taken from the over-provisioning. `precondition`: "full",
            "workload" or "none", as for `simulate`; it wears nothing and is not counted. All others
            as for `simulate`.

    Raises:
        WriteampError: an input that cannot be used; the sentence says which, and what is valid.

    >>> import writeamp as wa
    >>> found = wa.endurance(blocks=32, pages_per_block=8, op=0.25, w_max=20, replicas=2)
    >>> 0 < found.pe_fairness <= 1
    True
    """
    check_callbacks(progress, runner)
    _refuse_threads(settings)
    return run_lifetime(
        Experiment.of("endurance", device=device, workload=workload, **settings),
        progress,
        runner=runner,
        keep=keep,
    )


def run(
    experiment: Experiment | str | Path, progress: Progress | None = None
) -> SimulationResult | Comparison | Endurance:
    """Do an experiment, or the one in a file: `simulate`, `compare` or `endurance`, as it says.

    >>> import writeamp as wa
    >>> experiment = wa.Experiment.of("simulate", blocks=64, pages_per_block=16, op=0.25,
    ...                               writes=2_000, warmup=1_000)
    >>> wa.run(experiment).host_pages
    1000
    """
    check_callbacks(progress)
    if not isinstance(experiment, Experiment):
        experiment = Experiment.from_toml(experiment, to_run=True)
    runs: dict[str, Callable[..., SimulationResult | Comparison | Endurance]] = {
        "simulate": run_simulation,
        "compare": run_comparison,
        "endurance": run_lifetime,
    }
    return runs[experiment.verb](experiment, progress)


def _refuse_threads(settings: Mapping[str, object]) -> None:
    """Refuse the option of the command in whose place functions take a runner."""
    if "threads" in settings:
        raise WriteampError(
            "threads is an option of the command; give runner=writeamp.runners.Threads(4) for 4"
        )
