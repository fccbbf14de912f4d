"""Store of readings (a drive's counter documents with their time), in one SQLite file.

The documents themselves are stored, so that later versions can read more values from them.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from writeamp.errors import WriteampError
from writeamp.fields.domains import file_name
from writeamp.files.inputs import opened
from writeamp.runners import Progress

# SQLite's application id of a history, and the version of its tables.
_APPLICATION, _VERSION = 0x77615F68, 1
_BUSY_S = 60.0
# Limit of bytes of one reading's documents together, in base64; each document has at most 64 MiB.
_MOST_BYTES = 128 << 20
# Readings between two calls of a progress function.
_EVERY = 100
_TABLES = """
CREATE TABLE IF NOT EXISTS readings (
    name TEXT NOT NULL, taken_at REAL NOT NULL, digest TEXT NOT NULL, files BLOB NOT NULL,
    UNIQUE (name, taken_at, digest));
CREATE TABLE IF NOT EXISTS failures (name TEXT NOT NULL, at REAL NOT NULL, reason TEXT NOT NULL);
"""


class StoredReading(NamedTuple):
    """Documents of a source at one moment.

    Attributes:
        name: name of the source.
        taken_at: time of the reading, in seconds since 1970; times inside the documents take
            precedence.
        files: contents by file name; the key is "" if the source is a single file.
    """

    name: str
    taken_at: float
    files: dict[str, bytes]


class Failure(NamedTuple):
    """Source that could not be read in a round."""

    name: str
    at: float
    reason: str


def add(db: Path, readings: Iterable[StoredReading], failures: Iterable[Failure] = ()) -> int:
    """Add readings to a history in one transaction, and return the number of new ones.

    Raises:
        WriteampError: the file is not a history, has a later version, or cannot be written.
    """
    with _opened(db, is_new=not db.exists()) as connection, connection:
        changes_before = connection.total_changes
        connection.executemany(
            "INSERT OR IGNORE INTO readings VALUES (?, ?, ?, ?)", map(_row, readings)
        )
        added = connection.total_changes - changes_before
        connection.executemany("INSERT INTO failures VALUES (?, ?, ?)", failures)
    return added


def _row(reading: StoredReading) -> tuple[str, float, str, bytes]:
    texts = {name: base64.b64encode(content).decode() for name, content in reading.files.items()}
    document = json.dumps(texts, sort_keys=True).encode()
    return (
        reading.name,
        reading.taken_at,
        hashlib.sha256(document).hexdigest(),
        zlib.compress(document),
    )


def readings_in(db: Path, progress: Progress | None = None) -> Iterator[StoredReading]:
    """Yield the readings of a history in order of time.

    Args:
        db: the history.
        progress: called with the number of readings that were yielded, and the total.

    Raises:
        WriteampError: the file does not exist, is not a history, or is damaged.
    """
    if not db.is_file():
        raise WriteampError(
            f"the history {str(db)!r} does not exist. Create one with `writeamp measure watch`"
        )
    with _opened(db, is_new=False) as connection:
        rows = connection.execute("SELECT name, taken_at, files FROM readings ORDER BY taken_at")
        (count,) = connection.execute("SELECT count(*) FROM readings").fetchone()
        for done, (name, taken_at, files) in enumerate(rows):
            if progress is not None and done % _EVERY == 0:
                progress(done, count)
            try:
                texts = json.loads(_unpacked(files))
                contents = {key: base64.b64decode(text) for key, text in texts.items()}
                yield StoredReading(str(name), float(taken_at), contents)
            except (zlib.error, ValueError, TypeError, AttributeError, RecursionError) as error:
                raise WriteampError(f"a reading of {db} is damaged: {error}") from None


def _unpacked(packed: bytes) -> bytes:
    reader = zlib.decompressobj()
    text = reader.decompress(packed, _MOST_BYTES)
    if not reader.eof:
        raise ValueError(f"it is truncated, or larger than {_MOST_BYTES >> 20} MiB")
    return text


def is_history(path: Path) -> bool:
    """Return whether a file is a history, from the SQLite header."""
    try:
        with opened(path) as file:
            head = file.read(72)
    except OSError:
        return False
    return head.startswith(b"SQLite format 3\0") and head[68:] == _APPLICATION.to_bytes(4, "big")


@contextmanager
def _opened(db: Path, *, is_new: bool) -> Iterator[sqlite3.Connection]:
    file_name(db)  # rejects NUL, at which SQLite would cut the name
    mode = "rwc" if is_new else "rw"
    if not is_new and not os.access(db, os.W_OK):
        mode = "ro"
    try:
        with closing(
            sqlite3.connect(f"{db.absolute().as_uri()}?mode={mode}", uri=True, timeout=_BUSY_S)
        ) as connection:
            _check(connection, db, can_write=mode != "ro")
            yield connection
    # SQLite quotes names from a damaged file in its messages, which Python may fail to decode.
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise WriteampError(f"the history {str(db)!r} cannot be used: {error}") from None


def _check(connection: sqlite3.Connection, db: Path, *, can_write: bool) -> None:
    """Initialize an empty file as a history, and reject a file that is not one."""
    # Tables are counted first, as another process may initialize the file between these queries.
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    is_empty = not tables and not application
    if not is_empty and application != _APPLICATION:
        raise WriteampError(f"{str(db)!r} is an SQLite file, but not a history")
    if version > _VERSION:
        raise WriteampError(
            f"the history {str(db)!r} has version {version}; this writeamp reads versions up to "
            f"{_VERSION}"
        )
    # Rewriting the same schema on each read would block processes that add readings.
    if can_write and (is_empty or version < _VERSION):
        # Tables and application id are written in one transaction. Otherwise, another process could
        # see tables without application id, and reject the file as foreign.
        connection.executescript(
            f"BEGIN IMMEDIATE; {_TABLES} PRAGMA application_id = {_APPLICATION}; "
            f"PRAGMA user_version = {_VERSION}; COMMIT"
        )
    if can_write and connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        with suppress(sqlite3.OperationalError):  # another process is setting this mode
            connection.execute("PRAGMA journal_mode = WAL")
    if _schema(connection) != _own_schema():
        # Views and computed columns of a foreign file may run forever, so it is rejected unread.
        raise WriteampError(f"{str(db)!r} is not a history: its tables differ")


@cache
def _own_schema() -> set[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as blank:
        blank.executescript(_TABLES)
        return _schema(blank)


def _schema(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    """Return names and definitions of the two tables, and of any indices or triggers on them."""
    return set(
        connection.execute(
            "SELECT name, sql FROM sqlite_master "
            "WHERE tbl_name IN ('readings', 'failures') AND sql IS NOT NULL"
        )
    )
