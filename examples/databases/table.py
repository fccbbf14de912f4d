#!/usr/bin/env python3
"""Run every row of docs/what-your-database-does.md, and write its table and its picture.

Needs root, and the Debian packages nbdkit, libnbd-bin, fio, postgresql, rocksdb-tools and git:

    sudo .venv/bin/python examples/databases/table.py docs/images/databases.png
"""

from __future__ import annotations

import argparse
import json
import math
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

HERE = "examples/databases"
SERVE = (
    *("serve", "--device", "tlc-datacenter", "--size", "512MiB", "--pages-per-block", "1104"),
    *("--mount", "mnt", "--json"),
)
SQLITE = f"{HERE}/sqlite.py $mountpoint/db.sqlite"
ROWS = {
    "fio, 4 KiB in place": (
        "fio --name=w --directory=$mountpoint --rw=randwrite --bs=4k --size=300m --io_size=1500m "
        "--norandommap --direct=1 --fdatasync=8"
    ),
    "SQLite, rollback journal": f"{SQLITE} --journal delete --updates 30000",
    "SQLite, WAL": f"{SQLITE} --journal wal",
    "SQLite, WAL, 100 a commit": f"{SQLITE} --journal wal --batch 100 --updates 600000",
    "PostgreSQL, TPC-B": f"{HERE}/postgres.sh 10 60000",
    "PostgreSQL, no full pages": f"{HERE}/postgres.sh 10 60000 full_page_writes=off",
    "RocksDB, leveled": f"{HERE}/rocksdb.sh level 500000 1500000",
    "RocksDB, universal": f"{HERE}/rocksdb.sh universal 250000 2000000",
    "git, clone and gc": f"{HERE}/git.sh 400 400 20",
}
LAYERS = ("application_bytes", "device_bytes", "flash_bytes")
LABELS = ("the program", "the file system", "the drive")
COLORS = ("#4c78a8", "#f2a541", "#c8553d")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", type=Path)
    parser.add_argument("--only", help="rows whose name holds this")
    asked = parser.parse_args()
    # Ctrl-C is for the drive, which takes itself down and then fails; nobody may kill it before.
    signal.signal(signal.SIGINT, lambda *_: None)
    rows = {name: run for name, run in ROWS.items() if asked.only is None or asked.only in name}
    found = {}
    for name, run in rows.items():
        print(f"{name} …", file=sys.stderr)
        found[name] = served(run)
        print(markdown_row(name, found[name]), flush=True)
    draw(found, asked.picture)


def served(run: str) -> dict[str, Any]:
    """Return what `writeamp serve` says of a command."""
    writeamp = Path(sys.executable).with_name("writeamp")
    with subprocess.Popen([writeamp, *SERVE, "--run", run], stdout=subprocess.PIPE) as serving:
        document, _ = serving.communicate()
    if serving.returncode != 0:
        raise SystemExit(f"{run} failed with status {serving.returncode}")
    result: dict[str, Any] = json.loads(document)
    return result


def sizes_mb(result: dict[str, Any]) -> list[float]:
    """Return the MB of each layer; NaN of a program whose bytes on the drive are unknown."""
    program, *others = (result["layers"][name] for name in LAYERS)
    is_known = result["layers"]["factors"]["file_system"] is not None
    return [(program if is_known else math.nan) / 1e6, *(size / 1e6 for size in others)]


def factors(result: dict[str, Any]) -> list[float]:
    """Return what each layer makes of a byte of the program."""
    sizes = sizes_mb(result)
    return [size / sizes[0] for size in sizes]


def markdown_row(name: str, result: dict[str, Any]) -> str:
    """Return a row of the table: bytes of each layer, and the factors between them."""
    application, device, flash = sizes_mb(result)
    row = (
        f"| {name} | {application:,.0f} | {device:,.0f} | {flash:,.0f} | "
        f"{device / application:.2f} | {flash / device:.2f} | {flash / application:.2f} | "
        f"{result['host']['flushes']:,} |"
    )
    return row.replace("nan", "unknown")


def draw(found: dict[str, dict[str, Any]], picture: Path) -> None:
    """Draw what each layer wrote for a byte of the program."""
    height = 0.26
    at = np.arange(len(found))
    figure, axes = plt.subplots(figsize=(8, 0.62 * len(found) + 1.4), layout="constrained")
    for layer, (label, color) in enumerate(zip(LABELS, COLORS, strict=True)):
        values = [factors(result)[layer] for result in found.values()]
        bars = axes.barh(at + (layer - 1) * height, values, height, label=label, color=color)
        axes.bar_label(bars, [f"{value:.2f}" for value in values], padding=3, fontsize=8)
    axes.set_yticks(at, list(found))
    axes.invert_yaxis()
    axes.set_xlabel("bytes written for each byte that the program writes")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower right", frameon=False, title="written by")
    figure.savefig(picture, dpi=150)


if __name__ == "__main__":
    main()
