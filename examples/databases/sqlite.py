#!/usr/bin/env python3
"""SQLite: a table of 500-byte rows, filled in order and then updated at random.

Example: sqlite.py mnt/db.sqlite --journal wal --batch 1
"""

from __future__ import annotations

import argparse
import random
import sqlite3
from pathlib import Path

ROW_BYTES = 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("database", type=Path)
    parser.add_argument("--journal", default="wal", help="wal, delete, truncate or persist")
    parser.add_argument("--batch", type=int, default=1, help="updates in a transaction")
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--updates", type=int, default=60_000)
    asked = parser.parse_args()
    draw = random.Random(1)
    database = sqlite3.connect(asked.database, isolation_level=None)
    database.execute(f"PRAGMA journal_mode = {asked.journal}")
    database.execute("PRAGMA synchronous = full")
    database.execute("CREATE TABLE item (key INTEGER PRIMARY KEY, value BLOB)")
    database.execute("BEGIN")
    database.executemany(
        "INSERT INTO item VALUES (?, ?)",
        ((key, draw.randbytes(ROW_BYTES)) for key in range(asked.rows)),
    )
    database.execute("COMMIT")
    for _ in range(asked.updates // asked.batch):
        database.execute("BEGIN")
        for _ in range(asked.batch):
            found = (draw.randbytes(ROW_BYTES), draw.randrange(asked.rows))
            database.execute("UPDATE item SET value = ? WHERE key = ?", found)
        database.execute("COMMIT")
    database.close()


if __name__ == "__main__":
    main()
