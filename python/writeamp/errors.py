"""Errors: invalid input, failed policies, unknown names, and Ctrl-C."""

from __future__ import annotations

import os
from collections.abc import Iterable
from traceback import StackSummary, TracebackException
from typing import Any

from writeamp.text import printable, shown

_SHOWN_CHARACTERS = 80
# For names of command-line options, the arguments that functions have instead; used for hints.
_ARGUMENTS_OF_OPTIONS = {"threads": "runner", "workers": "runner", "out": "keep"}
_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class WriteampError(ValueError):
    """Bad usage or bad input: one sentence with the fault, its place and the valid values.

    The command line prints the sentence and exits with status 2; the library raises it.

    Attributes:
        finished: a `Comparison` of the rows that were finished when one failed; else None.
    """

    finished: Any = None

    def __str__(self) -> str:
        """Return the sentence on one line; quoted control characters are escaped."""
        return printable(super().__str__())


class RefusedError(WriteampError):
    """Drive that cannot run as requested, for example one too small for its policy or host.

    A drive of another size may be able to run.
    """


class PolicyError(WriteampError):
    """Failure of a user's placement or victim policy; the policy's exception is the cause.

    Attributes:
        policy: name of the policy; "" if its import failed.
        hook: name of the method that failed, such as "on_write".
        page: logical page that was the argument of the call, or None.
        host_pages: host pages that were written before the failure.
        traceback: traceback of the exception, without this package's frames; or "".
    """

    policy: str = ""
    hook: str = ""
    page: int | None = None
    host_pages: int = 0
    traceback: str = ""


def policy_error(sentence: str, cause: BaseException | None, **where: Any) -> PolicyError:
    """Return the error of a policy that failed.

    Args:
        sentence: description of the failure.
        cause: exception of the policy, whose file and line are added to the sentence; or None.
        where: attributes of the error.
    """
    if cause is not None:
        formatted = TracebackException.from_exception(cause)
        formatted.stack = StackSummary.from_list(
            f for f in formatted.stack if not _is_ours(f.filename)
        )
        where["traceback"] = "".join(formatted.format())
        if formatted.stack:
            last = formatted.stack[-1]
            path = os.path.relpath(last.filename)
            path = last.filename if path.startswith("..") else path
            sentence += f" ({path}:{last.lineno})"
    error = PolicyError(sentence)
    vars(error).update(where)
    error.__cause__ = cause
    return error


def _is_ours(path: str) -> bool:
    return path.startswith((_PACKAGE, "<frozen ", "<string>"))


class UnknownArgumentError(WriteampError, TypeError):
    """Error for an unknown argument, worded as Python's, with the nearest valid name.

    Attributes:
        argument: name of the argument.
    """

    argument = ""


def placed(where: str, error: WriteampError) -> WriteampError:
    """Return an error whose sentence begins with a place, such as a file.

    It is a `RefusedError` if `error` is one, and otherwise a plain `WriteampError`.
    """
    kind = RefusedError if isinstance(error, RefusedError) else WriteampError
    return kind(f"{where}: {error}")


def unknown(what: str, name: object, valid: Iterable[str]) -> WriteampError:
    """Return the error for a `name` that is not a valid `what`, such as "model"."""
    names = list(valid)
    if not isinstance(name, str):
        return WriteampError(f"{what} is {shown(name)}; valid: {', '.join(names)}")
    if len(name) > _SHOWN_CHARACTERS:
        name = f"{name[:_SHOWN_CHARACTERS]}…"
    return WriteampError(f"unknown {what} {name!r}{_hint(name, names)}; valid: {', '.join(names)}")


def unknown_argument(function: str, name: str, valid: Iterable[str]) -> UnknownArgumentError:
    """Return the error for an argument that a function does not have."""
    names = list(valid)
    option = _ARGUMENTS_OF_OPTIONS.get(name, name)
    hint = _hint(option if option in names else name, names) or f"; valid: {', '.join(names)}"
    error = UnknownArgumentError(f"{function}() got an unexpected keyword argument {name!r}{hint}")
    error.argument = name
    return error


def how_to_install(extra: str) -> str:
    """Return the commands that install an extra: for a wheel, and in a clone.

    >>> how_to_install("blackbox")
    "pip install 'writeamp[blackbox]', or in a clone of writeamp: make .venv/.blackbox"
    """
    return f"pip install 'writeamp[{extra}]', or in a clone of writeamp: make .venv/.{extra}"


def _hint(name: str, names: list[str]) -> str:
    import difflib  # noqa: PLC0415 (slow, and needed for errors only)

    nearest = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return f" (did you mean {nearest[0]!r}?)" if nearest else ""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in a measurement that has several steps, some of them finished.

    Attributes:
        finished: result of the finished steps, of the class of the complete result: a `Comparison`
            of fewer managers, an `Endurance` of fewer replicas. None if no step was finished.
    """

    def __init__(self, finished: Any) -> None:
        """Store the result of the finished steps."""
        super().__init__()
        self.finished = finished
