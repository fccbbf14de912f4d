"""Names of users' policies, from decorators and installed packages."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Literal, TypeAlias, TypeVar

from writeamp._engine import entries
from writeamp.custom.policies import Placement, VictimPolicy
from writeamp.errors import WriteampError
from writeamp.extensions import Extension, extensions
from writeamp.fields.domains import shown

Kind: TypeAlias = Literal["managers", "victims"]
CustomClass: TypeAlias = type[Placement] | type[VictimPolicy]
_C = TypeVar("_C", bound=CustomClass)

BASES: dict[str, CustomClass] = {"managers": Placement, "victims": VictimPolicy}
NOUNS = {"managers": "placement", "victims": "victim policy"}

# Exceptions in users' code that are reported as errors of that code. Ctrl-C is not among them, so
# it still ends the run.
RAISED = (Exception, SystemExit, GeneratorExit)
_GROUPS = {"managers": "writeamp.placements", "victims": "writeamp.victims"}

_NAME = re.compile(r"[a-z][a-z0-9-]*")
_named: dict[tuple[Kind, str], CustomClass] = {}


def placement(name: str) -> Callable[[_C], _C]:
    """Return a decorator that gives a placement class a name, for use as a block manager.

    Returns:
        A decorator, which returns the class itself.

    Raises:
        WriteampError: the name is invalid, or belongs to a built-in manager or another class; or
            the class is not derived from `Placement`.

    >>> import writeamp as wa
    >>> @wa.placement("sepgc")
    ... class Mine(wa.Placement): ...
    Traceback (most recent call last):
    writeamp.errors.WriteampError: 'sepgc' is the name of a built-in block manager; choose another
    """
    return _naming("managers", name)


def victim_policy(name: str) -> Callable[[_C], _C]:
    """Return a decorator that gives a victim-policy class a name.

    Errors are those of `placement`.

    Returns:
        A decorator, which returns the class itself.

    >>> import writeamp as wa
    >>> @wa.victim_policy("oldest-of-mine")
    ... class Oldest(wa.VictimPolicy):
    ...     def choose(self, candidates, now):
    ...         return 0
    >>> wa.victims("oldest-of-mine")
    <victim policy oldest-of-mine>
    """
    return _naming("victims", name)


def _naming(kind: Kind, name: str) -> Callable[[_C], _C]:
    noun = NOUNS[kind]
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise WriteampError(
            f"{shown(name)} is not a valid name of a {noun}; use lowercase letters, digits and "
            "hyphens, with a letter first"
        )
    if is_built_in(kind, name):
        built_in = {"managers": "block manager", "victims": "victim policy"}[kind]
        raise WriteampError(f"{name!r} is the name of a built-in {built_in}; choose another")

    def named(cls: _C) -> _C:
        check_class(kind, cls, name)
        other = _named.get((kind, name))
        # Notebook cells and reloaded files may define a class again, which is not an error.
        if other is not None and _origin(other) != _origin(cls):
            raise WriteampError(
                f"{name!r} is already the name of {' of '.join(_origin(other))}; choose another"
            )
        _named[kind, name] = cls
        return cls

    return named


def _origin(cls: type) -> tuple[str, str]:
    """Return the name of a class and its file or module."""
    module = sys.modules.get(cls.__module__)
    return cls.__qualname__, getattr(module, "__file__", None) or cls.__module__


def check_class(kind: Kind, cls: object, where: str) -> CustomClass:
    """Return a class of a kind that has all required methods; `where` names it in errors.

    Raises:
        WriteampError: another kind, or a missing method.
    """
    base, noun = BASES[kind], NOUNS[kind]
    if not isinstance(cls, type) or not issubclass(cls, base):
        what = f"a class {cls.__name__}" if isinstance(cls, type) else shown(cls)
        raise WriteampError(
            f"{where} is {what}, which is not a {noun}; derive it from writeamp.{base.__name__}"
        )
    missing = [
        names for names in _needed(kind) if not any(_has(cls, base, method) for method in names)
    ]
    if missing:
        methods = " and ".join(names[0] for names in missing)
        raise WriteampError(f"{where} has no {methods}; a {noun} must define it")
    return cls


def _needed(kind: Kind) -> list[tuple[str, ...]]:
    if kind == "victims":
        return [("choose",)]
    return [("on_write",), ("on_migrate", "on_migrate_all")]


def _has(cls: type, base: type, method: str) -> bool:
    own = getattr(cls, method, None)
    return callable(own) and own is not getattr(base, method, None)


@cache
def built_in_names(kind: Kind) -> tuple[str, ...]:
    """Return the names of the built-in block managers or victim policies."""
    return tuple(entry["name"] for entry in entries(kind))


def is_built_in(kind: Kind, name: str) -> bool:
    """Return whether a built-in block manager or victim policy has this name."""
    return name in built_in_names(kind)


def named_class(kind: Kind, name: str) -> CustomClass | None:
    """Return the class with a name from a decorator or a package, or None.

    Raises:
        WriteampError: the package's entry cannot be imported, or is not a class of this kind.
    """
    cls = _named.get((kind, name))
    entry = installed(kind).get(name) if cls is None else None
    if entry is None:
        return cls
    return check_class(kind, entry.load(), f"{name} of the package {entry.package}")


def name_of(kind: Kind, cls: CustomClass) -> str | None:
    """Return the name that a decorator gave to a class, or None."""
    return next((name for (of, name), named in _named.items() if of == kind and named is cls), None)


def known_names(kind: Kind) -> list[str]:
    """Return the names of users' policies that this process has imported or can import.

    Returns:
        Names, those from decorators first.
    """
    own = [name for of, name in _named if of == kind]
    return [*own, *(name for name in installed(kind) if name not in own)]


def installed(kind: Kind) -> dict[str, Extension]:
    """Return entry points of installed packages by name, except those named like built-ins."""
    entry_points = extensions(_GROUPS[kind])
    return {name: entry for name, entry in entry_points.items() if not is_built_in(kind, name)}


def has_numba() -> bool:
    """Return whether Numba is installed."""
    return find_spec("numba") is not None
