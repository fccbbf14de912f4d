"""Boundary between the command and the system: streams, arguments, internal errors."""

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
# The status of a study that came to its end, but for some of its runs.
SOME_FAILED = 1
DEBUG = "WRITEAMP_DEBUG"
# Help cuts the names of options below this.
_HELP_COLUMNS = 80
# No path is as long as this; of a longer sentence, which quotes no path, both ends are shown.
_LONGEST_SENTENCE = 5000
_SHOWN_OF_LONGER = 500


class PartlyDone(Exception):  # noqa: N818 (no error: the user asked for it)
    """Ctrl-C after which what was finished has been printed; the text says what that was."""


def end_as_interrupted(number: signal.Signals, what: str) -> NoReturn:
    """End as any command does that hears the signal, now that all is undone and printed.

    Args:
        number: of the signal.
        what: sentence that says what was finished.

    Raises:
        PartlyDone: with that sentence.
    """
    with suppress(KeyboardInterrupt):
        signal.raise_signal(number)
    raise PartlyDone(what) from None


@contextmanager
def runs_kept_in(folder: str | None) -> Iterator[None]:
    """After Ctrl-C in a search, whose parts are no result, say where its finished runs are."""
    try:
        yield
    except KeyboardInterrupt:
        if folder is None:
            raise
        raise PartlyDone(
            f"finished runs are kept in {folder}; the same command continues"
        ) from None


@contextmanager
def interrupts_kept() -> Iterator[None]:
    """Raise Ctrl-C again where what was cleaned up after it raised an error of its own."""
    try:
        yield
    except PartlyDone:
        raise
    except Exception as error:
        before = error.__context__
        while before is not None and not isinstance(before, KeyboardInterrupt):
            before = before.__context__
        if before is not None:
            raise KeyboardInterrupt from error
        raise


def prepare_streams() -> None:
    """Make stdin, stdout and stderr usable, and wide enough, whatever the caller left of them.

    Raises:
        WriteampError: stdout is closed, so that every result would be lost.
    """
    _widen()
    # A file that is opened later must not become one of them.
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
        # A terminal that cannot show a character shows another; that is no reason to stop.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    if closed:
        raise WriteampError("standard output is closed; to drop the results, give it /dev/null")


def _widen() -> None:
    """Tell help, and nothing else that is printed, of no narrower a terminal than it can use."""
    asked = os.environ.get("COLUMNS", "")
    columns = int(asked) if asked.isdecimal() else shutil.get_terminal_size().columns
    if columns < _HELP_COLUMNS:
        os.environ.setdefault("TERMINAL_WIDTH", str(_HELP_COLUMNS))  # which typer reads


def check_arguments() -> None:
    """Refuse what is no text before anything runs: it could not be printed, drawn or saved.

    Raises:
        WriteampError: an argument, such as a file name, is not UTF-8.
    """
    for argument in sys.argv[1:]:
        if not _is_text(argument):
            shown = os.fsencode(argument).decode("utf-8", "backslashreplace")
            raise WriteampError(
                f"argument {shown!r} is not UTF-8 text; rename the file, or link to it by another "
                "name"
            )


def drop_output() -> None:
    """Forget what stdout could not take; Python must not try again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(sentence: str) -> None:
    """Say something on stderr, on one line; where that takes nothing, the status says it alone."""
    if len(sentence) > _LONGEST_SENTENCE:
        sentence = f"{sentence[:_SHOWN_OF_LONGER]} … {sentence[-_SHOWN_OF_LONGER:]}"
    with suppress(OSError):
        # As one text: Ctrl-C may come between a sentence and the end of its line.
        sys.stderr.write(f"writeamp: {printable(sentence)}\n")
        sys.stderr.flush()


def report_policy(error: PolicyError) -> None:
    """Show where the code of a user's policy failed; what it did is said apart."""
    with suppress(OSError):
        print(printable(error.traceback, keep="\n"), file=sys.stderr, end="", flush=True)


def report_fault(error: BaseException) -> None:
    """Say that an error is ours and what a report of it needs; the traceback only on demand.

    An engine that was built before the Python code was last updated is no fault, and said to be so.
    """
    from writeamp._engine import __version__  # noqa: PLC0415 (slow)
    from writeamp.cli.engine_age import lacking  # noqa: PLC0415 (slow)

    if os.environ.get(DEBUG):
        traceback.print_exception(error)
    if (name := lacking()) is not None:
        say(
            f"the compiled engine is older than the Python code beside it (it has no {name}); "
            "build it again: make all"
        )
        return
    kind = type(error).__name__
    what = " ".join(f"{kind}: {error}".split())[:500]
    say(
        f"this is a fault of writeamp {__version__}, not of yours ({what}); please report "
        f"it with your command line and the traceback, which {DEBUG}=1 shows "
        f"(Python {sys.version.split()[0]})"
    )


def _is_text(argument: str) -> bool:
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True
