"""Errors: invalid input, failed policies, unknown names, and Ctrl-C."""

from __future__ import annotations

import os
from collections.abc import Iterable
from traceback import StackSummary, TracebackException
from typing import Any

from writeamp.text import printable, shown

_SHOWN_CHARACTERS = 80
# Arguments by the names of the command's options that they replace.
_ARGUMENTS_OF_OPTIONS = {"threads": "runner", "workers": "runner", "out": "keep"}
_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class WriteampError(ValueError):
    """Bad usage or bad input: one sentence that says what was wrong, where, and what is valid.

    The command line prints the sentence and exits with status 2; the library raises it.

    Attributes:
        finished: a `Comparison` of the rows beside which one failed; None of anything else.
    """

    finished: Any = None

    def __str__(self) -> str:
        """Return the sentence on one line; what it quotes of others is escaped."""
        return printable(super().__str__())


class RefusedError(WriteampError):
    """A drive that cannot be, or not under its policy or its host; one of another size may do."""


class PolicyError(WriteampError):
    """A placement or victim policy that a user has written failed; its exception is the cause.

    Attributes:
        policy: what it is called; "" if it could not even be imported.
        hook: the method that was called, such as "on_write".
        page: the page that it was asked of, or None.
        host_pages: host pages written by then.
        traceback: where the exception was raised, without the frames of this package; "" of none.
    """

    policy: str = ""
    hook: str = ""
    page: int | None = None
    host_pages: int = 0
    traceback: str = ""


def policy_error(sentence: str, cause: BaseException | None, **where: Any) -> PolicyError:
    """Return the error of a policy that failed.

    Args:
        sentence: what it did.
        cause: what it raised; the sentence then ends with the place of that.
        where: attributes of the error.
    """
    if cause is not None:
        told = TracebackException.from_exception(cause)
        told.stack = StackSummary.from_list(f for f in told.stack if not _is_ours(f.filename))
        where["traceback"] = "".join(told.format())
        if told.stack:
            last = told.stack[-1]
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
    """Error for an unknown argument, as Python itself would raise it, with the nearest.

    Attributes:
        argument: name of the argument.
    """

    argument = ""


def placed(where: str, error: WriteampError) -> WriteampError:
    """Return an error whose sentence begins with a place; a refusal stays one."""
    kind = RefusedError if isinstance(error, RefusedError) else WriteampError
    return kind(f"{where}: {error}")


def unknown(what: str, name: object, valid: Iterable[str]) -> WriteampError:
    """Return the error for `name`, which is no `what`."""
    names = list(valid)
    if not isinstance(name, str):
        return WriteampError(f"{what} is {shown(name)}; valid: {', '.join(names)}")
    if len(name) > _SHOWN_CHARACTERS:
        name = f"{name[:_SHOWN_CHARACTERS]}…"
    return WriteampError(f"unknown {what} {name!r}{_hint(name, names)}; valid: {', '.join(names)}")


def unknown_argument(function: str, name: str, valid: Iterable[str]) -> UnknownArgumentError:
    """Return the error for an argument that a function has not."""
    names = list(valid)
    option = _ARGUMENTS_OF_OPTIONS.get(name, name)
    hint = _hint(option if option in names else name, names) or f"; valid: {', '.join(names)}"
    error = UnknownArgumentError(f"{function}() got an unexpected keyword argument {name!r}{hint}")
    error.argument = name
    return error


def _hint(name: str, names: list[str]) -> str:
    import difflib  # noqa: PLC0415 (slow, and most commands need it not)

    nearest = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return f" (did you mean {nearest[0]!r}?)" if nearest else ""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in a measurement of several parts, of which some were finished.

    Attributes:
        finished: what was finished by then, in the form of the whole, or None: a `Comparison` of
            fewer managers, an `Endurance` of fewer replicas.
    """

    def __init__(self, finished: Any) -> None:
        """Keep what was finished."""
        super().__init__()
        self.finished = finished
