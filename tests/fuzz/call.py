"""A call to try: of the command, or of the library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Call:
    """A call, and the files that it finds in its folder.

    Attributes:
        kind: verb, or function of the library.
        shown: the call as one would write it.
        contents: files by their place in the folder; `whole` are these before they were damaged.
        argv: words of a command line.
        function: of the library, in place of that, with its arguments.
        outputs: what it was asked to write.
        is_document: whether a command prints JSON if it ends well.
        runs_programs: whether it may run others.
    """

    kind: str
    shown: str
    contents: dict[str, bytes]
    whole: dict[str, bytes]
    argv: list[str] | None = None
    function: Callable[..., Any] | None = None
    arguments: dict[str, Any] | None = None
    outputs: tuple[str, ...] = ()
    is_document: bool = False
    runs_programs: bool = False


def shown_call(kind: str, arguments: dict[str, Any]) -> str:
    """Return a call of the library as one would write it."""
    return f"{kind}({', '.join(f'{key}={_shown(value)}' for key, value in arguments.items())})"


def _shown(value: object) -> str:
    try:
        return repr(value)[:3000]
    except ValueError:
        return "{…a number of thousands of digits…}"
