"""`writeamp.sweep`: run the points that a file asks for, and that have no results yet."""

from __future__ import annotations

import os
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from writeamp.errors import Interrupted
from writeamp.fields.domains import file_name
from writeamp.runners import Progress, Runner, Tls, gather, runner_of
from writeamp.studies.sink import Sink
from writeamp.studies.sweep.account import Account
from writeamp.studies.sweep.plan import Plan, PlanLike, plan_of
from writeamp.studies.sweep.points import Outcome, lost_point, run_point
from writeamp.studies.sweep.result import Sweep
from writeamp.studies.sweep.rows import SweepDataset, table_of

if TYPE_CHECKING:  # of the extra `cluster`
    from distributed import Client


def sweep(
    plan: PlanLike,
    *,
    out: str | os.PathLike[str],
    retry_failed: bool = False,
    workers: int | None = None,
    scheduler: str | Client | None = None,
    tls: Tls | None = None,
    runner: Runner | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Run every point of a sweep that has no result yet, and keep the results in a folder.

    Args:
        plan: a .toml file with an experiment and a table `[sweep]`, or a mapping with the same
            keys (docs/sweeps.md), or a checked `Plan` of them.
        out: the folder of the results, made if there is none. Points whose results are in it
            already are not run again; other sweeps may share it, also at the same time.
        retry_failed: run points again whose result is an error.
        workers: processes of this machine that run the points; 1 is this one. By default one for
            each processor, or threads of this one without Dask, the extra `cluster`.
        scheduler: the address of a Dask scheduler that runs, or a client of it, in place of
            processes here.
        tls: paths of PEM files for a scheduler at `tls://…`.
        runner: who runs the points, in place of all these.
        progress: called with the points done, and all that are to be run.

    Raises:
        WriteampError: something in the plan cannot be, before any point is run; or the results
            cannot be written, and then those that were stay.
        Interrupted: Ctrl-C, with the `Sweep` as far as it came.

    >>> import tempfile
    >>> import writeamp as wa
    >>> plan = {
    ...     "verb": "predict",
    ...     "sweep": {"axes": {"op": [0.1, 0.2], "model": ["expected-value", "markov"]}},
    ... }
    >>> with tempfile.TemporaryDirectory() as out:
    ...     found = wa.sweep(plan, out=out, workers=1)
    ...     found.done, wa.sweep(plan, out=out).skipped, found.to_frame()["wa"].round(3).to_list()
    (4, 4, [5.677, 5.451, 3.188, 3.119])
    """
    runs = (
        runner_of(workers=workers, scheduler=scheduler, tls=tls)
        if runner is None
        else nullcontext(runner)
    )
    with runs as doing:
        return _sweep(plan_of(plan), Path(file_name(out)), retry_failed, doing, progress)


def _sweep(
    plan: Plan, out: Path, retry_failed: bool, runner: Runner, progress: Progress | None
) -> Sweep:
    started = time.perf_counter()
    dataset = SweepDataset.make(out)
    account = Account(dataset, plan, retry_failed=retry_failed)

    def result() -> Sweep:
        return account.result(out, elapsed_s=time.perf_counter() - started)

    def tell() -> None:
        if progress:
            progress(account.run, account.expected_runs)

    sink = Sink(dataset, table_of)

    def keep(_: int, outcome: Outcome) -> None:
        sink.add(outcome)
        account.note(outcome)
        tell()

    try:
        with sink:
            for points in plan.rounds(account.goal_of):
                todo = account.begin(points)
                tell()
                files = {name for point in todo for name in point.files}
                gather(runner, run_point, todo, files=files, lost=lost_point, each=keep)
    except KeyboardInterrupt:
        account.recount(sink.kept)
        raise Interrupted(replace(result(), unfinished=account.without_result(sink.kept))) from None
    return result()
