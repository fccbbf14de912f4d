"""Saved baselines whose archives of skops are changed, as strangers could."""

from __future__ import annotations

import base64
import io
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import skops.io
from sklearn.base import BaseEstimator

from writeamp.learn.blackbox.models.documents import from_document

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
