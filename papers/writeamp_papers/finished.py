"""Finished parts of a reproduction, in a folder from which a later reproduction continues.

A part is reused only if the engine and every file that could affect it are byte-identical, so that
changes of the code are never hidden by older results.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import writeamp
from writeamp import _engine
from writeamp.errors import WriteampError
from writeamp.files import output
from writeamp.files.inputs import read_bytes
from writeamp.plots import save
from writeamp_papers.bench import Bench, Findings
from writeamp_papers.items import Erratum, Item

# Folders of writeamp that only show results.
_BYSTANDERS = ("cli", "pages", "plots", "reports")
_MOST_BYTES = 16 << 20


@cache
def code_hash(bystanders: Collection[str], own: Collection[Path]) -> str:
    """Return a hash of the engine and of all files that may affect a result.

    Args:
        bystanders: folders of writeamp whose files do not affect it.
        own: files of this package that do.
    """
    root = Path(writeamp.__file__).parent
    digest = hashlib.sha256(Path(_engine.__file__).read_bytes())
    files = sorted([*root.rglob("*.py"), *root.rglob("*.toml")])
    measuring = [path for path in files if path.relative_to(root).parts[0] not in bystanders]
    for path in (*measuring, *sorted(own)):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


class FinishedParts:
    """Finished parts of one paper in the folder `Bench.resume`; without a folder, none.

    Figures of a part are drawn as soon as it is finished.
    """

    def __init__(self, paper: str, bench: Bench) -> None:
        """Choose the files by paper, form and code."""
        here = Path(__file__).parent
        own = (*here.glob("*.py"), *(here / paper.replace("-", "_")).glob("*.py"))
        self._bench = bench
        self._form = "full" if bench.full else "short"
        self._name = f"{paper}, {self._form}"
        self._key = "" if bench.resume is None else code_hash(_BYSTANDERS, own)[:16]

    def items(self, number: int) -> list[Item] | None:
        """Return the items of a part; None if it must be computed.

        It must also be computed if one of its figures is asked for and not there.
        """
        path = self._path(number)
        if path is None or not path.is_file():
            return None
        try:
            document = json.loads(read_bytes(path, _MOST_BYTES, "finished part"))
            items = [_item(row) for row in document["items"]]
            figures = [self._figure(str(name)) for name in document["figures"]]
        except (WriteampError, ValueError, TypeError, KeyError):
            return None
        if any(figure is not None and not figure.is_file() for figure in figures):
            return None
        return items

    def put(self, number: int, findings: Findings) -> None:
        """Draw a part's figures and keep the part, unless this machine cannot run all of it."""
        for name, spec in findings.figures.items():
            if figure := self._figure(name):
                self._bench.step(f"drawing {name}")
                save(spec, figure)
        path = self._path(number)
        if path is None or findings.skipped:
            return
        document = {
            "items": [asdict(item) for item in findings.items],
            "figures": list(findings.figures),
        }
        with output.replacing(path, "finished part") as file:
            file.write(json.dumps(document).encode())

    def _path(self, number: int) -> Path | None:
        if self._bench.resume is None:
            return None
        traces = ", traces" if self._bench.traces else ""
        return self._bench.resume / f"{self._name}, part {number}{traces}, {self._key}.json"

    def _figure(self, name: str) -> Path | None:
        return None if self._bench.plots is None else self._bench.plots / f"{name}.png"


def _item(row: dict[str, Any]) -> Item:
    erratum = row["erratum"]
    return Item(**row | {"erratum": Erratum(**erratum) if erratum else None})
