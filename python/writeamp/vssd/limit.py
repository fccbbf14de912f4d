"""Verdict on a limit of WA (`serve --max-wa`): whether a virtual drive's run met it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from writeamp.statistics.steady import SteadyState
from writeamp.vssd.notes import FEWEST_ERASES
from writeamp.vssd.result import ServeResult

_MORE = "write more (a longer --run), or use a smaller drive (--size)"


@dataclass(frozen=True)
class LimitVerdict:
    """Limit of WA, and whether a run met it; `holds` is None if the run cannot show it."""

    max_wa: float
    holds: bool | None
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON types."""
        return asdict(self)


def verdict_of(result: ServeResult, max_wa: float) -> LimitVerdict:
    """Compare the WA of a run with a limit.

    WA of a run that never collected garbage is 1 for any program, and WA that is not steady may be
    higher in a longer run. Both show nothing, unless WA is already above the limit.
    """
    if not result.host_pages:
        return LimitVerdict(
            max_wa, None, "the host wrote nothing, so WA cannot be compared with --max-wa"
        )
    if result.exceeds(max_wa):
        return LimitVerdict(max_wa, False, _compared(result.wa, result.ci, "above", max_wa))
    fault = _fault(result)
    if fault is not None:
        return LimitVerdict(
            max_wa, None, f"WA {result.wa:.4g} cannot be compared with --max-wa {max_wa:g}: {fault}"
        )
    settled = result.settled_state
    assert settled is not None, "a result with host pages has samples"
    is_below = settled.wa <= max_wa
    words = _compared(
        settled.wa,
        (max(settled.ci_low, 1.0), settled.ci_high),
        "below" if is_below else "above",
        max_wa,
        after=_warm_up(settled, result.host_pages),
    )
    return LimitVerdict(max_wa, is_below, words)


def _fault(result: ServeResult) -> str | None:
    """Return why the WA of a run shows nothing, and what to do; None if it is steady."""
    if not result.has_collected:
        unaged = ", or leave out --precondition" if result.precondition in {"none", "full"} else ""
        return f"nothing was collected in this run; {_MORE}{unaged}"
    if result.erases < FEWEST_ERASES:
        return f"only {result.erases} blocks were erased, and {FEWEST_ERASES} are needed; {_MORE}"
    settled = result.settled_state
    if settled is None or not settled.steady:
        reason = "too few writes" if settled is None else settled.reason
        return f"WA is not steady ({reason}); {_MORE}"
    return None


def _warm_up(settled: SteadyState, host_pages: int) -> str:
    if not settled.warmup_pages:
        return ""
    return f" after the first {settled.warmup_pages / host_pages:.0%} of the writes"


def _compared(
    wa: float, ci: tuple[float, float], where: str, max_wa: float, *, after: str = ""
) -> str:
    interval = "" if math.isnan(ci[0]) else f" (95% CI {ci[0]:.4g} to {ci[1]:.4g})"
    return f"WA {wa:.4g}{interval}{after} is {where} --max-wa {max_wa:g}"
