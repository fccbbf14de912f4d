"""Entry point of the `writeamp` command: its signals, and then the command itself.

Ctrl-C, SIGTERM and SIGHUP raise KeyboardInterrupt where the command is, which prints what is
finished. Amid an import it is raised once that is done. While the command still loads, or if it
does not react within a second, the process is ended from outside.

Python itself takes some 20 ms to start, and reacts to signals in its own way until `main` begins.
So this module imports only what is built in before `main` has installed its handlers.
"""

from __future__ import annotations

# The module that `signal` wraps: the wrapper takes 8 ms to import.
import _signal  # type: ignore[import-not-found]
import os
import sys
import time

TYPE_CHECKING = False  # as that of `typing`, which takes long to import
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

_STATUS = {_signal.SIGINT: 130, _signal.SIGTERM: 143, _signal.SIGHUP: 129}

# An interrupt that is not heard for so long waits for the end of a call into a library.
_TO_HEAR_S = 0.8
# A signal that came amid an import, or where nothing can be raised, comes again after so long.
_AGAIN_S = 0.02
# Enough to end workers and print what is finished, also on a busy machine.
_TO_END_S = 10.0


def main() -> None:
    """Run the command line so that a signal ends it within a second."""
    # A signal that is ignored, as in a shell's background, stays so.
    signals = [one for one in _STATUS if _signal.getsignal(one) != _signal.SIG_IGN]
    for one in signals:
        _signal.signal(one, _end_loading)
    interrupts = _Interrupts(signals)
    from writeamp.cli import main as run  # noqa: PLC0415 (takes long: Ctrl-C may come)

    status: object = None
    try:
        try:
            interrupts.listen()
            run()
        finally:
            interrupts.is_over = True
    except SystemExit as ended:
        status = ended.code
    except KeyboardInterrupt:  # before or after all that the command does
        _say_interrupted()
        status = _STATUS[_signal.SIGINT]
    if interrupts.received is not None:
        _flush()
        # Threads that are still at work are not waited for.
        _end(_STATUS[interrupts.received] if status == _STATUS[_signal.SIGINT] else status)
    sys.exit(status)  # type: ignore[arg-type]


class _Interrupts:
    """Turns signals into KeyboardInterrupt, and ends the process if that is not obeyed."""

    def __init__(self, signals: list[int]) -> None:
        import atexit  # noqa: PLC0415 (the handlers come first)
        import threading  # noqa: PLC0415

        self.received: int | None = None
        self.is_over = False
        self._late: int | None = None
        self._signals = signals
        self._heard = threading.Event()
        # Python calls handlers when a call into a library has ended; this is written at once.
        self._reader, writer = os.pipe()
        os.set_blocking(writer, False)
        _signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        sys.unraisablehook = self._ignored
        threading.Thread(target=self._watch, daemon=True).start()
        atexit.register(self._exit)  # the first to be registered, so the last to be called

    def listen(self) -> None:
        """Turn signals into KeyboardInterrupt from now on."""
        for one in self._signals:
            _signal.signal(one, self._interrupt)

    def _ignore(self) -> None:
        for one in self._signals:
            _signal.signal(one, _signal.SIG_IGN)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self.is_over:
            self._late = number
            return
        if _is_importing(frame):  # a verb, or what it computes with, when it is called
            self._late = number  # for a command that is over before it comes again
            _signal_again(number)
            return
        self.received = number
        self._heard.set()
        self._ignore()  # a second one would come amid the printing of what is finished
        raise KeyboardInterrupt

    def _exit(self) -> None:
        """Ignore further signals; if one came after all was printed, exit with its status."""
        self._ignore()
        if self._late is not None:
            _flush()
            _end(_STATUS[self._late])

    def _watch(self) -> None:
        number = 0
        while number not in self._signals:
            (number,) = os.read(self._reader, 1)
        if self._heard.wait(_TO_HEAR_S):
            time.sleep(_TO_END_S)
            _say_interrupted("ending took too long to print what was finished")
        elif not self.is_over:
            _say_interrupted()
        _end(_STATUS[number])

    def _ignored(self, error: sys.UnraisableHookArgs) -> None:
        """Report an exception that cannot be raised; raise that of Ctrl-C again, where it can."""
        if not isinstance(error.exc_value, KeyboardInterrupt):
            sys.__unraisablehook__(error)
            return
        self.listen()
        _signal_again(self.received or _signal.SIGINT)


def _signal_again(number: int) -> None:
    import threading  # noqa: PLC0415 (as above)

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
    _end(_STATUS[number])


def _say_interrupted(more: str = "nothing was written") -> None:
    try:  # noqa: SIM105 (contextlib is not there yet)
        os.write(2, f"writeamp: interrupted; {more}\n".encode())
    except OSError:  # closed
        pass


def _flush() -> None:
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None if they are closed
        try:  # noqa: SIM105 (as above)
            stream.flush()
        except OSError:
            pass


def _end(status: object) -> NoReturn:
    """End the process at once, with no file half written."""
    # The module may be only half imported.
    discard = getattr(sys.modules.get("writeamp.files.output"), "discard_drafts", None)
    if discard is not None:
        discard()
    os._exit(status if isinstance(status, int) else 0)


if __name__ == "__main__":
    main()
