#!/usr/bin/env python3
"""Upsert random rows of a SQLite table, like a program that counts or caches by key.

    writeamp serve --device tlc-datacenter --size 2GiB --mount mnt --fs ext4 \
        --run 'python3 examples/sqlite_upserts.py mnt/db.sqlite'

Each transaction inserts or updates a few rows with random keys; the table has at most
`--rows` rows, about 15 MB by default.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

TABLE = """
CREATE TABLE IF NOT EXISTS entries (key INTEGER PRIMARY KEY, count INTEGER, value BLOB)
"""
UPSERT = """
INSERT INTO entries (key, count, value) VALUES (?, 1, ?)
ON CONFLICT (key) DO UPDATE SET count = count + 1, value = excluded.value
"""
VALUE_BYTES = 200


def main() -> None:
    """Run the upserts, and print a line about them."""
    settings = options()
    draws = random.Random(settings.seed)
    with sqlite3.connect(settings.database) as database:
        database.execute(f"PRAGMA journal_mode = {settings.journal}")
        database.execute("PRAGMA synchronous = FULL")
        database.execute(TABLE)
        for _ in range(settings.transactions):
            with database:
                database.executemany(UPSERT, rows(draws, settings))
        (row_count,) = database.execute("SELECT count(*) FROM entries").fetchone()
    print(
        f"{settings.transactions} transactions of {settings.batch} upserts: {row_count} rows, "
        f"{settings.database.stat().st_size / 1e6:.1f} MB"
    )


def rows(draws: random.Random, settings: argparse.Namespace) -> Iterator[tuple[int, bytes]]:
    """Return the rows of one transaction."""
    for _ in range(settings.batch):
        yield draws.randrange(settings.rows), draws.randbytes(VALUE_BYTES)


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("database", type=Path, help="file of the database; may exist")
    parser.add_argument("--transactions", type=int, default=8_000, help="default 8000")
    parser.add_argument("--batch", type=int, default=10, help="upserts in each; default 10")
    parser.add_argument("--rows", type=int, default=60_000, help="keys; default 60000")
    parser.add_argument("--journal", choices=["delete", "wal"], default="wal", help="default wal")
    parser.add_argument("--seed", type=int, default=1, help="seed of all random draws; default 1")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
