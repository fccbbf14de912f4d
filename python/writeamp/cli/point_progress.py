"""Progress and facts of runs of many points, as `sweep` and `blackbox collect` print them."""

from __future__ import annotations

from typing import Any

# The status of a run that came to its end, but for some of its points.
FAILED = 1
# So many errors are quoted.
MOST_ERRORS = 5


def words(done: int, expected: int) -> str:
    """Return the text of a progress bar."""
    return f"{done} of {expected} points"


def shown(value: Any) -> str:
    """Return a fact as it is printed."""
    return f"{value:.6g}" if isinstance(value, float) else "–" if value is None else str(value)
