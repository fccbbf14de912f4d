"""Families of drives from a user's file, in the words of `families.toml`, tried before ours."""

from __future__ import annotations

import os
from typing import Any, get_args

from writeamp.devices import toml_text
from writeamp.drives.counters.amounts import UNITS, Part
from writeamp.drives.counters.families import Family, family_from
from writeamp.drives.counters.table_checks import Kind, check_choice, check_table, compiled
from writeamp.errors import WriteampError, placed, unknown
from writeamp.files.inputs import read_bytes

_TEXT, _COUNTERS = Kind(str, "text"), Kind(list, "a list of counters")
_KINDS = {
    "name": _TEXT,
    "models": _TEXT,
    "firmware": _TEXT,
    "source": _TEXT,
    "note": _TEXT,
    "host": _COUNTERS,
    "flash": _COUNTERS,
    "compresses": Kind(bool, "true or false"),
}
_NEEDED = ("name", "models", "host", "source")
_MOST_BYTES = 1 << 20


def families_in(path: str | os.PathLike[str] | None) -> tuple[Family, ...]:
    """Return the families of a file; none of no file.

    Args:
        path: a TOML file of `[[family]]` tables with `name`, `models` (a regular expression),
            `host`, `source`, and perhaps `flash`, `firmware`, `note` and `compresses`. A counter is
            `{ id = 241, unit = "32 MiB" }`, its unit a name of `amounts.UNITS`.

    Raises:
        WriteampError: the file cannot be read, or holds something else.
    """
    if path is None:
        return ()
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
        check_table("a family", table, _KINDS, _NEEDED)
        for pattern in ("models", "firmware"):
            compiled(pattern, table.get(pattern, ""))
        for side in ("host", "flash"):
            for counter in table.get(side, []):
                _check_counter(side, counter)
        return family_from(table)
    except WriteampError as error:
        raise placed(where, error) from None


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
    check_choice("unit", counter, UNITS)
    check_choice("part", counter, get_args(Part))
