"""Reading of TOML files: a table, or an error of one sentence that says why not."""

from __future__ import annotations

import os
import tomllib
from typing import Any

from writeamp import files
from writeamp.domains import file_name
from writeamp.errors import WriteampError


def read_text(path: str | os.PathLike[str], what: str) -> str:
    """Return the text of a file, `what` it is for errors.

    Raises:
        WriteampError: it cannot be read, or is not UTF-8 text.
    """
    given = file_name(path)
    try:
        return files.local(given).read_text("utf-8")
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
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise WriteampError(f"{where}: not valid TOML: {error}") from None
    except RecursionError:
        raise WriteampError(f"{where}: not valid TOML: its values are nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits
        raise WriteampError(f"{where}: not valid TOML: {error}") from None
