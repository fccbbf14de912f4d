"""Current estimate of a computation, such as WA and its precision, for displays of progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# Threads that a computation starts have no listener, so only the main computation reports.
_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextmanager
def listening_to_estimates(listener: Callable[[str], None]) -> Iterator[None]:
    """Call `listener` with each estimate that this thread reports in the block."""
    previous = _listener.get()
    _listener.set(listener)
    try:
        yield
    finally:
        # Not by a token: another thread may leave the block than entered it.
        _listener.set(previous)


def report_wa(wa: float, half_width: float) -> None:
    """Report the current WA and the half width of its interval to the listener, if any."""
    listener = _listener.get()
    if listener is not None:
        share = f" ±{half_width / wa:.1%}" if half_width < wa else ""
        listener(f"WA {wa:.3f}{share}")
