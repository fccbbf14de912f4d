"""Extension points: additions to the core by other packages, and by writeamp's own ones.

The core never imports an extension by name. A package declares it as an entry point in its
`pyproject.toml`, in one of these groups:

- `writeamp.verbs`: a verb (subcommand) of `writeamp`, a `writeamp.cli.verbs.Verb`
- `writeamp.ways`: a method of `writeamp answer`, a `writeamp.answers.way.Way`
- `writeamp.lists`: a kind of entries that `writeamp list` prints, a function that returns pairs of
  name and summary
- `writeamp.learners`: a kind of black-box model, a
  `writeamp.learn.blackbox.model_kinds.ModelKind`
- `writeamp.placements` and `writeamp.victims`: classes of policies, see `writeamp.custom`
- `writeamp.findings`: functions that check the input of another verb, see
  `writeamp.drives.doctor.in_passing`
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
# Valid names of extensions; other names would break tables or look like options.
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


class Extension(NamedTuple):
    """An entry point: its name, its target (`module` or `module:attribute`), and its package."""

    name: str
    value: str
    package: str

    @property
    def is_ours(self) -> bool:
        """Whether its package is writeamp or writeamp-papers."""
        return self.package in _OURS

    def load(self) -> Any:
        """Import the target.

        Raises:
            WriteampError: the import of another package's target failed.
        """
        module, _, attributes = self.value.partition(":")
        try:
            target: Any = import_module(module)
            for attribute in filter(None, attributes.split(".")):
                target = getattr(target, attribute)
        except (Exception, SystemExit) as error:
            if self.is_ours:
                raise
            raise self.fault(f"{type(error).__name__}: {error}") from error
        return target

    def fault(self, reason: str) -> WriteampError:
        """Return the error for an unusable entry point."""
        where = self.value.replace(":", ", ")
        return WriteampError(
            f"{self.name} of the package {self.package} cannot be used ({where}): {reason}"
        )


def loaded(entry_points: Iterable[Extension], kind: type) -> dict[str, Any]:
    """Import extensions and return those of a type by name.

    An unusable extension of another package is skipped with a `RuntimeWarning`.
    """
    usable = {}
    for extension in entry_points:
        try:
            value = extension.load()
            if not isinstance(value, kind):
                raise extension.fault(f"it is not a {kind.__name__}")
            usable[extension.name] = value
        except WriteampError as error:
            if extension.is_ours:
                raise
            import warnings  # noqa: PLC0415 (rarely needed)

            warnings.warn(str(error), RuntimeWarning, stacklevel=2)
    return usable


@cache
def extensions(group: str) -> dict[str, Extension]:
    """Return the entry points of a group by name; writeamp's own take precedence."""
    by_name: dict[str, Extension] = {}
    for extension in sorted(_declared(group), key=lambda extension: not extension.is_ours):
        by_name.setdefault(extension.name, extension)
    return by_name


def _declared(group: str) -> Iterator[Extension]:
    """Yield the entry points of the packages in the folders of `sys.path`, in its order.

    `importlib.metadata` would also search archives, and take 10% of the time of `writeamp --help`.
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
