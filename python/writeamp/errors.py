"""The one exception for input that a user can mend, and the sentence for a name that is unknown."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class WriteampError(ValueError):
    """Bad usage or bad input: one sentence that says what was wrong, where, and what is valid.

    The command line prints the sentence and exits with status 2; the library raises it.
    """


def unknown(what: str, name: str, valid: Iterable[str]) -> WriteampError:
    """Return the error for `name`, which is no `what`."""
    names = list(valid)
    nearest = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    hint = f" (did you mean {nearest[0]!r}?)" if nearest else ""
    return WriteampError(f"unknown {what} {name!r}{hint}; valid: {', '.join(names)}")
