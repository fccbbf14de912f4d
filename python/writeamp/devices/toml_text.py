"""Read TOML files, with errors of one sentence."""

from __future__ import annotations

import os
import re
from typing import Any

from writeamp.errors import WriteampError
from writeamp.fields.domains import file_name
from writeamp.files import inputs

_MOST_BYTES = 4 << 20
_DEEPEST = 32
_PART_OF_KEY = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
# Limit of a key's length, because time and memory of tomllib grow with its square.
_DEEP_KEY = re.compile(rf"(?<![\w-]){_PART_OF_KEY}(?:[ \t]*+\.[ \t]*+{_PART_OF_KEY}){{{_DEEPEST}}}")


def read_text(path: str | os.PathLike[str], what: str) -> str:
    """Return the text of a file; `what` is its kind, for errors.

    Raises:
        WriteampError: the file cannot be read, or is not UTF-8 text.
    """
    name = file_name(path)
    try:
        return inputs.read_bytes(name, _MOST_BYTES, what).decode()
    except (OSError, ValueError) as error:  # a NUL in the name raises a ValueError
        why = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else None
        if isinstance(error, OSError):
            why = error.strerror
        raise WriteampError(f"cannot read {what} {os.fspath(path)}: {why or error}") from None


def parse(text: str, where: str) -> dict[str, Any]:
    """Return the table of a TOML text.

    Raises:
        WriteampError: invalid TOML, or values nested too deeply.
    """
    import tomllib  # noqa: PLC0415 (slow; not needed for help)

    deep = WriteampError(f"{where}: not valid TOML: its values are nested too deeply")
    if _DEEP_KEY.search(text):
        raise deep
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise WriteampError(f"{where}: not valid TOML: {error}") from None
    except RecursionError:
        raise deep from None
    except ValueError as error:  # Python rejects numbers of thousands of digits
        raise WriteampError(f"{where}: not valid TOML: {error}") from None
    if _is_deep(table):
        raise deep
    return table


def _is_deep(table: dict[str, Any]) -> bool:
    level: list[Any] = [table]
    for _ in range(_DEEPEST):
        inner = (item.values() if isinstance(item, dict) else item for item in level)
        level = [value for items in inner for value in items if isinstance(value, dict | list)]
    return bool(level)
