"""Held signals: Ctrl-C, SIGTERM and SIGHUP wait while something must be undone."""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

# SIGINT last: see `held_signals`.
_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
# Where no signal can be held, as in a thread, there is nothing to wake up for them.
_POLL_S = 0.1


class HeldSignals:
    """Signals that were held back, and a wait that they end.

    Whoever holds them looks where it can stop.
    """

    def __init__(self, reader: int | None) -> None:
        """Read what wakes up from a pipe, if there is one."""
        self.came: list[signal.Signals] = []
        self._reader = reader

    def check(self) -> None:
        """Stop here if a signal came.

        Raises:
            KeyboardInterrupt: one came, of whatever number.
        """
        if self.came:
            raise KeyboardInterrupt

    def take(self) -> signal.Signals | None:
        """Return the first signal that came, and answer for it: it is delivered no more."""
        return self.came.pop(0) if self.came else None

    def wait(self, handles: Iterable[int], timeout_s: float) -> None:
        """Sleep until one of the handles can be read, a signal comes, or the time is over."""
        poll = select.poll()
        for handle in handles:
            poll.register(handle, select.POLLIN)
        if self._reader is not None:
            poll.register(self._reader, select.POLLIN)
        if self.came:
            return
        poll.poll(timeout_s * 1000)
        if self._reader is not None:
            with suppress(BlockingIOError):
                os.read(self._reader, 4096)


@contextmanager
def held_signals() -> Iterator[HeldSignals]:
    """Hold back what ends a process, and deliver it at the end of the block if nobody took it.

    No exception comes out of nowhere in the block, so nothing is begun that is not undone. Signals
    that are ignored stay so. Outside the main thread, which alone hears signals, nothing is held.
    """
    if threading.current_thread() is not threading.main_thread():
        yield HeldSignals(None)
        return
    reader, writer = os.pipe()
    for end in (reader, writer):
        os.set_blocking(end, False)
    held = HeldSignals(reader)

    def hear(number: int, _frame: FrameType | None) -> None:
        held.came.append(signal.Signals(number))

    before = {one: signal.getsignal(one) for one in _ENDING}
    before = {one: handler for one, handler in before.items() if handler is not signal.SIG_IGN}
    others = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for one in before:
        signal.signal(one, hear)
    try:
        yield held
    finally:
        signal.set_wakeup_fd(others)
        os.close(reader)
        os.close(writer)
        # Once SIGINT is as it was, Ctrl-C may raise right here; the others are restored by then.
        for one, handler in before.items():
            signal.signal(one, handler)
        pending = held.take()
        if pending is not None:
            signal.raise_signal(pending)
