"""Errors that quote what a user wrote."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from writeamp.errors import WriteampError

_SHOWN_CHARACTERS = 48


def quoted(text: object) -> str:
    """Return the text in quotes on one line, escaped and cut to a length that fits a sentence."""
    written = str(text)
    if len(written) > _SHOWN_CHARACTERS:
        written = written[:_SHOWN_CHARACTERS] + "…"
    return repr(written)


def check_name(kind: str, name: str, valid: Sequence[str]) -> str:
    """Return ``name`` if it is valid.

    Raises:
        WriteampError: it is not; the sentence lists the valid names and the nearest match.
    """
    if name in valid:
        return name
    nearest = difflib.get_close_matches(name, valid, n=1, cutoff=0.5)
    guess = f" (did you mean {nearest[0]}?)" if nearest else ""
    raise WriteampError(f"unknown {kind} {quoted(name)}{guess}: valid are {', '.join(valid)}")
