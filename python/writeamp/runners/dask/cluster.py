"""Runner on a Dask cluster, of this machine or of many."""

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

# A task has jobs for so long, so that what Dask does for each task counts for little; jobs that
# take longer are tasks of their own.
_TASK_S = 0.1
_MOST_JOBS_OF_A_TASK = 256
# A task whose jobs take longer than others did leaves those that it has not begun after so long.
_BUDGET_S = 5 * _TASK_S
# Between two looks whether there are workers at all, while nothing comes.
_LOOK_S = 5
# A batch system may take so long to replace the last worker.
_PATIENCE_S = 300
# So many tasks wait for each thread of a worker.
_TASKS_A_THREAD = 3

_SCHEDULER_LOST = (CancelledError, ClosedClientError, CommClosedError)


class Cluster:
    """Runs jobs as tasks of Dask; those of a worker that dies are run by another one.

    It connects when there is something to run, and stays connected until `close`.
    """

    def __init__(self, connect: Connect) -> None:
        """Set how to connect."""
        self._connect = connect
        self._open = ExitStack()
        self._client: Client | None = None
        self._files: SentFiles | None = None

    def close(self) -> None:
        """Leave the cluster; processes that were started for it end."""
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
        """Give the index of each job once, with its result, as it comes."""
        if not jobs:
            return
        try:
            client, sent = self._connected()
            identities = {name: identity(name) for name in files}
            yield from _Running(client, work, jobs, lost, identities, sent).results()
        except _SCHEDULER_LOST:
            raise WriteampError(
                "the connection to Dask's scheduler was lost; what had come by then is kept"
            ) from None

    def _connected(self) -> tuple[Client, SentFiles]:
        """Return a client of a cluster that can do our work, and the files that it was sent."""
        if self._client is None or self._files is None:
            self._client = self._open.enter_context(self._connect())
            workers.check(self._client)
            self._files = self._open.enter_context(closing(SentFiles(self._client)))
        return self._client, self._files


class _Task(NamedTuple):
    """The indices of the jobs of a task, and what files had been sent when it was made."""

    places: tuple[int, ...]
    sent: frozenset[str]


@dataclass
class _Running(Generic[J, T]):
    """Jobs in tasks: some are waiting here, some are tasks, the others have results."""

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
        """Give the results of what waits, until nothing does."""
        self._submit()
        while self.tasks:
            future = self._next_finished()
            task = self.tasks.pop(future)
            yield from self._outcome(future, task.places, task.sent)
            self._submit()

    def _judge(self, accused: Collection[int]) -> Iterator[tuple[int, T]]:
        """Give the results of jobs whose workers died, where others may have been the cause.

        Dask counts a death against all that a worker had. So each of several is run again with
        nothing beside it; one alone is taken to be the cause.
        """
        for at in accused:
            if len(accused) > 1:
                del self.accused[at]
                self.waiting.append(at)
                yield from self._run()
            if at in self.accused and self.lost is not None:
                yield at, self.lost(self.jobs[at], self.accused[at])

    def _submit(self) -> None:
        """Make tasks of waiting jobs until every thread of the cluster has enough of them."""
        most = _TASKS_A_THREAD * max(1, workers.threads_of(self.client))
        while self.waiting and len(self.tasks) < most:
            places = self._next(-(-len(self.waiting) // most))
            jobs = [self.jobs[at] for at in places]
            # A worker that cannot read a task ends; what is in bytes gives an error instead.
            content = dumps((self.work, jobs))
            future = self.client.submit(workers.do, content, self.identities, _BUDGET_S, pure=False)
            self.tasks[future] = _Task(places, self.sent.identities)
            future.add_done_callback(self.finished.put)

    def _next_finished(self) -> Future[Any]:
        """Wait for a task to end, as long as there are workers, or others may come."""
        without_s = 0.0
        while True:
            try:
                return self.finished.get(timeout=_LOOK_S)
            except Empty:
                without_s = 0.0 if workers.threads_of(self.client) else without_s + _LOOK_S
            if without_s >= _PATIENCE_S:
                raise WriteampError(
                    f"the last Dask worker is gone, and none came for {_PATIENCE_S} s; what had "
                    "come by then is kept"
                )

    def _next(self, share: int) -> tuple[int, ...]:
        """Take the jobs of one task: a suspect is alone, others are at most a share of the rest."""
        pace_s = self.busy_s / self.done if self.done else _TASK_S
        size = min(share, _MOST_JOBS_OF_A_TASK, max(1, int(_TASK_S / max(pace_s, 1e-9))))
        taken = [self.waiting.pop()]
        while len(taken) < size and self.suspects.isdisjoint((taken[0], self.waiting[-1])):
            taken.append(self.waiting.pop())
        return tuple(taken)

    def _outcome(
        self, future: Future[Any], places: tuple[int, ...], sent: frozenset[str]
    ) -> Iterator[tuple[int, T]]:
        """Give the results of a task; jobs that have none wait again."""
        try:
            result = _fetched(future)
        except KilledWorker as error:
            if len(places) > 1:  # one of them ends processes, the others are to have results
                self.suspects.update(places)
                self.waiting.extend(reversed(places))
            elif self.lost is None:
                raise WriteampError(_killed(error)) from None
            else:
                self.accused[places[0]] = _killed(error)
            return
        except ModuleNotFoundError as error:
            raise WriteampError(f"a Dask worker cannot do it: {error}") from None
        if result is None:
            self.waiting.extend(reversed(places))
            return
        if isinstance(result, workers.Missing):
            self._send(result.names, sent)
            self.waiting.extend(reversed(places))
            return
        found, elapsed_s = result
        self.done += len(found)
        self.busy_s += elapsed_s
        self.waiting.extend(reversed(places[len(found) :]))
        yield from zip(places, found, strict=False)

    def _send(self, names: Sequence[str], before: frozenset[str]) -> None:
        """Send files that a task missed; `before` it those with some identities were sent."""
        for name in names:
            if self.identities[name] in before:
                raise WriteampError(f"a Dask worker cannot read {name}, though it was sent there")
            if self.identities[name] not in self.sent.identities:
                self.sent.send(name, self.identities[name])


def _fetched(future: Future[Any]) -> Any:
    """Return the result of a task; None if the worker that had it is gone with it."""
    while True:
        try:
            return future.result(timeout=_LOOK_S)
        except TimeoutError:
            if future.status == "error":  # it is the job's own
                raise
            if future.status != "finished":
                return None


def _killed(error: KilledWorker) -> str:
    return (
        f"{error.allowed_failures + 1} Dask workers died while they ran it, the last of them "
        f"{error.last_worker.address}; perhaps it needs more memory than they have"
    )
