"""Held signals: Ctrl-C, SIGTERM and SIGHUP are deferred until cleanup is possible."""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from writeamp.system import ENDING_SIGNALS

# Poll interval if signals cannot be held, as in a thread.
_POLL_S = 0.1


class HeldSignals:
    """Signals that were received but not yet handled, and a wait that a signal ends.

    The code that holds the signals calls `check` at points where it can stop.
    """

    def __init__(self, reader: int | None) -> None:
        """Read wake-up bytes from a pipe, if there is one."""
        self.came: list[signal.Signals] = []
        self._reader = reader

    def check(self) -> None:
        """Stop here if a signal was received.

        Raises:
            KeyboardInterrupt: a signal was received, of any number.
        """
        if self.came:
            raise KeyboardInterrupt

    def take(self) -> signal.Signals | None:
        """Return the first received signal, and mark it as handled."""
        return self.came.pop(0) if self.came else None

    def wait(self, handles: Iterable[int], timeout_s: float) -> None:
        """Sleep until a handle is readable, a signal is received, or the time is over."""
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
    """Hold back signals that end a process, and deliver unhandled ones at the end of the block.

    No asynchronous exception is raised in the block, so every started step can be undone. Ignored
    signals stay ignored. Outside of the main thread, which alone receives signals, none are held.
    """
    if threading.current_thread() is not threading.main_thread():
        yield HeldSignals(None)
        return
    reader, writer = os.pipe()
    for end in (reader, writer):
        os.set_blocking(end, False)
    held = HeldSignals(reader)

    def on_signal(number: int, _frame: FrameType | None) -> None:
        held.came.append(signal.Signals(number))

    previous = {number: signal.getsignal(number) for number in ENDING_SIGNALS}
    previous = {
        number: handler for number, handler in previous.items() if handler is not signal.SIG_IGN
    }
    others = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for number in previous:
        signal.signal(number, on_signal)
    try:
        yield held
    finally:
        signal.set_wakeup_fd(others)
        os.close(reader)
        os.close(writer)
        # Once the handler of SIGINT is restored, Ctrl-C may raise here. The other handlers are
        # restored by then.
        for number, handler in previous.items():
            signal.signal(number, handler)
        pending = held.take()
        if pending is not None:
            signal.raise_signal(pending)
