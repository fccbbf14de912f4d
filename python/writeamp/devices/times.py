"""Tables of a device's times in a profile, which are passed to the engine unchanged.

The engine checks their keys and values (crates/engine/src/timing/params.rs). Here they are stored
as one JSON text, so that a device can be compared and hashed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from writeamp.devices import toml_text
from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import finite, shown

# Names of the tables of a flash drive, and of a disk.
FLASH_TABLES = (
    "timing",
    "program",
    "bus",
    "host",
    "scheduling",
    "collection",
    "write_cache",
    "map_cache",
    "refresh",
    "slc",
    "errors",
)
DISK_TABLES = ("disk", "host")
# Key of the only value that is a list of rows of numbers.
_OF_ROWS = "errors.raw_bit_error_rate"

Tables: TypeAlias = dict[str, dict[str, Any]]
_FORM = "TABLE.KEY=VALUE, such as timing.read_us=50"

# One or several texts "TABLE.KEY=VALUE", or a mapping from "TABLE.KEY" to a value.
ChangesLike: TypeAlias = str | Iterable[str] | Mapping[str, Any]


def canonical(tables: Tables, where: str) -> str:
    """Return the canonical JSON text of tables, or "" without tables.

    Raises:
        WriteampError: a value that is not a number, text, true or false, list of numbers, or list
            of rows of numbers.
    """
    plain = {
        title: {key: _plain(f"{where}: {title}.{key}", value) for key, value in table.items()}
        for title, table in tables.items()
    }
    return json.dumps(plain, sort_keys=True, separators=(",", ":")) if plain else ""


def tables_of(text: str) -> Tables:
    """Return the tables of a text from `canonical`."""
    return json.loads(text) if text else {}


class Changes:
    """Domain of `set`: values for keys of a profile's tables, as "TABLE.KEY=VALUE"."""

    takes = "ChangesLike"

    def check(self, name: str, value: Any) -> tuple[str, ...]:
        """Return the texts sorted by key; the last text for a key wins."""
        if isinstance(value, Mapping):
            texts: Iterable[Any] = [_text(*_place(key), item) for key, item in value.items()]
        elif isinstance(value, str):
            texts = [value]
        elif isinstance(value, Iterable):
            texts = value
        else:
            raise WriteampError(
                f'{name} is {shown(value)}; it must be texts such as "timing.read_us=50", or a '
                "value for each such key"
            )
        last = {split[:2]: split[2] for split in map(split_change, texts)}
        return tuple(_text(*place, last[place]) for place in sorted(last))


def split_change(text: Any) -> tuple[str, str, Any]:
    """Return table, key and value of "TABLE.KEY=VALUE".

    >>> split_change("timing.program_us=[300, 1500]")
    ('timing', 'program_us', [300, 1500])
    """
    place, _, value = text.partition("=") if isinstance(text, str) else (text, "", "")
    table, key = _place(place)
    if not value.strip():
        raise WriteampError(f"set has no value in {shown(text)}; it must be {_FORM}")
    try:
        parsed = toml_text.parse(f"value = {value}", "value")
    except WriteampError:
        parsed = {}
    if parsed.keys() != {"value"}:
        # Shells remove quotes, unless they are within other quotes.
        word = value.strip() if value.strip().isidentifier() else "word"
        raise WriteampError(
            f"set is {shown(text)}; its value must be TOML: a number, true, false, a list such as "
            f"[300,1500], or text in quotes, in a shell as '{table}.{key}=\"{word}\"'"
        )
    return table, key, parsed["value"]


def changed(
    tables: Tables, changes: Iterable[str], changeable: Iterable[str], device: str
) -> Tables:
    """Return tables with some values replaced.

    Args:
        tables: tables by name.
        changes: texts checked by `Changes`.
        changeable: names of tables that can be changed.
        device: name of the device, for errors.

    Raises:
        WriteampError: a table that the device does not have.
    """
    changeable = tuple(changeable)
    new_tables = {title: dict(table) for title, table in tables.items()}
    for table, key, value in (split_change(text) for text in changes):
        if table not in changeable:
            raise unknown(f"table of {device} in set", table, changeable)
        new_tables.setdefault(table, {})[key] = value
    return new_tables


def _plain(where: str, value: Any) -> Any:
    """Return a value as JSON types with canonical numbers: 50.0 becomes 50."""
    if isinstance(value, list):
        of_rows = where.endswith(_OF_ROWS)
        return [_plain_row(where, item) if of_rows else _number(where, item) for item in value]
    return value if isinstance(value, str | bool) else _number(where, value)


def _plain_row(where: str, row: Any) -> list[int | float]:
    if not isinstance(row, list):
        raise WriteampError(f"{where} has {shown(row)}; it must be a list of lists of numbers")
    return [_number(where, item) for item in row]


def _number(where: str, value: Any) -> int | float:
    number = finite(value)
    if math.isnan(number):
        raise WriteampError(
            f"{where} is {shown(value)}; it must be a finite number, text, true or false, or a "
            "list of numbers"
        )
    if isinstance(value, int):
        return value
    return int(number) if number.is_integer() else number


def _place(text: Any) -> tuple[str, str]:
    """Return the names of table and key in "TABLE.KEY"."""
    table, dot, key = text.strip().partition(".") if isinstance(text, str) else ("", "", "")
    if not (table and dot and key):
        raise WriteampError(f"set has {shown(text)}; it must be {_FORM}")
    return table, key


def _text(table: str, key: str, value: Any) -> str:
    """Return a change as TOML; JSON numbers, texts and lists are valid TOML."""
    plain = _plain(f"set: {table}.{key}", value)
    return f"{table}.{key}={json.dumps(plain, ensure_ascii=False)}"
