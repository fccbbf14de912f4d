"""Years until drives are worn out, at the mean rate of their life so far."""

from __future__ import annotations

from writeamp.drives.counters.facts import Facts

_HOURS_A_YEAR = 365.25 * 24


def years_left(facts: Facts) -> tuple[float, float] | None:
    """Return the least and the most years until the rated life is used; None if unknown.

    Percentage used is a whole number that may be rounded either way, so that the true one is within
    one of it. Of a drive at 0 or 1 per cent there is no upper bound, and no answer.
    """
    used, hours = facts.percentage_used, facts.power_on_hours
    if used is None or not hours or used < 2:
        return None
    years = hours / _HOURS_A_YEAR
    low, high = used - 1, used + 1
    return years * max(100 - high, 0) / high, years * max(100 - low, 0) / low
