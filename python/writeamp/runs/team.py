"""Runs of one plan that differ by their seed and go ahead together.

The replicas widen the interval or refuse the word steady, and change no counter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, TypeVar

import numpy as np

from writeamp.devices.device import Device
from writeamp.runners import Progress, gather_whole, local_runner
from writeamp.runs.one_run import OneRun
from writeamp.runs.plan import LOOK_AHEAD, Plan
from writeamp.statistics.judging import judge
from writeamp.statistics.steady import SteadyState

_T = TypeVar("_T")


class Team:
    """Run that was asked for, with its replicas, which only judge it.

    The replicas may be behind it, and the last of them, the scout, ahead.
    """

    def __init__(self, plan: Plan, drive: Device, runs: int, progress: Progress | None) -> None:
        """Build and fill the drives of so many runs."""
        self.plan = plan
        self.drive = drive

        def begin(number: int) -> OneRun:
            if number == 0:
                return OneRun(plan, drive, plan.seed, progress)
            return OneRun(plan, drive, _seed(plan.seed, number), None)

        self.first, *self.replicas = _together(begin, range(runs))

    def start_series(self, interval_pages: int) -> None:
        """Sample the counters of every run every so many host pages from here on."""
        for one in (self.first, *self.replicas):
            one.start_series(interval_pages)

    def advance_to(
        self, pages: int, expected_pages: int, replica_pages: int, scout_pages: int
    ) -> None:
        """Let the host have written so many pages, of `expected_pages` in all.

        Args:
            pages: of the run that was asked for.
            expected_pages: what its progress is told.
            replica_pages: of its replicas.
            scout_pages: of the scout.
        """
        targets = [pages, *(replica_pages for _ in self.replicas[:-1])]
        targets += [scout_pages] if self.replicas else []

        def advance(at: int) -> None:
            (self.first, *self.replicas)[at].advance_to(targets[at], expected_pages)

        # The longest way is not begun last.
        _together(advance, sorted(range(len(targets)), key=targets.__getitem__, reverse=True))

    def judge(self, warmup: int | Literal["auto"] = "auto") -> SteadyState:
        """Judge the first run by all of them."""
        intervals = [one.intervals() for one in (self.first, *self.replicas)]
        steps = intervals[0][0].size
        is_ahead = intervals[-1][0].size > steps
        return judge(
            [(host[:steps], flash[:steps]) for host, flash in intervals],
            self.first.schedule(),
            warmup=warmup,
            longer=intervals[-1] if is_ahead else None,
        )


def _together(work: Callable[[int], _T], numbers: Sequence[int]) -> list[_T]:
    """Return the results of a function of each number, in threads: the runs share memory."""
    return gather_whole(local_runner(len(numbers)), work, numbers)


def _seed(seed: int, number: int) -> int:
    """Return the seed of a replica, far from those that a user counts up."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)[0])


class Scout:
    """Drive that replays a trace more often than the one that is judged.

    A scheme that remembers pages may stay for many passes in a state that it then leaves: its
    counters fill up, its thresholds go on moving. Nothing within the run tells.
    """

    def __init__(self, judged: OneRun) -> None:
        """Build nothing yet for the run that is judged."""
        self._judged = judged
        self._run: OneRun | None = None

    def held_to(self, steady: SteadyState, pass_pages: int, passes: int) -> SteadyState:
        """Refuse a state that a run `LOOK_AHEAD` times as long does not have in its second half.

        Args:
            steady: what was found.
            pass_pages: host pages written in a pass.
            passes: the passes in which it was, all that the judged run has played.
        """
        if not steady.steady:
            return steady
        # Both are one run up to where the judged one is, which need not be played twice.
        if self._run is None or self._run.done_pages < self._judged.done_pages:
            self._run = self._judged.continued()
        ahead = LOOK_AHEAD * passes
        self._run.advance_to(ahead * pass_pages, ahead * pass_pages)
        later = self._run.passes.flash_pages[ahead // 2 : ahead]
        wa = sum(later) / (len(later) * pass_pages)
        if steady.ci_low <= wa <= steady.ci_high:
            return steady
        return replace(
            steady,
            steady=False,
            reason=f"drifting: {passes} passes promise a WA of {steady.ci_low:.4g} to "
            f"{steady.ci_high:.4g}, and of {ahead} the second half finds {wa:.4g}",
        )
