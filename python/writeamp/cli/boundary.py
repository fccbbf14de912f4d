"""Boundary between the command and the operating system: streams, arguments, faults."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

from writeamp.errors import PolicyError, WriteampError
from writeamp.text import printable

FAULT = 70  # EX_SOFTWARE of sysexits.h
# Exit status if a study finished, but some of its runs failed.
SOME_FAILED = 1
DEBUG = "WRITEAMP_DEBUG"
# Minimum width of help pages. On narrower terminals, help would cut the names of options.
_HELP_COLUMNS = 80
# Sentences longer than this are shortened to their two ends. It exceeds the length of sentences
# that quote a path.
_LONGEST_SENTENCE = 5000
_SHOWN_OF_LONGER = 500


class PartlyDone(Exception):  # noqa: N818 (not an error: the user pressed Ctrl-C)
    """Ctrl-C after the finished results were printed; its text describes these results."""


def end_as_interrupted(number: signal.Signals, finished: str) -> NoReturn:
    """Raise `PartlyDone`, so that the process cleans up and ends as if by the signal.

    Args:
        number: number of the signal.
        finished: sentence on the finished results.

    Raises:
        PartlyDone: with that sentence.
    """
    with suppress(KeyboardInterrupt):
        signal.raise_signal(number)
    raise PartlyDone(finished) from None


@contextmanager
def runs_kept_in(folder: str | None) -> Iterator[None]:
    """On Ctrl-C during a search, report the folder that stores the finished runs."""
    try:
        yield
    except KeyboardInterrupt:
        if folder is None:
            raise
        raise PartlyDone(
            f"finished runs are in {folder}; run the same command to continue"
        ) from None


@contextmanager
def interrupts_kept() -> Iterator[None]:
    """Raise Ctrl-C again if the cleanup after Ctrl-C raised another error."""
    try:
        yield
    except PartlyDone:
        raise
    except Exception as error:
        cause = error.__context__
        while cause is not None and not isinstance(cause, KeyboardInterrupt):
            cause = cause.__context__
        if cause is not None:
            raise KeyboardInterrupt from error
        raise


def prepare_streams() -> None:
    """Make stdin, stdout and stderr usable, also if the caller closed some of them.

    Raises:
        WriteampError: stdout is closed, so the results would be lost.
    """
    _widen()
    # If a standard stream is closed, a file opened later could get its number and receive output.
    # So the numbers 0 to 2 are taken first.
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(handle)
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    closed = sys.stdout is None
    if closed:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # If a terminal cannot show a character, print a replacement instead of raising an error.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    if closed:
        raise WriteampError(
            "standard output is closed; redirect it to /dev/null to drop the results"
        )


def _widen() -> None:
    """Set the minimum width of help pages; other output uses the real width."""
    variable = os.environ.get("COLUMNS", "")
    columns = int(variable) if variable.isdecimal() else shutil.get_terminal_size().columns
    if columns < _HELP_COLUMNS:
        os.environ.setdefault("TERMINAL_WIDTH", str(_HELP_COLUMNS))  # typer reads this variable


def check_arguments() -> None:
    """Reject arguments that are not UTF-8, which could not be printed, drawn or saved.

    Raises:
        WriteampError: an argument, such as a file name, is not UTF-8.
    """
    for argument in sys.argv[1:]:
        if not _is_text(argument):
            shown = os.fsencode(argument).decode("utf-8", "backslashreplace")
            raise WriteampError(
                f"argument {shown!r} is not UTF-8 text; rename the file, or give a link that has a "
                "UTF-8 name"
            )


def drop_output() -> None:
    """Drop output that stdout could not accept, so that Python does not write it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(sentence: str) -> None:
    """Print one line on stderr, a very long one shortened; if stderr is closed, do nothing."""
    if len(sentence) > _LONGEST_SENTENCE:
        sentence = f"{sentence[:_SHOWN_OF_LONGER]} … {sentence[-_SHOWN_OF_LONGER:]}"
    with suppress(OSError):
        # One write call for both: Ctrl-C could arrive between a sentence and its line break.
        sys.stderr.write(f"writeamp: {printable(sentence)}\n")
        sys.stderr.flush()


def print_version() -> None:
    """Print the name and version of writeamp."""
    from writeamp._engine import __version__  # noqa: PLC0415 (slow)

    print(f"writeamp {__version__}")


def report_policy(error: PolicyError) -> None:
    """Print the traceback of an error in a user's policy; the caller prints the sentence."""
    with suppress(OSError):
        print(printable(error.traceback, keep="\n"), file=sys.stderr, end="", flush=True)


def report_fault(error: BaseException) -> None:
    """Report an internal error and where to report it; print the traceback only on request.

    If the compiled engine is older than the Python code, print how to build it.
    """
    from writeamp._engine import __version__  # noqa: PLC0415 (slow)
    from writeamp.cli.engine_age import missing_name  # noqa: PLC0415 (slow)

    if os.environ.get(DEBUG):
        traceback.print_exception(error)
    if (name := missing_name()) is not None:
        say(
            f"the compiled engine is older than the Python code ({name} is missing); build it "
            "with `make all`"
        )
        return
    kind = type(error).__name__
    description = " ".join(f"{kind}: {error}".split())[:500]
    say(
        f"this is a fault of writeamp {__version__} ({description}); please report it with the "
        f"command line and the traceback, which {DEBUG}=1 shows (Python {sys.version.split()[0]})"
    )


def _is_text(argument: str) -> bool:
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True
