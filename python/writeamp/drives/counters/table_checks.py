"""Checks of tables that describe drives or logs: keys, types of values, and choices."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from writeamp.errors import WriteampError, unknown


class ValueKind(NamedTuple):
    """Type of a value, its name in messages, and the type of list items if they are checked."""

    of: type
    words: str
    items: type = object

    def fits(self, value: Any) -> bool:
        """Return whether a value has this type."""
        items = value if isinstance(value, list) else ()
        return type(value) is self.of and all(isinstance(item, self.items) for item in items)


def check_table(
    name: str, table: Any, kinds: Mapping[str, ValueKind], needed: Iterable[str]
) -> None:
    """Reject a value that is not a table with these keys.

    Raises:
        WriteampError: the value is not a table, or a key is unknown, missing, or has an invalid
            value.
    """
    if not isinstance(table, dict):
        raise WriteampError(f"{name} must be a table")
    for key, value in table.items():
        if key not in kinds:
            raise unknown("key", key, kinds)
        if not kinds[key].fits(value):
            raise WriteampError(f"{key} must be {kinds[key].words}, not {value!r}")
    if lacking := [key for key in needed if key not in table]:
        raise WriteampError(f"lacks {', '.join(lacking)}")


def check_choice(key: str, table: Mapping[str, Any], valid: Iterable[str]) -> None:
    """Reject a value of a key in a table that is not a valid one.

    Raises:
        WriteampError: the value is not in `valid`.
    """
    if key in table and table[key] not in tuple(valid):
        raise unknown(key, table[key], valid)


def compiled(key: str, pattern: str) -> re.Pattern[str]:
    """Return the compiled regular expression.

    Raises:
        WriteampError: the pattern is invalid.
    """
    try:
        return re.compile(pattern)
    except re.error as error:
        raise WriteampError(f"{key} is not a regular expression: {error}") from None
