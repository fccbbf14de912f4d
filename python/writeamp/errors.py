"""The exception for input that a user can mend, the sentence for an unknown name, and Ctrl-C."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

_SHOWN_CHARACTERS = 80


class WriteampError(ValueError):
    """Bad usage or bad input: one sentence that says what was wrong, where, and what is valid.

    The command line prints the sentence and exits with status 2; the library raises it.
    """


def unknown(what: str, name: str, valid: Iterable[str]) -> WriteampError:
    """Return the error for `name`, which is no `what`."""
    names = list(valid)
    if len(name) > _SHOWN_CHARACTERS:
        name = f"{name[:_SHOWN_CHARACTERS]}…"
    nearest = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    hint = f" (did you mean {nearest[0]!r}?)" if nearest else ""
    return WriteampError(f"unknown {what} {name!r}{hint}; valid: {', '.join(names)}")


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
