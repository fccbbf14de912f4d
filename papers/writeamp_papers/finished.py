"""Finished parts of a reproduction, in a folder from which a later reproduction continues.

A part is reused only if the engine, every file that could affect it and the folder of traces are
the same, so that changes are never hidden by older results.
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

# Folders of writeamp, and modules of this package, that only show or judge results.
_BYSTANDERS = ("cli", "pages", "plots", "reports")
_SHOWING = ("cli", "every_paper", "gallery", "known", "papers", "reproduction", "settings", "verbs")
# Other files of the package are texts of pages.
_READ_SUFFIXES = (".py", ".toml", ".json")
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
    files = sorted(path for path in root.rglob("*.*") if path.suffix in _READ_SUFFIXES)
    measuring = [path for path in files if path.relative_to(root).parts[0] not in bystanders]
    for path in (*measuring, *sorted(own)):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


class FinishedParts:
    """Finished parts of one paper in the folder `Bench.resume`; without a folder, none.

    Figures of a part are drawn as soon as it is finished.
    """

    def __init__(self, paper: str, bench: Bench) -> None:
        """Choose the files by paper, form, code and traces."""
        self._bench = bench
        self._name = f"{paper}, {'full' if bench.full else 'short'}"
        self._key = ""
        if bench.resume is not None:
            text = code_hash(_BYSTANDERS, _own(paper)) + _listing(bench.traces)
            self._key = hashlib.sha256(text.encode()).hexdigest()[:16]

    def items(self, number: int) -> list[Item] | None:
        """Return the items of a part; None if it must be computed.

        It must also be computed if figures are asked for, and one is not there or none was made.
        """
        path = self._path(number)
        if path is None or not path.is_file():
            return None
        try:
            document = json.loads(read_bytes(path, _MOST_BYTES, "finished part"))
            items = [_item(row) for row in document["items"]]
            return items if self._has_figures(document["figures"]) else None
        except (WriteampError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return None

    def put(self, number: int, findings: Findings) -> None:
        """Draw a part's figures and keep the part, unless this machine cannot run all of it."""
        plots = self._bench.plots
        if plots is not None:
            for name, spec in findings.figures.items():
                self._bench.step(f"drawing {name}")
                save(spec, plots / f"{name}.png")
        path = self._path(number)
        if path is None or findings.skipped:
            return
        document = {
            "items": [asdict(item) for item in findings.items],
            "figures": None if plots is None else list(findings.figures),
        }
        with output.replacing(path, "finished part") as file:
            file.write(json.dumps(document).encode())

    def _path(self, number: int) -> Path | None:
        if self._bench.resume is None:
            return None
        return self._bench.resume / f"{self._name}, part {number}, {self._key}.json"

    def _has_figures(self, names: list[str] | None) -> bool:
        """Return whether figures of these names are there, if they are asked for."""
        plots = self._bench.plots
        if plots is None:
            return True
        return names is not None and all((plots / f"{name}.png").is_file() for name in names)


def _own(paper: str) -> tuple[Path, ...]:
    """Return the files of this package that a paper may use, without its known differences."""
    here = Path(__file__).parent
    of_paper = (here / paper.replace("-", "_")).glob("*.*")
    used = (path for path in of_paper if path.name != "known.toml")
    common = (path for path in here.glob("*.py") if path.stem not in _SHOWING)
    return (*common, *here.glob("learners/*.py"), *used)


def _listing(folder: Path | None) -> str:
    """Return names, sizes and times of change of the files in a folder, if there is one."""
    files = sorted(path for path in folder.iterdir() if path.is_file()) if folder else []
    stats = [(path.name, path.stat()) for path in files]
    return "".join(f"{name}\0{stat.st_size}\0{stat.st_mtime_ns}\0" for name, stat in stats)


def _item(row: dict[str, Any]) -> Item:
    """Return the item from JSON types; wrong types raise one of several exceptions."""
    erratum = row["erratum"]
    values = {name: float(ours) for name, ours in row["values"].items()}
    if not values:
        raise ValueError("an item has no value")
    item = Item(**row | {"values": values, "erratum": Erratum(**erratum) if erratum else None})
    item.to_dict()
    return item
