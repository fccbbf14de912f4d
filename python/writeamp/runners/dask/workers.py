"""Workers of a Dask cluster: checks before work is sent, and the work itself."""

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

# A batch system may take longer to start workers: then the sweep is begun when they are there.
_PATIENCE_S = 30


def check(client: Client) -> None:
    """Refuse a cluster that cannot do our work, before it is asked to.

    Raises:
        WriteampError: it has no workers, or one without this version of writeamp.
    """
    address = client.scheduler_info()["address"]
    try:
        client.wait_for_workers(1, timeout=_PATIENCE_S)
    except builtins.TimeoutError:
        raise WriteampError(
            f"Dask's scheduler {address} had no worker for {_PATIENCE_S} s; start some, as with "
            f"dask worker {address}"
        ) from None
    found = client.run(version, _PACKAGE, on_error="return")
    for worker, answer in found.items():
        if isinstance(answer, PackageNotFoundError):
            raise WriteampError(
                f"Dask worker {worker} has no writeamp; install {_PACKAGE} {__version__} there"
            )
        if isinstance(answer, Exception):
            raise WriteampError(f"Dask worker {worker} does not answer: {answer}")
        if answer != __version__:
            raise WriteampError(
                f"Dask worker {worker} has writeamp {answer}, and here is {__version__}; use one "
                "version everywhere"
            )


def threads_of(client: Client) -> int:
    """Return the number of tasks that the present workers can run at the same time.

    Raises:
        CommClosedError: the scheduler does not answer.
    """
    try:
        return sum(client.nthreads().values())
    except OSError as error:  # of a connection that it would have to make anew
        raise CommClosedError(str(error)) from None


class _Cancelled:
    """Cancellation: whether the client has given up the task of this thread."""

    def __init__(self) -> None:
        """Keep the task of this thread."""
        self._worker = get_worker()
        self._key = self._worker.get_current_task()

    def is_set(self) -> bool:
        """Return whether it is so."""
        task = self._worker.state.tasks.get(self._key)
        return task is None or task.state == "cancelled"


@dataclass(frozen=True)
class Missing:
    """Result of a task that would read files which its worker cannot."""

    names: list[str]


def do(
    content: bytes, identities: Mapping[str, str], budget_s: float
) -> tuple[list[Any], float] | Missing:
    """Return the results of the first jobs, of at least one, and the seconds that they took.

    Args:
        content: the work and its jobs, pickled.
        identities: of the files that they read, by name.
        budget_s: no job is begun after so long.
    """
    missing = unreadable(identities)
    if missing:
        return Missing(missing)
    work, jobs = loads(content)
    started = time.perf_counter()
    results = []
    # A worker has a thread for each processor that it may use.
    with inputs.expecting(identities), heeding(_Cancelled()), using_processors(1):
        for job in jobs:
            results.append(work(job))
            if time.perf_counter() - started >= budget_s:
                break
    return results, time.perf_counter() - started
