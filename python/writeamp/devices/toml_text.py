"""Reading of TOML files: a table, or an error of one sentence that says why not."""

from __future__ import annotations

import os
import re
import tomllib
from typing import Any

from writeamp.errors import WriteampError
from writeamp.fields.domains import file_name
from writeamp.files import inputs

_MOST_BYTES = 4 << 20
_DEEPEST = 32
_PART_OF_KEY = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
# tomllib takes time and memory with the square of a key's length.
_DEEP_KEY = re.compile(rf"(?<![\w-]){_PART_OF_KEY}(?:[ \t]*+\.[ \t]*+{_PART_OF_KEY}){{{_DEEPEST}}}")


def read_text(path: str | os.PathLike[str], what: str) -> str:
    """Return the text of a file, `what` it is for errors.

    Raises:
        WriteampError: it cannot be read, or is not UTF-8 text.
    """
    given = file_name(path)
    try:
        return inputs.read_bytes(given, _MOST_BYTES, what).decode()
    except (OSError, ValueError) as error:  # also a NUL in the name
        why = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else None
        if isinstance(error, OSError):
            why = error.strerror
        raise WriteampError(f"cannot read {what} {os.fspath(path)}: {why or error}") from None


def parse(text: str, where: str) -> dict[str, Any]:
    """Return the table of a TOML text.

    Raises:
        WriteampError: it is not TOML, or nothing that a person wrote.
    """
    deep = WriteampError(f"{where}: not valid TOML: its values are nested too deeply")
    if _DEEP_KEY.search(text):
        raise deep
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise WriteampError(f"{where}: not valid TOML: {error}") from None
    except RecursionError:
        raise deep from None
    except ValueError as error:  # a number of thousands of digits
        raise WriteampError(f"{where}: not valid TOML: {error}") from None
    if _is_deep(table):
        raise deep
    return table


def _is_deep(table: dict[str, Any]) -> bool:
    level: list[Any] = [table]
    for _ in range(_DEEPEST):
        parts = (one.values() if isinstance(one, dict) else one for one in level)
        level = [value for part in parts for value in part if isinstance(value, dict | list)]
    return bool(level)
