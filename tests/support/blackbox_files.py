"""Files of measurements and of models, for the tests of `writeamp blackbox`."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from blackbox_tables import related
from in_process import document, run
from writeamp import traces

WORKLOAD = "random:bs=16k,write=0.5,qd=16"
TARGETS = ["latency", "bandwidth", "throughput", "wa"]


def trained(folder: Path, name: str, *, slowness: float = 1.0) -> None:
    """Make measurements of a drive, and a model of it."""
    table = related(250, slowness=slowness).with_columns(target=pl.lit(name))
    table.write_parquet(folder / f"{name}.parquet")
    found = document("blackbox train", f"{folder}/{name}.parquet --out {folder}/{name}.model")
    assert [one["target"] for one in found["targets"]] == TARGETS


def trained_on_wa(folder: Path, name: str) -> None:
    """Make a model of nothing but WA, which is quickly cross-validated and drawn."""
    run("blackbox train", f"{folder}/{name}.parquet --targets wa --out {folder}/wa.model")


def traced(path: Path) -> None:
    """Make a trace of six seconds with requests that grow, of which the last two only read."""
    count = 600
    seconds = np.arange(count) // 100
    columns = {
        "timestamp_ns": np.arange(count) * 10_000_000,
        "device": np.zeros(count, np.uint32),
        "op": ["write", "read"] * 200 + ["read"] * 200,
        "offset": np.random.default_rng(0).integers(0, 2**12, count) * 65536,
        "length": 8192 * (1 + seconds),
    }
    frame = pl.DataFrame(columns).cast(traces.SCHEMA)  # type: ignore[arg-type]
    traces.write(traces.Trace(frame, "parquet", "made", ["0"]), path)


def rewritten(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change the content of a model file, and make its checksum right again."""
    frame = json.loads(path.read_text())
    content = json.loads(frame["content"])
    change(content)
    frame["content"] = json.dumps(content)
    frame["crc32"] = zlib.crc32(frame["content"].encode())
    path.write_text(json.dumps(frame))
