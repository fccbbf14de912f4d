"""Families of drives from a user's file, in the words of `families.toml`, tried before ours."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from writeamp.devices import toml_text
from writeamp.drives.counters.amounts import UNITS
from writeamp.drives.counters.families import Family, family_from, tried_first
from writeamp.errors import WriteampError, placed, unknown
from writeamp.files.inputs import read_bytes

_TEXT, _IDS, _YES = str, list, bool
_KINDS: dict[str, type] = {
    "name": _TEXT,
    "models": _TEXT,
    "firmware": _TEXT,
    "source": _TEXT,
    "note": _TEXT,
    "host": _IDS,
    "flash": _IDS,
    "compresses": _YES,
}
_NEEDED = ("name", "models", "host", "source")
_PARTS = ("all", "tlc", "slc", "host pages", "background pages")
_MOST_BYTES = 1 << 20


@contextmanager
def with_families(path: str | os.PathLike[str] | None) -> Iterator[None]:
    """Try the families of a file first, until the block ends; None of no file.

    Args:
        path: a TOML file of `[[family]]` tables with `name`, `models` (a regular expression),
            `host`, `source`, and perhaps `flash`, `firmware`, `note` and `compresses`. A counter is
            `{ id = 241, unit = "32 MiB" }`, its unit a name of `amounts.UNITS`.

    Raises:
        WriteampError: the file cannot be read, or holds something else.
    """
    if path is None:
        yield
        return
    with tried_first(_read(path)):
        yield


def _read(path: str | os.PathLike[str]) -> tuple[Family, ...]:
    file = os.fspath(path)
    try:
        text = read_bytes(file, _MOST_BYTES, "file of families").decode()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise WriteampError(f"cannot read the families of {file}: {why}") from None
    table = toml_text.parse(text, f"cannot read the families of {file}")
    found = table.get("family")
    if not isinstance(found, list) or not found or set(table) != {"family"}:
        raise WriteampError(f"{file}: a file of families holds [[family]] tables and nothing else")
    return tuple(_family(one, f"{file}: family {at}") for at, one in enumerate(found, 1))


def _family(table: Any, where: str) -> Family:
    try:
        if not isinstance(table, dict):
            raise WriteampError("a family is a table")
        for key, value in table.items():
            if key not in _KINDS:
                raise unknown("key", key, _KINDS)
            if type(value) is not _KINDS[key]:
                raise WriteampError(f"{key} must be {_in_words(_KINDS[key])}, not {value!r}")
        if lacking := [key for key in _NEEDED if key not in table]:
            raise WriteampError(f"lacks {', '.join(lacking)}")
        for pattern in ("models", "firmware"):
            _compiled(pattern, table.get(pattern, ""))
        for side in ("host", "flash"):
            for counter in table.get(side, []):
                _check_counter(side, counter)
        return family_from(table)
    except WriteampError as error:
        raise placed(where, error) from None


def _in_words(kind: type) -> str:
    return {_TEXT: "text", _IDS: "a list of counters", _YES: "true or false"}[kind]


def _compiled(key: str, pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise WriteampError(f"{key} is no regular expression: {error}") from None


def _check_counter(side: str, counter: Any) -> None:
    keys = ("id", "unit", "part", "bits")
    if not isinstance(counter, dict) or "id" not in counter:
        raise WriteampError(f'{side} has counters such as {{ id = 241, unit = "32 MiB" }}')
    for key in counter:
        if key not in keys:
            raise unknown(f"key of a counter of {side}", key, keys)
    if type(counter["id"]) is not int or not 1 <= counter["id"] <= 255:
        raise WriteampError(f"id is the number of an attribute, 1 to 255, not {counter['id']!r}")
    if counter.get("bits", 0) not in (0, 32, 48):
        raise WriteampError(f"bits must be 32 or 48, not {counter['bits']!r}")
    for key, valid in (("unit", UNITS), ("part", _PARTS)):
        if key in counter and counter[key] not in tuple(valid):
            raise unknown(key, counter[key], valid)
