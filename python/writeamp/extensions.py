"""Extension points: additions to the core by other parts of writeamp and by other packages.

The core never imports them by name. Each declares an entry point in its `pyproject.toml`, in one of

- `writeamp.verbs`: a verb of the command, as `writeamp.cli.verbs.Verb`
- `writeamp.ways`: a way of `writeamp answer`, as `writeamp.answers.way.Way`
- `writeamp.lists`: a kind of `writeamp list`: a function that returns pairs of name and summary
- `writeamp.learners`: a kind of black-box model, as
  `writeamp.learn.blackbox.model_kinds.ModelKind`
- `writeamp.placements` and `writeamp.victims`: classes of policies, as `writeamp.custom` has them
- `writeamp.findings`: functions that check the input of another verb, as
  `writeamp.drives.doctor.in_passing` has them
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from glob import glob
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from writeamp.errors import WriteampError

PAPERS_MISSING = (
    "the package writeamp-papers, which has the reproductions of papers and their black-box "
    "models, is not installed; run `pip install writeamp-papers`, or `make` in a checkout of "
    "writeamp"
)
_OURS = ("writeamp", "writeamp_papers")
# Other names would break tables, or look like options.
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


class Extension(NamedTuple):
    """An entry point: its name, its target (`module` or `module:attribute`), and its package."""

    name: str
    value: str
    package: str

    @property
    def is_ours(self) -> bool:
        """Whether it comes with writeamp or with its papers."""
        return self.package in _OURS

    def load(self) -> Any:
        """Import the target.

        Raises:
            WriteampError: the import of another package's target fails, for any reason.
        """
        module, _, attributes = self.value.partition(":")
        try:
            found: Any = import_module(module)
            for attribute in filter(None, attributes.split(".")):
                found = getattr(found, attribute)
        except (Exception, SystemExit) as error:
            if self.is_ours:
                raise
            raise self.fault(f"{type(error).__name__}: {error}") from error
        return found

    def fault(self, reason: str) -> WriteampError:
        """Return the error of an unusable entry point."""
        where = self.value.replace(":", ", ")
        return WriteampError(
            f"{self.name} of the package {self.package} cannot be used ({where}): {reason}"
        )


def loaded(found: Iterable[Extension], kind: type) -> dict[str, Any]:
    """Import extensions, and return those of a type by name.

    Unusable ones of other packages are left out with a `RuntimeWarning`.
    """
    usable = {}
    for one in found:
        try:
            value = one.load()
            if not isinstance(value, kind):
                raise one.fault(f"it is not a {kind.__name__}")
            usable[one.name] = value
        except WriteampError as error:
            if one.is_ours:
                raise
            import warnings  # noqa: PLC0415 (seldom)

            warnings.warn(str(error), RuntimeWarning, stacklevel=2)
    return usable


@cache
def extensions(group: str) -> dict[str, Extension]:
    """Return the entry points of a group by name; those of writeamp itself win over others."""
    found: dict[str, Extension] = {}
    for one in sorted(_declared(group), key=lambda one: not one.is_ours):
        found.setdefault(one.name, one)
    return found


def _declared(group: str) -> Iterator[Extension]:
    """Yield the entry points of the packages in the folders of Python's path, in its order.

    `importlib.metadata` also looks into archives, and takes a tenth of the time of
    `writeamp --help`.
    """
    for folder in sys.path:
        for name in sorted(glob("*-info/entry_points.txt", root_dir=folder or ".")):
            with suppress(OSError):
                text = Path(folder, name).read_bytes().decode("utf-8-sig", "replace")
                yield from _of_group(group, name.partition("-")[0], text)


def _of_group(group: str, package: str, text: str) -> Iterator[Extension]:
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            section = line.strip("[]")
        elif section == group and "=" in line:
            name, _, value = line.partition("=")
            if _NAME.fullmatch(name := name.strip()):
                value = value.partition("[")[0].replace(" ", "")
                yield Extension(name, value, package)
