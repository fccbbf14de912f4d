"""Extension points: what other parts of writeamp, and other packages, add to the core.

The core never imports them by name. Each declares an entry point in its `pyproject.toml`, in one of

- `writeamp.verbs`: a verb of the command, as `writeamp.cli.verbs.Verb`
- `writeamp.ways`: a way of `writeamp answer`, as `writeamp.answers.way.Way`
- `writeamp.lists`: a kind of `writeamp list`: a function that returns pairs of name and summary
- `writeamp.learners`: a kind of black-box model, as
  `writeamp.learn.blackbox.model_kinds.ModelKind`
- `writeamp.findings`: functions that check the input of another verb, as
  `writeamp.drives.doctor.in_passing` has them
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from glob import glob
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

PAPERS_MISSING = (
    "the package writeamp-papers, which has the reproductions of papers and their black-box "
    "models, is not installed; run `pip install writeamp-papers`, or `make` in a checkout of "
    "writeamp"
)


class Extension(NamedTuple):
    """An entry point: its name, and what it leads to as `module` or `module:attribute`."""

    name: str
    value: str

    def load(self) -> Any:
        """Import what it leads to; this raises whatever the import does."""
        module, _, attribute = self.value.partition(":")
        found = import_module(module)
        return getattr(found, attribute) if attribute else found


@cache
def extensions(group: str) -> dict[str, Extension]:
    """Return the entry points of a group by name; those of writeamp itself win over others."""
    found: dict[str, Extension] = {}
    for one in sorted(_declared(group), key=lambda one: not one.value.startswith("writeamp.")):
        found.setdefault(one.name, one)
    return found


def _declared(group: str) -> Iterator[Extension]:
    """Yield the entry points of installed packages, in the order of Python's path.

    `importlib.metadata` would do the same, and takes a tenth of the time of `writeamp --help`.
    """
    for folder in sys.path:
        for name in glob("*-info/entry_points.txt", root_dir=folder or "."):
            with suppress(OSError), open(Path(folder, name), encoding="utf-8") as file:
                yield from _of_group(group, file.read())


def _of_group(group: str, text: str) -> Iterator[Extension]:
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            section = line.strip("[]")
        elif section == group and "=" in line and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            yield Extension(name.strip(), value.partition("[")[0].replace(" ", ""))
