"""Verdict on a limit of WA (`serve --max-wa`): whether a virtual drive's run met it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from writeamp.results.numbers import json_number
from writeamp.vssd.notes import FEWEST_ERASES, after_warm_up
from writeamp.vssd.result import ServeResult

_MORE = "write more (a longer --run), or use a smaller drive (--size)"


@dataclass(frozen=True)
class LimitVerdict:
    """Limit of WA, and whether a run met it; `holds` is None if the run cannot show it.

    `wa` is the WA that was compared: that after the warm-up if it is steady, otherwise that of the
    whole run; NaN without writes. `warmup_share` is the part of the writes before it.
    """

    max_wa: float
    holds: bool | None
    sentence: str
    wa: float
    warmup_share: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON types."""
        return asdict(self) | {"wa": json_number(self.wa)}


def verdict_of(result: ServeResult, max_wa: float) -> LimitVerdict:
    """Compare the WA of a run with a limit: its steady WA after the warm-up if there is one.

    WA of a run that never collected garbage is 1 for any program, and WA that is not steady may be
    higher in a longer run. Both show nothing, unless WA is already above the limit.
    """
    if not result.host_pages:
        words = "the host wrote nothing, so WA cannot be compared with --max-wa"
        return LimitVerdict(max_wa, None, words, result.wa)
    settled, fault = result.settled_state, _fault(result)
    if fault is None and settled is not None:
        is_below = settled.wa <= max_wa
        ci = (max(settled.ci_low, 1.0), settled.ci_high)
        state = f", steady{after_warm_up(settled, result.host_pages)},"
        words = _compared(settled.wa, ci, state, max_wa, is_below=is_below)
        share = settled.warmup_pages / result.host_pages
        return LimitVerdict(max_wa, is_below, words, settled.wa, share)
    if result.exceeds(max_wa):
        words = _compared(result.wa, result.ci, ", not steady,", max_wa, is_below=False)
        return LimitVerdict(max_wa, False, words, result.wa)
    words = f"WA {result.wa:.4g} cannot be compared with --max-wa {max_wa:g}: {fault}"
    return LimitVerdict(max_wa, None, words, result.wa)


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


def _compared(
    wa: float, ci: tuple[float, float], state: str, max_wa: float, *, is_below: bool
) -> str:
    interval = "" if math.isnan(ci[0]) else f" (95% CI {ci[0]:.4g} to {ci[1]:.4g})"
    where = "below" if is_below else "above"
    return f"WA {wa:.4g}{interval}{state} is {where} --max-wa {max_wa:g}"
