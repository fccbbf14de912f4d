"""Tables of a device's times in a profile, carried to the engine as they are.

The engine knows their keys, and checks keys and values (crates/engine/src/timing/params.rs); here
they are one text, so that a device can be compared and hashed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from writeamp.devices import toml_text
from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import finite, shown

# What a flash drive's times stand in, and a disk's.
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
# The one value that is a table itself.
_OF_ROWS = "errors.raw_bit_error_rate"

Tables: TypeAlias = dict[str, dict[str, Any]]
_FORM = "TABLE.KEY=VALUE, such as timing.read_us=50"

# Several "TABLE.KEY=VALUE", or a value for each "TABLE.KEY".
ChangesLike: TypeAlias = str | Iterable[str] | Mapping[str, Any]


def canonical(tables: Tables, where: str) -> str:
    """Return the one text of tables of plain values; no text for no tables.

    Raises:
        WriteampError: a value that is no number, text, true or false, list of numbers, or table
            of numbers.
    """
    plain = {
        title: {key: _plain(f"{where}: {title}.{key}", value) for key, value in table.items()}
        for title, table in tables.items()
    }
    return json.dumps(plain, sort_keys=True, separators=(",", ":")) if plain else ""


def tables_of(text: str) -> Tables:
    """Return the tables of a text that `canonical` made."""
    return json.loads(text) if text else {}


class Changes:
    """The domain of `set`: values for keys of a profile's tables, as "TABLE.KEY=VALUE"."""

    takes = "ChangesLike"

    def check(self, name: str, value: Any) -> tuple[str, ...]:
        """Return the texts, the last of those for one key, in the order of keys."""
        if isinstance(value, Mapping):
            texts: Iterable[Any] = [_text(*_place(key), one) for key, one in value.items()]
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
        found = toml_text.parse(f"value = {value}", "value")
    except WriteampError:
        found = {}
    if found.keys() != {"value"}:
        # Shells take quotes away, unless they stand within others.
        word = value.strip() if value.strip().isidentifier() else "word"
        raise WriteampError(
            f"set is {shown(text)}; its value must be one of TOML: a number, true, false, a list "
            f"such as [300,1500], or text in quotes, in a shell as '{table}.{key}=\"{word}\"'"
        )
    return table, key, found["value"]


def changed(tables: Tables, changes: Iterable[str], known: Iterable[str], whose: str) -> Tables:
    """Return tables with some values replaced.

    Args:
        tables: by name.
        changes: as `Changes` checks them.
        known: the tables that may be changed.
        whose: name of the device, for errors.

    Raises:
        WriteampError: a table that the device has not.
    """
    known = tuple(known)
    found = {title: dict(table) for title, table in tables.items()}
    for table, key, value in (split_change(text) for text in changes):
        if table not in known:
            raise unknown(f"table of {whose} in set", table, known)
        found.setdefault(table, {})[key] = value
    return found


def _plain(where: str, value: Any) -> Any:
    """Return a value as JSON has it, every number in one form: 50.0 and 50 are one time."""
    if isinstance(value, list):
        of_rows = where.endswith(_OF_ROWS)
        return [_plain_row(where, one) if of_rows else _number(where, one) for one in value]
    return value if isinstance(value, str | bool) else _number(where, value)


def _plain_row(where: str, row: Any) -> list[int | float]:
    if not isinstance(row, list):
        raise WriteampError(f"{where} has {shown(row)}; it must be a list of lists of numbers")
    return [_number(where, one) for one in row]


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
    """Return table and key of "TABLE.KEY"."""
    table, dot, key = text.strip().partition(".") if isinstance(text, str) else ("", "", "")
    if not (table and dot and key):
        raise WriteampError(f"set has {shown(text)}; it must be {_FORM}")
    return table, key


def _text(table: str, key: str, value: Any) -> str:
    """Return the change in TOML, whose numbers, texts and lists are written as JSON has them."""
    plain = _plain(f"set: {table}.{key}", value)
    return f"{table}.{key}={json.dumps(plain, ensure_ascii=False)}"
