"""Runner on a Dask cluster, on this machine or on several."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, Generic, NamedTuple

from distributed import Client, Future, KilledWorker
from distributed.client import ClosedClientError
from distributed.comm.core import CommClosedError
from distributed.protocol.pickle import dumps

from writeamp.errors import WriteampError
from writeamp.files.inputs import identity
from writeamp.runners.dask import workers
from writeamp.runners.dask.connection import Connect
from writeamp.runners.dask.sent_files import SentFiles
from writeamp.runners.runner import J, Lost, T

# Target duration of a task in seconds, long enough to hide Dask's overhead per task. Each longer
# job gets a task of its own.
_TASK_S = 0.1
_MOST_JOBS_OF_A_TASK = 256
# A task that takes longer than expected returns its unstarted jobs after this time in seconds.
_BUDGET_S = 5 * _TASK_S
# While no task finishes, check at this interval in seconds whether any worker is left.
_LOOK_S = 5
# Seconds to wait for a new worker if all are gone. A batch system may take this long to replace the
# last worker.
_PATIENCE_S = 300
# Number of tasks queued for each thread of a worker.
_TASKS_A_THREAD = 3

_SCHEDULER_LOST = (CancelledError, ClosedClientError, CommClosedError)


class Cluster:
    """Runner of jobs as Dask tasks; if a worker dies, another one runs its jobs.

    The connection is opened when the first jobs are run, and stays open until `close`.
    """

    def __init__(self, connect: Connect) -> None:
        """Set the function that opens the connection."""
        self._connect = connect
        self._open = ExitStack()
        self._client: Client | None = None
        self._files: SentFiles | None = None

    def close(self) -> None:
        """Disconnect from the cluster and end processes that were started for it."""
        self._client = None
        self._open.close()

    def results(
        self,
        work: Callable[[J], T],
        jobs: Sequence[J],
        *,
        lost: Lost[J, T] | None = None,
        files: Collection[str] = (),
    ) -> Iterator[tuple[int, T]]:
        """Yield the index of each job once, with its result, in order of completion."""
        if not jobs:
            return
        try:
            client, sent = self._connected()
            identities = {name: identity(name) for name in files}
            yield from _Running(client, work, jobs, lost, identities, sent).results()
        except _SCHEDULER_LOST:
            raise WriteampError(
                "the connection to Dask's scheduler was lost; with --keep, finished runs are "
                "stored, and the same command continues"
            ) from None

    def _connected(self) -> tuple[Client, SentFiles]:
        """Return a client of a cluster that was checked for our jobs, and the files sent to it."""
        if self._client is None or self._files is None:
            self._client = self._open.enter_context(self._connect())
            workers.check(self._client)
            self._files = self._open.enter_context(closing(SentFiles(self._client)))
        return self._client, self._files


class _Task(NamedTuple):
    """Task: indices of its jobs, and the files that had been sent when the task was made."""

    places: tuple[int, ...]
    sent: frozenset[str]


@dataclass
class _Running(Generic[J, T]):
    """State of the jobs of one call: each job waits, is in a submitted task, or is finished."""

    client: Client
    work: Callable[[J], T]
    jobs: Sequence[J]
    lost: Lost[J, T] | None
    identities: Mapping[str, str]
    sent: SentFiles
    waiting: list[int] = field(init=False)
    suspects: set[int] = field(default_factory=set)
    accused: dict[int, str] = field(default_factory=dict)
    tasks: dict[Future[Any], _Task] = field(default_factory=dict)
    finished: SimpleQueue[Future[Any]] = field(default_factory=SimpleQueue)
    done: int = 0
    busy_s: float = 0.0

    def __post_init__(self) -> None:
        self.waiting = list(reversed(range(len(self.jobs))))

    def results(self) -> Iterator[tuple[int, T]]:
        try:
            yield from self._run()
            yield from self._judge(tuple(self.accused))
        finally:
            with suppress(Exception):  # the scheduler may be gone
                self.client.cancel(list(self.tasks), force=True)

    def _run(self) -> Iterator[tuple[int, T]]:
        """Yield results until no job is waiting."""
        self._submit()
        while self.tasks:
            future = self._next_finished()
            task = self.tasks.pop(future)
            yield from self._outcome(future, task.places, task.sent)
            self._submit()

    def _judge(self, accused: Collection[int]) -> Iterator[tuple[int, T]]:
        """Yield the results of jobs whose worker died, perhaps because of another job.

        Dask attributes a worker's death to all tasks of the worker. If there are several such jobs,
        each is run again while no other job runs. A single job is taken as the cause, and its
        result is that of `lost`.
        """
        for index in accused:
            if len(accused) > 1:
                del self.accused[index]
                self.waiting.append(index)
                yield from self._run()
            if index in self.accused and self.lost is not None:
                yield index, self.lost(self.jobs[index], self.accused[index])

    def _submit(self) -> None:
        """Make tasks of waiting jobs, until each thread of the cluster has enough tasks queued."""
        limit = _TASKS_A_THREAD * max(1, workers.threads_of(self.client))
        while self.waiting and len(self.tasks) < limit:
            places = self._next(-(-len(self.waiting) // limit))
            jobs = [self.jobs[index] for index in places]
            # A task that cannot be unpickled ends its worker. If bytes are passed instead,
            # unpickling them gives an error that can be reported.
            content = dumps((self.work, jobs))
            future = self.client.submit(workers.do, content, self.identities, _BUDGET_S, pure=False)
            self.tasks[future] = _Task(places, self.sent.identities)
            future.add_done_callback(self.finished.put)

    def _next_finished(self) -> Future[Any]:
        """Wait until a task ends, and return it.

        Raises:
            WriteampError: there has been no worker for some time.
        """
        without_s = 0.0
        while True:
            try:
                return self.finished.get(timeout=_LOOK_S)
            except Empty:
                without_s = 0.0 if workers.threads_of(self.client) else without_s + _LOOK_S
            if without_s >= _PATIENCE_S:
                raise WriteampError(
                    f"the last Dask worker is gone, and no other came within {_PATIENCE_S} s; with "
                    "--keep, finished runs are stored, and the same command continues"
                )

    def _next(self, share: int) -> tuple[int, ...]:
        """Take the jobs of one task: a job suspected of ending workers, or some waiting jobs."""
        pace_s = self.busy_s / self.done if self.done else _TASK_S
        size = min(share, _MOST_JOBS_OF_A_TASK, max(1, int(_TASK_S / max(pace_s, 1e-9))))
        taken = [self.waiting.pop()]
        while len(taken) < size and self.suspects.isdisjoint((taken[0], self.waiting[-1])):
            taken.append(self.waiting.pop())
        return tuple(taken)

    def _outcome(
        self, future: Future[Any], places: tuple[int, ...], sent: frozenset[str]
    ) -> Iterator[tuple[int, T]]:
        """Yield the results of a task; jobs without a result wait again."""
        try:
            result = _fetched(future)
        except KilledWorker as error:
            if len(places) > 1:  # one job may be the cause, so each is run again alone
                self.suspects.update(places)
                self.waiting.extend(reversed(places))
            elif self.lost is None:
                raise WriteampError(_killed(error)) from None
            else:
                self.accused[places[0]] = _killed(error)
            return
        except ModuleNotFoundError as error:
            raise WriteampError(f"a Dask worker cannot run the job: {error}") from None
        if result is None:
            self.waiting.extend(reversed(places))
            return
        if isinstance(result, workers.Missing):
            self._send(result.names, sent)
            self.waiting.extend(reversed(places))
            return
        results, elapsed_s = result
        self.done += len(results)
        self.busy_s += elapsed_s
        self.waiting.extend(reversed(places[len(results) :]))
        yield from zip(places, results, strict=False)

    def _send(self, names: Sequence[str], sent_with_task: frozenset[str]) -> None:
        """Send the files that a task lacked to the workers.

        Raises:
            WriteampError: a file had been sent before the task was made, so sending did not help.
        """
        for name in names:
            if self.identities[name] in sent_with_task:
                raise WriteampError(f"a Dask worker cannot read {name}, though it was sent there")
            if self.identities[name] not in self.sent.identities:
                self.sent.send(name, self.identities[name])


def _fetched(future: Future[Any]) -> Any:
    """Return the result of a task, or None if it was lost together with its worker."""
    while True:
        try:
            return future.result(timeout=_LOOK_S)
        except TimeoutError:
            if future.status == "error":  # the job itself raised TimeoutError
                raise
            if future.status != "finished":
                return None


def _killed(error: KilledWorker) -> str:
    return (
        f"{error.allowed_failures + 1} Dask workers died while they ran the job, the last at "
        f"{error.last_worker.address}; the job may need more memory than the workers have"
    )
