"""Runs of one plan that differ by their seed and go ahead together, each on a thread of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event
from typing import Literal, TypeVar

import numpy as np

from writeamp.devices.device import Device
from writeamp.errors import WriteampError
from writeamp.experiments.one_run import OneRun, Progress
from writeamp.experiments.plan import Plan
from writeamp.parallel import useful_threads
from writeamp.statistics.judging import judge
from writeamp.statistics.steady import SteadyState

_T = TypeVar("_T")


class Team:
    """The run that was asked for, and its replicas, which only judge it."""

    def __init__(self, plan: Plan, drive: Device, runs: int, progress: Progress | None) -> None:
        """Build and fill the drives of so many runs."""
        self.plan = plan
        self.drive = drive
        self._stopped = Event()
        first = partial(OneRun, plan, drive, plan.seed, progress)
        others = [
            partial(OneRun, plan, drive, _seed(plan.seed, number), self._stop_if_asked)
            for number in range(1, runs)
        ]
        self.first, *self.others = self._together(first, others)

    def start_series(self, interval_pages: int) -> None:
        """Sample the counters of every run every so many host pages from here on."""
        for one in (self.first, *self.others):
            one.start_series(interval_pages)

    def advance_to(self, pages: int, expected_pages: int) -> None:
        """Let the host of every run have written so many pages, of `expected_pages` in all."""
        first, *others = (
            partial(one.advance_to, pages, expected_pages) for one in (self.first, *self.others)
        )
        self._together(first, others)

    def judge(self, warmup: int | Literal["auto"] = "auto") -> SteadyState:
        """Judge the first run by all of them, the last of which has perhaps gone on."""
        intervals = [one.intervals() for one in (self.first, *self.others)]
        steps = intervals[0][0].size
        cut = [(host[:steps], flash[:steps]) for host, flash in intervals]
        goes_on = intervals[-1][0].size > steps
        return judge(
            cut,
            self.first.schedule(),
            warmup=warmup,
            longer=intervals[-1] if goes_on else None,
        )

    def look_ahead(self, pages: int) -> None:
        """Let the last of the replicas, if there are any, go on until so many pages."""
        if self.others:
            self._together(lambda: None, [partial(self.others[-1].advance_to, pages, pages)])

    def _together(self, first: Callable[[], _T], others: Sequence[Callable[[], _T]]) -> list[_T]:
        """Do all at the same time, the first on this thread, which Ctrl-C reaches."""
        if not others:
            return [first()]
        with ThreadPoolExecutor(useful_threads(None, len(others))) as pool:
            begun = [pool.submit(other) for other in others]
            try:
                return [first(), *(other.result() for other in begun)]
            except BaseException:  # the pool would wait for the others to end
                self._stopped.set()
                raise

    def _stop_if_asked(self, _done: int, _expected: int) -> None:
        if self._stopped.is_set():
            raise WriteampError("cancelled")


def _seed(seed: int, number: int) -> int:
    """Return the seed of a replica, far from those that a user counts up."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)[0])
