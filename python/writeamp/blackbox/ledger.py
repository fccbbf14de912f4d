"""Ledger of measurements: a Parquet file, and a journal that each one is added to.

A line of the journal is in the system's hands before the next point begins, so that a process that
is killed loses no more than the points under way. When a collection ends, also by Ctrl-C, file and
journal become the new file, which takes the old one's place whole. Killed between that and the end
of the journal, it leaves rows twice, of which one is taken.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import polars as pl

from writeamp import output
from writeamp.blackbox.rows import SCHEMA, Row, table_of
from writeamp.errors import WriteampError

_WHAT = "measurements"


class Ledger:
    """Measurements in a Parquet file; to be opened by `writing`, or read by `read`."""

    def __init__(self, path: Path, journal: TextIO, rows: list[Row]) -> None:
        """Take what `writing` has opened."""
        self._path = path
        self._journal = journal
        self.rows = rows

    @staticmethod
    @contextmanager
    def writing(path: str | os.PathLike[str]) -> Iterator[Ledger]:
        """Give the ledger of a file, made if there is none; at the end the file is whole.

        Raises:
            WriteampError: the file is something else, cannot be written, or another collection
                writes to it.
        """
        found = Path(path)
        output.check_target(found, _WHAT)
        with _journal_of(found) as journal:
            rows = _rows_of(found) + _rows_in(journal)
            ledger = Ledger(found, journal, rows)
            try:
                yield ledger
            finally:
                ledger._close()

    @staticmethod
    def read(path: str | os.PathLike[str]) -> pl.DataFrame:
        """Return the rows of a file.

        Raises:
            WriteampError: there is none, or it holds something else.
        """
        found = Path(path)
        if not found.exists():
            raise WriteampError(f"there is no file {str(found)!r}; `blackbox collect` makes one")
        return table_of(_rows_of(found))

    def add(self, row: Row) -> None:
        """Keep a row: nothing but a crash of the machine can lose it.

        Raises:
            WriteampError: the disk is full, or cannot be written.
        """
        try:
            self._journal.write(json.dumps(row, allow_nan=False) + "\n")
            self._journal.flush()
        except OSError as error:
            raise WriteampError(f"cannot write {self._journal.name!r}: {error.strerror}") from None
        self.rows.append(row)

    def table(self) -> pl.DataFrame:
        """Return all rows, each once."""
        return table_of(self.rows)

    def _close(self) -> None:
        if os.fstat(self._journal.fileno()).st_size == 0:
            return
        with output.replacing(self._path, _WHAT) as file:
            self.table().write_parquet(file)
        Path(self._journal.name).unlink(missing_ok=True)


@contextmanager
def _journal_of(path: Path) -> Iterator[TextIO]:
    """Give the journal, of which only this process may have it; one without rows goes again."""
    name = path.with_name(f"{path.name}.journal")
    with _locked(name, path) as journal:
        try:
            yield journal
        finally:
            if os.fstat(journal.fileno()).st_size == 0:
                name.unlink(missing_ok=True)


def _locked(name: Path, path: Path) -> TextIO:
    while True:
        try:
            journal = name.open("a+", encoding="utf-8")
        except OSError as error:
            raise WriteampError(f"cannot write {str(name)!r}: {error.strerror}") from None
        try:
            fcntl.flock(journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            journal.close()
            raise WriteampError(
                f"another collection writes to {path}; wait for it, or give another file"
            ) from None
        # Whoever had it before may have removed it since it was opened here.
        if name.exists() and os.path.samestat(name.stat(), os.fstat(journal.fileno())):
            return journal
        journal.close()


def _rows_of(path: Path) -> list[Row]:
    if not path.exists():
        return []
    try:
        table = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        why = str(error).splitlines()[0]
        raise WriteampError(f"{path} cannot be read as a file of measurements: {why}") from None
    if dict(table.schema) != dict(SCHEMA):
        raise WriteampError(
            f"{path} has other columns than measurements have; give another file, or one that "
            "`blackbox collect` has made"
        )
    return table.to_dicts()


def _rows_in(journal: TextIO) -> list[Row]:
    """Return the rows of the complete lines.

    A last line that a killed process left incomplete is cut off.
    """
    journal.seek(0)
    text = journal.read()
    whole, _, torn = text.rpartition("\n")
    if torn:
        journal.truncate(len(text.encode()) - len(torn.encode()))
    try:
        rows = [json.loads(line) for line in whole.splitlines()]
    except ValueError:
        raise WriteampError(
            f"{journal.name!r} is no journal of measurements; remove it, or give another file"
        ) from None
    for row in rows:
        if not isinstance(row, dict) or set(row) != set(SCHEMA):
            raise WriteampError(
                f"{journal.name!r} is a journal of another version; remove it, or give another file"
            )
    return rows
