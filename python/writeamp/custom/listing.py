"""Listing of users' policies: those of installed packages, and classes in files."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass

from writeamp.custom.files import MOST_BYTES
from writeamp.custom.names import Kind, known_names, named_class
from writeamp.custom.parameters import parameters_of, shown_value
from writeamp.errors import WriteampError
from writeamp.files.inputs import read_bytes


@dataclass(frozen=True)
class Listed:
    """A user's policy; `defaults` has its parameters, with None for those that must be given."""

    name: str
    summary: str
    defaults: dict[str, str | None]


def listed(kind: Kind) -> list[Listed]:
    """Return users' policies that have names, those of installed packages among them."""
    return [_listed(kind, name) for name in known_names(kind)]


def _listed(kind: Kind, name: str) -> Listed:
    try:
        cls = named_class(kind, name)
    except WriteampError as error:
        return Listed(name, f"cannot be used: {error}", {})
    assert cls is not None
    documented = inspect.cleandoc(cls.__doc__ or "").partition("\n")[0]
    defaults = {
        key: None if one.default is one.empty else shown_value(one.default)
        for key, one in parameters_of(cls).items()
    }
    return Listed(name, documented or f"the class {cls.__qualname__} of {cls.__module__}", defaults)


def classes_in(path: str) -> list[str]:
    """Return the names of the classes of a file, which is read, not run; none of a broken one."""
    try:
        tree = ast.parse(read_bytes(path, MOST_BYTES, "Python file"))
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return []
    return [node.name for node in tree.body if isinstance(node, ast.ClassDef) and node.bases]
