"""Entry point of the `writeamp` command: its signals, and then the command itself.

Ctrl-C and SIGTERM raise KeyboardInterrupt where the command then is, which prints what is finished.
Amid an import it is raised once that is done. While it still loads, and if the signal is not heard
within a second, the process is ended from outside.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import suppress

TYPE_CHECKING = False  # as that of `typing`, which takes long to import: Ctrl-C is not heard yet
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

_STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143}

# An interrupt that is not heard for so long waits for the end of a call into a library.
_TO_HEAR_S = 0.8
# A signal that came amid an import, or where nothing can be raised, comes again after so long.
_AGAIN_S = 0.02
# Enough to end workers and print what is finished, also on a busy machine.
_TO_END_S = 10.0


def main() -> None:
    """Run the command line so that a signal ends it within a second."""
    # A signal that is ignored, as in a shell's background, stays so.
    signals = [one for one in _STATUS if signal.getsignal(one) is not signal.SIG_IGN]
    for one in signals:
        signal.signal(one, _end_loading)
    from writeamp.cli import main as run  # noqa: PLC0415 (takes long: Ctrl-C may come)

    interrupts = _Interrupts(signals)
    status: object = None
    try:
        interrupts.listen()
        run()
    except SystemExit as ended:
        status = ended.code
    except KeyboardInterrupt:  # before or after all that the command does
        _say_interrupted()
        status = _STATUS[signal.SIGINT]
    interrupts.ignore()
    if interrupts.received is not None:
        for stream in filter(None, (sys.stdout, sys.stderr)):  # None if they are closed
            with suppress(OSError):
                stream.flush()
        # Threads that are still at work are not waited for.
        _end(_STATUS[interrupts.received] if status == _STATUS[signal.SIGINT] else status)
    sys.exit(status)  # type: ignore[arg-type]


class _Interrupts:
    """Turns signals into KeyboardInterrupt, and ends the process if that is not obeyed."""

    def __init__(self, signals: list[signal.Signals]) -> None:
        self.received: signal.Signals | None = None
        self._signals = signals
        self._heard = threading.Event()
        # Python calls handlers when a call into a library has ended; this is written at once.
        self._reader, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        sys.unraisablehook = self._ignored
        threading.Thread(target=self._watch, daemon=True).start()

    def listen(self) -> None:
        """Turn signals into KeyboardInterrupt from now on."""
        for one in self._signals:
            signal.signal(one, self._interrupt)

    def ignore(self) -> None:
        """Ignore further signals: the process ends anyway."""
        for one in self._signals:
            signal.signal(one, signal.SIG_IGN)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if _is_importing(frame):  # a verb, or what it computes with, when it is called
            _signal_again(number)
            return
        self.received = signal.Signals(number)
        self._heard.set()
        self.ignore()  # a second one would come amid the printing of what is finished
        raise KeyboardInterrupt

    def _watch(self) -> None:
        number = 0
        while number not in self._signals:
            (number,) = os.read(self._reader, 1)
        if self._heard.wait(_TO_HEAR_S):
            time.sleep(_TO_END_S)
            _say_interrupted("ending took too long to print what was finished")
        else:
            _say_interrupted()
        _end(_STATUS[signal.Signals(number)])

    def _ignored(self, error: sys.UnraisableHookArgs) -> None:
        """Report an exception that cannot be raised; raise that of Ctrl-C again, where it can."""
        if not isinstance(error.exc_value, KeyboardInterrupt):
            sys.__unraisablehook__(error)
            return
        self.listen()
        _signal_again(self.received or signal.SIGINT)


def _signal_again(number: int) -> None:
    again = threading.Timer(_AGAIN_S, os.kill, (os.getpid(), number))
    again.daemon = True
    again.start()


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame is not None


def _end_loading(number: int, _frame: FrameType | None) -> NoReturn:
    # An exception could end up in any library's clean-up, which would print a traceback.
    _say_interrupted()
    _end(_STATUS[signal.Signals(number)])


def _say_interrupted(more: str = "nothing was written") -> None:
    with suppress(OSError):
        os.write(2, f"writeamp: interrupted; {more}\n".encode())


def _end(status: object) -> NoReturn:
    """End the process at once, with no file half written."""
    output = sys.modules.get("writeamp.output")
    if output is not None:
        output.discard_drafts()
    os._exit(status if isinstance(status, int) else 0)


if __name__ == "__main__":
    main()
