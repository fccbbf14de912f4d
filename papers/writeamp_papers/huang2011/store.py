"""Store of measurements; each key covers all settings and code that affect the measurement.

A row is reused only if the engine and every file that could affect it are byte-identical, so
that changes of the code are never hidden by older rows.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path

import polars as pl

from writeamp.devices.device import device
from writeamp.files import output
from writeamp.files.tables import read_parquet
from writeamp_papers.finished import code_hash
from writeamp_papers.huang2011.devices import DEVICES
from writeamp_papers.huang2011.runs import METRICS, Stretch

# Folders of writeamp that do not affect measurements, and files of this folder that do.
_BYSTANDERS = (
    "cli",
    "custom",
    "drives",
    "pages",
    "plots",
    "reports",
    "results",
    "theory",
    "vssd",
)
_OWN = tuple(Path(__file__).with_name(name) for name in ("devices.py", "runs.py", "workloads.py"))


@lru_cache(maxsize=1024)
def key_of(stretch: Stretch) -> str:
    """Return the key under which the rows of a stretch (series of runs) are stored."""
    meaning = {
        "code": code_hash(_BYSTANDERS, _OWN),
        "device": device(DEVICES[stretch.device]).meaning(with_times=True),
        "stretch": asdict(stretch),
    }
    text = json.dumps(meaning, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class Store:
    """Measured series of runs, in memory and, if a folder is given, in its files."""

    def __init__(self) -> None:
        """Start without measurements."""
        self._rows: dict[str, pl.DataFrame] = {}

    def get(self, stretch: Stretch, folder: Path | None) -> pl.DataFrame | None:
        """Return a row of metrics for each run of a series, or None if it is not stored."""
        key = key_of(stretch)
        path = None if folder is None else folder / _file(stretch, key)
        if key not in self._rows and path is not None and path.exists():
            table = _read(path)
            if table is not None and table.height == len(stretch.points):
                self._rows[key] = table
        return self._rows.get(key)

    def put(self, stretch: Stretch, rows: list[tuple[float, ...]], folder: Path | None) -> None:
        """Store a series; a file is written atomically if there is a folder."""
        key = key_of(stretch)
        table = pl.DataFrame(rows, schema=dict.fromkeys(METRICS, pl.Float64), orient="row")
        self._rows[key] = table
        if folder is not None:
            with output.replacing(folder / _file(stretch, key), "measurements") as file:
                table.write_parquet(file)


def _file(stretch: Stretch, key: str) -> str:
    return f"{stretch.device}, {stretch.way.name}, {key}.parquet"


def _read(path: Path) -> pl.DataFrame | None:
    """Return a table of metrics, or None if the file is invalid and must be measured again."""
    try:
        table = read_parquet(path)
    except (OSError, pl.exceptions.PolarsError):
        return None
    return table if table.columns == list(METRICS) else None
