"""Looking names up: an unknown one is an error that lists the valid ones and the nearest."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from writeamp.errors import WriteampError


def unknown(what: str, name: str, valid: Iterable[str]) -> WriteampError:
    """Return the error for `name`, which is no `what`."""
    names = list(valid)
    nearest = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    hint = f" (did you mean {nearest[0]!r}?)" if nearest else ""
    return WriteampError(f"unknown {what} {name!r}{hint}; valid: {', '.join(names)}")
