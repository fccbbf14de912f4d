"""Runs of one plan with different seeds, which advance together.

Replicas only affect the verdict on the requested run: they widen its interval or mark it as not
steady.
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
    """Requested run together with its replicas, which have other seeds.

    Replicas may be shorter than the requested run. The last replica, called the scout here, may be
    longer.
    """

    def __init__(self, plan: Plan, drive: Device, runs: int, progress: Progress | None) -> None:
        """Build and fill the drives of all `runs` runs."""
        self.plan = plan
        self.drive = drive

        def begin(number: int) -> OneRun:
            if number == 0:
                return OneRun(plan, drive, plan.seed, progress)
            return OneRun(plan, drive, _seed(plan.seed, number), None)

        self.first, *self.replicas = _together(begin, range(runs))

    def start_series(self, interval_pages: int) -> None:
        """Sample the counters of every run every `interval_pages` host pages from now on."""
        for run in (self.first, *self.replicas):
            run.start_series(interval_pages)

    def advance_to(
        self, pages: int, expected_pages: int, replica_pages: int, scout_pages: int
    ) -> None:
        """Advance the requested run to `pages` host pages, and its replicas to their own numbers.

        Args:
            pages: host pages of the requested run.
            expected_pages: expected total, for progress.
            replica_pages: host pages of all replicas except the last.
            scout_pages: host pages of the last replica.
        """
        targets = [pages, *(replica_pages for _ in self.replicas[:-1])]
        targets += [scout_pages] if self.replicas else []

        def advance(index: int) -> None:
            (self.first, *self.replicas)[index].advance_to(targets[index], expected_pages)

        # The longest run starts first, so that it does not delay the end.
        _together(advance, sorted(range(len(targets)), key=targets.__getitem__, reverse=True))

    def judge(self, warmup: int | Literal["auto"] = "auto") -> SteadyState:
        """Judge the requested run by the results of all runs."""
        intervals = [run.intervals() for run in (self.first, *self.replicas)]
        steps = intervals[0][0].size
        is_ahead = intervals[-1][0].size > steps
        return judge(
            [(host[:steps], flash[:steps]) for host, flash in intervals],
            self.first.schedule(),
            warmup=warmup,
            longer=intervals[-1] if is_ahead else None,
        )


def _together(work: Callable[[int], _T], numbers: Sequence[int]) -> list[_T]:
    """Return `work(number)` for each of the numbers, computed by threads in parallel."""
    return gather_whole(local_runner(len(numbers)), work, numbers)


def _seed(seed: int, number: int) -> int:
    """Return the seed of a replica; it is unlike seeds that users choose, such as 1, 2, 3."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)[0])


class Scout:
    """Look-ahead run: replays a trace for more passes than the run that is judged.

    A scheme that stores a history of pages may stay in a temporary state for many passes, while its
    counters fill up or its thresholds adapt. The judged run may end before that state does.
    """

    def __init__(self, judged: OneRun) -> None:
        """Set the judged run; the look-ahead run is built when it is needed."""
        self._judged = judged
        self._run: OneRun | None = None

    def confirmed(self, steady: SteadyState, pass_pages: int, passes: int) -> SteadyState:
        """Return the verdict, but not steady if a run `LOOK_AHEAD` times as long contradicts it.

        Args:
            steady: verdict so far.
            pass_pages: host pages written in a pass.
            passes: number of passes of the judged run.
        """
        if not steady.steady:
            return steady
        # Both runs are equal up to the current end of the judged run, so the judged run is copied
        # and continued.
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
            reason=f"drifting: {passes} passes predict a WA of {steady.ci_low:.4g} to "
            f"{steady.ci_high:.4g}, but the second half of {ahead} passes gives {wa:.4g}",
        )
