"""Files of measurements and of models, also changed as strangers could change them."""

from __future__ import annotations

import base64
import io
import json
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import skops.io
from sklearn.base import BaseEstimator

from blackbox_tables import related
from in_process import document, run
from writeamp import traces
from writeamp.learn.blackbox.models.documents import from_document

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


Members = dict[str, bytes]


def rebuilt(model: BaseEstimator, change: Callable[[Members], None], method: int = 0) -> Any:
    """Load a baseline whose archive was changed."""
    with zipfile.ZipFile(io.BytesIO(skops.io.dumps(model))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    text = base64.b64encode(content.getvalue()).decode()
    return from_document({"kind": "scikit-learn", "skops": text})


def with_nodes(change: Callable[[np.ndarray[Any, Any]], Any]) -> Callable[[Members], None]:
    """Return a change of the first array of nodes."""

    def changed(members: Members) -> None:
        for name, data in members.items():
            nodes = np.load(io.BytesIO(data)) if name.endswith(".npy") else np.zeros(0)
            if nodes.dtype.names:
                found = change(nodes)
                content = io.BytesIO()
                np.save(content, nodes if found is None else found)
                members[name] = content.getvalue()
                return

    return changed


def field(name: str, place: int, value: float) -> Callable[[Members], None]:
    def change(nodes: np.ndarray[Any, Any]) -> None:
        nodes[name][place] = value

    return with_nodes(change)


def schema(old: str, new: str) -> Callable[[Members], None]:
    """Return a change of the text of the schema."""

    def change(members: Members) -> None:
        assert old.encode() in members["schema.json"]
        members["schema.json"] = members["schema.json"].replace(old.encode(), new.encode())

    return change
