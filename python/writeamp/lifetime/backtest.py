"""Backtest of a history: what its beginnings would have forecast of its last step."""

from __future__ import annotations

from collections.abc import Sequence

from writeamp.errors import WriteampError
from writeamp.lifetime.rates import Step, rate_of, steps_of
from writeamp.lifetime.result import Backtest
from writeamp.measure.counters.facts import Facts

# Each is a forecast from all readings up to one of them, spread over the history.
_MOST_FORECASTS = 50
_FEWEST_READINGS = 2


def backtest_of(facts: Sequence[Facts]) -> Backtest | None:
    """Return how often forecasts of the last step of percentage used held; None without steps.

    A forecast is made from all readings up to one of them, by the rule that forecasts the end of
    the rated life, and holds if the step came within its interval.

    Args:
        facts: of one drive in order of time, each with a percentage used.
    """
    steps = steps_of(facts)
    if not steps:
        return None
    step = steps[-1]
    known = [at for at, one in enumerate(facts, 1) if (one.percentage_used or 0) < step.percent]
    known = [at for at in known if at >= _FEWEST_READINGS]
    stride = -(-len(known) // _MOST_FORECASTS) or 1
    held = [_holds(facts[:at], step) for at in known[::stride]]
    said = [one for one in held if one is not None]
    return Backtest(step.percent, len(said), sum(said)) if said else None


def _holds(facts: Sequence[Facts], step: Step) -> bool | None:
    """Return whether a step came when it was forecast; None if nothing was."""
    try:
        rate = rate_of(facts)
    except WriteampError:
        return None
    now, percent = facts[-1].taken_at or 0.0, facts[-1].percentage_used or 0.0
    if rate.high <= 0:
        return None
    earliest = now + max(step.percent - (percent + 1), 0.0) / rate.high
    if rate.low <= 0:
        return earliest <= step.before_s
    latest = now + (step.percent - max(percent - 1, 0.0)) / rate.low
    return earliest <= step.before_s and step.after_s <= latest
