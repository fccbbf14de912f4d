"""Work on several threads, which all end soon after an error, Ctrl-C, or a wish to stop.

Long calls of the engine look for such a wish by themselves; long loops of Python call
`stop_if_asked`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from threading import Event, local
from typing import Any, TypeVar

from writeamp.errors import Interrupted

_T = TypeVar("_T")

# Between two looks for the wish to stop of who started the work that itself waits for threads.
_POLL_S = 0.1

# How long threads that were told to stop are waited for: much longer than they should take.
_PATIENCE_S = 0.5

_this_thread = local()


class Stopped(BaseException):
    """Nobody wants any more what this thread works on."""


def stop_if_asked() -> None:
    """End the work of this thread if who started it has given it up.

    Raises:
        Stopped: so it is.
    """
    stop: Event | None = getattr(_this_thread, "stop", None)
    if stop is not None and stop.is_set():
        raise Stopped


def processors() -> int:
    """Return how many threads can run at the same time."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def useful_threads(asked: int | None, works: int) -> int:
    """Return how many threads to start: as many as asked for, if that many have something to do."""
    return max(1, min(works, processors(), works if asked is None else asked))


def run_all(
    work: Callable[..., _T],
    arguments: Sequence[tuple[Any, ...]],
    *,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[_T]:
    """Return `work(*one)` for every `one` of the arguments, several at a time, in their order.

    Args:
        work: what to do.
        arguments: what to do it with.
        threads: how many at a time; by default, and at most, one for each processor.
        progress: called on this thread with how many are done, and how many there are.

    Raises:
        Interrupted: Ctrl-C; `finished` maps the index of each argument that was done to its result.
        BaseException: the error of the first one that failed.
    """
    stop = Event()

    def on_thread(one: tuple[Any, ...]) -> _T:
        _this_thread.stop = stop
        stop_if_asked()
        return work(*one)

    pool = ThreadPoolExecutor(useful_threads(threads, len(arguments)))
    running = [pool.submit(on_thread, one) for one in arguments]
    try:
        _wait_for(running, progress)
        return [one.result() for one in running]
    except KeyboardInterrupt:
        done = {at: one.result() for at, one in enumerate(running) if _is_done(one)}
        raise Interrupted(done) from None
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)
        wait([one for one in running if one.running()], timeout=_PATIENCE_S)


def run_whole(
    work: Callable[..., _T], arguments: Sequence[tuple[Any, ...]], *, threads: int | None = None
) -> list[_T]:
    """Return what `run_all` does, of which a part is no result of anybody's.

    Raises:
        KeyboardInterrupt: Ctrl-C, whatever was done by then.
        BaseException: the error of the first one that failed.
    """
    try:
        return run_all(work, arguments, threads=threads)
    except Interrupted:
        raise KeyboardInterrupt from None


def _wait_for(running: Sequence[Future[_T]], progress: Callable[[int, int], None] | None) -> None:
    left = set(running)
    while left:
        stop_if_asked()
        done, left = wait(left, timeout=_POLL_S, return_when=FIRST_COMPLETED)
        for one in running:
            if one in done:
                one.result()  # or the error of the first that failed
        if progress and done:
            progress(len(running) - len(left), len(running))


def _is_done(one: Future[_T]) -> bool:
    return one.done() and not one.cancelled() and one.exception() is None
