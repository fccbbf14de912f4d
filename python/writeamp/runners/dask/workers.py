"""Workers of a Dask cluster: checks before jobs are sent, and the execution of jobs."""

from __future__ import annotations

import builtins
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from distributed import Client, get_worker
from distributed.comm.core import CommClosedError
from distributed.protocol.pickle import loads

from writeamp._engine import __version__
from writeamp.errors import WriteampError
from writeamp.files import inputs
from writeamp.runners.dask.sent_files import unreadable
from writeamp.runners.processor_share import using_processors
from writeamp.runners.stopping import heeding

_PACKAGE = "writeamp"

# Seconds to wait for a worker before an error is raised. If a batch system takes longer, the user
# starts the sweep later.
_PATIENCE_S = 30


def check(client: Client) -> None:
    """Reject a cluster that cannot run our jobs, before any is sent.

    Raises:
        WriteampError: the cluster has no workers, or a worker has another version of writeamp or
            none.
    """
    address = client.scheduler_info()["address"]
    try:
        client.wait_for_workers(1, timeout=_PATIENCE_S)
    except builtins.TimeoutError:
        raise WriteampError(
            f"Dask's scheduler {address} had no worker for {_PATIENCE_S} s; start workers, for "
            f"example with: dask worker {address}"
        ) from None
    versions = client.run(version, _PACKAGE, on_error="return")
    for worker, answer in versions.items():
        if isinstance(answer, PackageNotFoundError):
            raise WriteampError(
                f"Dask worker {worker} has no writeamp; install {_PACKAGE} {__version__} there"
            )
        if isinstance(answer, Exception):
            raise WriteampError(f"Dask worker {worker} does not answer: {answer}")
        if answer != __version__:
            raise WriteampError(
                f"Dask worker {worker} has writeamp {answer}, but this process has {__version__}; "
                "use one version everywhere"
            )


def threads_of(client: Client) -> int:
    """Return the number of tasks that the connected workers can run at the same time.

    Raises:
        CommClosedError: the scheduler does not answer.
    """
    try:
        return sum(client.nthreads().values())
    except OSError as error:  # the client lost its connection and could not reconnect
        raise CommClosedError(str(error)) from None


class _Cancelled:
    """Cancellation of the current task: whether the client has cancelled it."""

    def __init__(self) -> None:
        """Store the task that this thread runs."""
        self._worker = get_worker()
        self._key = self._worker.get_current_task()

    def is_set(self) -> bool:
        """Return whether the task is cancelled."""
        task = self._worker.state.tasks.get(self._key)
        return task is None or task.state == "cancelled"


@dataclass(frozen=True)
class Missing:
    """Result of a task that needs files which its worker cannot read: their names."""

    names: list[str]


def do(
    content: bytes, identities: Mapping[str, str], budget_s: float
) -> tuple[list[Any], float] | Missing:
    """Run jobs within a time budget; return their results and the elapsed seconds.

    At least one job is run. Jobs run in order, so the results are those of the first jobs. If the
    worker cannot read some of the files, runs no job and returns `Missing`.

    Args:
        content: pickled pair of the function `work` and its jobs.
        identities: identities of the files that the jobs read, by name.
        budget_s: no job is started after this many seconds.
    """
    missing = unreadable(identities)
    if missing:
        return Missing(missing)
    work, jobs = loads(content)
    started = time.perf_counter()
    results = []
    # A worker has a thread for each processor that it may use, so each job may use one processor.
    with inputs.expecting(identities), heeding(_Cancelled()), using_processors(1):
        for job in jobs:
            results.append(work(job))
            if time.perf_counter() - started >= budget_s:
                break
    return results, time.perf_counter() - started
