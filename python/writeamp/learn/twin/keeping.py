"""Keeping of windows while they are measured, so that what was interrupted goes on."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from writeamp.errors import WriteampError
from writeamp.files import inputs
from writeamp.files.tables import read_parquet
from writeamp.learn.twin.chain import Chain
from writeamp.learn.twin.windows import MOST_BYTES, Windows, windows_of

# Repeat, window, host bytes and flash bytes of a part.
Row: TypeAlias = tuple[int, int, float, float]

_PARQUET = b"PAR1"
_COLUMNS = ("repeat", "window", "host_bytes", "flash_bytes")


@dataclass
class Kept:
    """Rows that were measured so far, of one chain on one target, in the file of the windows.

    The file says what was asked by a salted digest, which tells nothing of the drive.
    """

    path: Path
    chain: Chain
    asked: str
    rows: list[Row] = field(default_factory=list)

    @staticmethod
    def at(path: Path, chain: Chain, asked: Any) -> Kept:
        """Return what a file holds of a measurement; nothing if it holds another, whole one.

        Args:
            path: the file of the windows, which need not be there.
            chain: what is served.
            asked: all that decides what is measured, as JSON has it.

        Raises:
            WriteampError: it holds a part of another measurement.
        """
        found = _read(path)
        if found is None:
            return Kept(path, chain, _digest(asked, secrets.token_hex(8)))
        told, held, rows = found
        if held == chain.tables() and told == _digest(asked, told.partition(":")[0]):
            return Kept(path, chain, told, rows)
        if len(rows) % _rows_of(chain.from_tables(held, str(path))):
            raise WriteampError(
                f"{path} holds a part of another measurement; start that again to go on with it, "
                "remove the file, or give another --out"
            )
        return Kept(path, chain, _digest(asked, secrets.token_hex(8)))

    @property
    def windows(self) -> Windows:
        """The windows so far."""
        return windows_of(self.chain, self.rows)

    def add(self, rows: Iterable[Row]) -> None:
        """Keep rows: the file is written anew, whole or not at all."""
        import polars as pl  # noqa: PLC0415 (slow)

        self.rows += rows
        self.windows.write(self.path, {"asked": pl.lit(self.asked)})


def _rows_of(chain: Chain) -> int:
    """Return the rows of one repeat, the fill with them."""
    return 1 + len(list(chain.parts(chain.logical_pages)))


def _digest(asked: Any, salt: str) -> str:
    text = json.dumps(asked, sort_keys=True, default=str)
    return f"{salt}:{hashlib.sha256(f'{salt}{text}'.encode()).hexdigest()}"


def _read(path: Path) -> tuple[str, dict[str, Any], list[Row]] | None:
    """Return what was asked, the chain and the rows of a file that was kept; None of any other.

    Raises:
        WriteampError: it cannot be read, or was damaged; it may hold the measurements of hours.
    """
    import polars as pl  # noqa: PLC0415 (slow)

    if not path.is_file():
        return None
    try:
        content = inputs.read_bytes(path, MOST_BYTES, "file of windows")
        frame = read_parquet(content) if content.startswith(_PARQUET) else pl.DataFrame()
    except (OSError, pl.exceptions.PolarsError) as error:
        why = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise WriteampError(
            f"{path} cannot be read as windows: {why}; remove it to measure anew, or give "
            "another --out"
        ) from None
    try:
        return (
            str(frame["asked"][0]),
            json.loads(frame["chain"][0]),
            frame.select(_COLUMNS).rows(),
        )
    except (ValueError, IndexError, pl.exceptions.PolarsError):
        return None
