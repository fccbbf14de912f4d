"""Cooperative cancellation of work on another thread.

Long calls of the engine check for cancellation by themselves; long Python loops call
`stop_if_asked`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import local
from typing import Protocol

_this_thread = local()


class Wish(Protocol):
    """Request to cancel work, such as a `threading.Event`."""

    def is_set(self) -> bool:
        """Return whether the work should end."""


class Stopped(BaseException):
    """Raised on a thread whose work is cancelled."""


def stop_if_asked() -> None:
    """Raise `Stopped` if the work of this thread was cancelled.

    Raises:
        Stopped: the work was cancelled.
    """
    stop: Wish | None = getattr(_this_thread, "stop", None)
    if stop is not None and stop.is_set():
        raise Stopped


@contextmanager
def heeding(stop: Wish) -> Iterator[None]:
    """Make `stop_if_asked` on this thread check `stop` instead of the previous request.

    After the block, it checks the previous request again.

    Raises:
        Stopped: `stop` is set already.
    """
    previous: Wish | None = getattr(_this_thread, "stop", None)
    _this_thread.stop = stop
    try:
        stop_if_asked()
        yield
    finally:
        _this_thread.stop = previous
