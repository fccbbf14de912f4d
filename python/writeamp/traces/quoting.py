"""Quoting of users' words in our sentences."""

from __future__ import annotations

from collections.abc import Sequence

_SHOWN_CHARACTERS = 48
_SHOWN_NAMES = 16


def quoted(text: object) -> str:
    """Return the text in quotes on one line, escaped and cut to a length that fits a sentence."""
    written = str(text)
    if len(written) > _SHOWN_CHARACTERS:
        written = written[:_SHOWN_CHARACTERS] + "…"
    return repr(written)


def shortened(names: Sequence[str]) -> str:
    """Return the names with commas between, cut where they would fill a page."""
    rest = len(names) - _SHOWN_NAMES
    return ", ".join(names[:_SHOWN_NAMES]) + (f" and {rest} more" if rest > 0 else "")


def one_line(error: BaseException) -> str:
    """Return the first line of another library's error."""
    return next(iter(str(error).splitlines()), type(error).__name__)
