"""Error of predictions by the effective op where cold data is written now and then."""

from __future__ import annotations

from writeamp.models._effective_op import effective_op
from writeamp.models._expected_value import expected_value
from writeamp.units.ratios import logical_of

# A smaller error is within what the models differ by.
_LARGE_ERROR = 0.05


def wa_if_cold_data_moves(op: float, utilization: float, hot_ratio: float) -> float:
    """Return the WA of uniform writes to the hot part if collection moves all cold data along.

    With few writes to cold data, its blocks become worth collecting in turn. In each turn of the
    drive the share c = logical_of(utilization - hot_ratio, op) of the flash is then programmed for
    cold data, and 1 - c is left for `expected_value` at the effective op: simulation of one write
    frontier under greedy collection with 1% of the writes to cold data finds 1% to 5% less
    (docs/models.md).

    >>> round(wa_if_cold_data_moves(0.147, 0.9, 0.3), 3)
    2.83
    """
    wa = float(expected_value(effective_op(op, utilization, hot_ratio)))
    return wa / (1 - _cold_share(op, utilization, hot_ratio))


def caveat(op: float, utilization: float, hot_ratio: float) -> str | None:
    """Return a sentence on what the effective op takes for granted, where much depends on it."""
    error = _cold_share(op, utilization, hot_ratio)
    if error < _LARGE_ERROR:
        return None
    moved = wa_if_cold_data_moves(op, utilization, hot_ratio)
    return (
        "these answers suppose that cold data is never written: with 1% of the writes to it, one "
        f"write frontier moves it again and again, for a WA of about {moved:.3g}, so that "
        f"expected-value is {error:.0%} too low"
    )


def _cold_share(op: float, utilization: float, hot_ratio: float) -> float:
    """Return the share of the flash that holds cold data."""
    return logical_of(utilization - hot_ratio, op)
