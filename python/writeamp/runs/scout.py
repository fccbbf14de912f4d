"""Look-ahead run: a longer run over the same trace, to see whether a drive's state lasts."""

from __future__ import annotations

from dataclasses import replace

from writeamp.runs.one_run import OneRun
from writeamp.runs.repeating import LOOK_AHEAD
from writeamp.statistics.steady import SteadyState


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
