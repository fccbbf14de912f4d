"""Entry point of the `writeamp` command: install signal handlers, then run the command.

Ctrl-C, SIGTERM and SIGHUP raise KeyboardInterrupt in the command, which prints its finished
results. During an import, the exception is raised after the import. While the command loads, or if
it does not react within a second, another thread ends the process.

Python takes about 20 ms to start, with its default signal handlers. So that this module's handlers
are installed soon, it imports only built-in modules before `main`.
"""

from __future__ import annotations

# The module that `signal` wraps: the wrapper takes 8 ms to import.
import _signal  # type: ignore[import-not-found]
import os
import sys
import time

TYPE_CHECKING = False  # used instead of `typing.TYPE_CHECKING`, because `typing` is slow to import
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

_STATUS = {_signal.SIGINT: 130, _signal.SIGTERM: 143}
if hasattr(_signal, "SIGHUP"):  # not on Windows
    _STATUS[_signal.SIGHUP] = 129

# Seconds in which the interpreter should run a signal handler. If it does not, it is inside a long
# call into a library.
_REACTION_S = 0.8
# Delay in seconds before a signal that came during an import or in a destructor is sent again.
_RESEND_AFTER_S = 0.02
# Seconds in which the command ends workers and prints finished results, also on a busy machine.
_SHUTDOWN_S = 10.0


def main() -> None:
    """Run the command line so that a signal ends it within a second."""
    # Signals that are ignored, as in background jobs of a shell, stay ignored.
    signals = [number for number in _STATUS if _signal.getsignal(number) != _signal.SIG_IGN]
    for number in signals:
        _signal.signal(number, _end_loading)
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
    except KeyboardInterrupt:  # raised outside of the command's own handling
        _print_interrupted()
        status = _STATUS[_signal.SIGINT]
    if interrupts.received is not None:
        _flush()
        # Do not wait for threads that still run.
        _end(_STATUS[interrupts.received] if status == _STATUS[_signal.SIGINT] else status)
    interrupts.status = status
    sys.exit(status)  # type: ignore[arg-type]


class _Interrupts:
    """Raises KeyboardInterrupt for signals, and ends the process if the command does not react."""

    def __init__(self, signals: list[int]) -> None:
        import atexit  # noqa: PLC0415 (the handlers come first)
        import threading  # noqa: PLC0415

        self.received: int | None = None
        self.is_over = False
        self.status: object = 1  # as of an exception that Python prints
        self._late: int | None = None
        self._signals = signals
        self._reacted = threading.Event()
        # Python runs handlers only after a call into a library; this pipe is written at once.
        self._reader, writer = os.pipe()
        if hasattr(os, "set_blocking"):  # Windows has it from Python 3.12 on
            os.set_blocking(writer, False)
        _signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        sys.unraisablehook = self._ignored
        threading.Thread(target=self._watch, daemon=True).start()
        atexit.register(self._exit)  # registered first, so that it is called last

    def listen(self) -> None:
        """Install the handler that raises KeyboardInterrupt."""
        for number in self._signals:
            _signal.signal(number, self._interrupt)

    def _ignore(self) -> None:
        for number in self._signals:
            _signal.signal(number, _signal.SIG_IGN)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self.is_over:
            self._late = number
            return
        if _is_importing(frame):  # verbs and libraries are imported on first use
            self._late = number  # in case the command ends before the signal is sent again
            _signal_again(number)
            return
        self.received = number
        self._reacted.set()
        self._ignore()  # a second signal would interrupt the printing of finished results
        raise KeyboardInterrupt

    def _exit(self) -> None:
        """Ignore further signals, and end the process, with the status of one after the output.

        A run that was given up because another one failed may still call a policy in Python. When
        the interpreter ends, it would unwind that thread through the engine, which crashes.
        """
        self._ignore()
        _flush()
        _end(self.status if self._late is None else _STATUS[self._late])

    def _watch(self) -> None:
        number = 0
        while number not in self._signals:
            (number,) = os.read(self._reader, 1)
        if self._reacted.wait(_REACTION_S):
            time.sleep(_SHUTDOWN_S)
            _print_interrupted("finished results were not printed within 10 s")
        elif not self.is_over:
            _print_interrupted()
        _end(_STATUS[number])

    def _ignored(self, error: sys.UnraisableHookArgs) -> None:
        """Report an exception that Python ignored; for Ctrl-C, send the signal again."""
        if not isinstance(error.exc_value, KeyboardInterrupt):
            sys.__unraisablehook__(error)
            return
        self.listen()
        _signal_again(self.received or _signal.SIGINT)


def _signal_again(number: int) -> None:
    import threading  # noqa: PLC0415 (as above)

    again = threading.Timer(_RESEND_AFTER_S, os.kill, (os.getpid(), number))
    again.daemon = True
    again.start()


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame is not None


def _end_loading(number: int, _frame: FrameType | None) -> NoReturn:
    # An exception could be raised in a library's clean-up, which would print a traceback.
    _print_interrupted()
    _end(_STATUS[number])


def _print_interrupted(detail: str = "nothing was written") -> None:
    try:  # noqa: SIM105 (contextlib is not imported yet)
        os.write(2, f"writeamp: interrupted; {detail}\n".encode())
    except OSError:  # standard error is closed
        pass


def _flush() -> None:
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None if they are closed
        try:  # noqa: SIM105 (as above)
            stream.flush()
        except OSError:
            pass


def _end(status: object) -> NoReturn:
    """Delete unfinished output files and end the process at once."""
    # The import of the module may be unfinished.
    discard = getattr(sys.modules.get("writeamp.files.output"), "discard_drafts", None)
    if discard is not None:
        discard()
    os._exit(status if isinstance(status, int) else 0)


if __name__ == "__main__":
    main()
