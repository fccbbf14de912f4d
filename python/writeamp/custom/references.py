"""References to users' policies, and the classes of files and modules that they name."""

from __future__ import annotations

import ast
import errno
import hashlib
import inspect
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from itertools import chain, count
from pathlib import Path
from types import ModuleType
from typing import Any

from writeamp._engine import split_parameters
from writeamp.custom import parameters
from writeamp.custom.names import (
    NOUNS,
    RAISED,
    CustomClass,
    Kind,
    built_in_names,
    check_class,
    has_numba,
    is_built_in,
    known_names,
    name_of,
    named_class,
)
from writeamp.errors import PolicyError, WriteampError, policy_error, unknown
from writeamp.fields.domains import shown
from writeamp.files.inputs import read_bytes

# Of a file of policies, in bytes.
_MOST_BYTES = 4 << 20
# What follows a reference: nothing, or parameters.
_END = r"(?P<rest>(?:[:(].*)?)"
_FILE = re.compile(rf"(?P<of>.+\.py):(?P<name>[^\W\d]\w*){_END}", re.DOTALL)
_MODULE = re.compile(rf"(?P<of>[^\W\d][\w.]*):(?P<name>[^\W\d]\w*){_END}", re.DOTALL)
_NAME = re.compile(rf"(?P<name>[^:(]+?)\s*{_END}", re.DOTALL)

KINDS: tuple[Kind, ...] = ("managers", "victims")

# Classes that were given as themselves, by the reference that stands for them here.
_given: dict[tuple[Kind, str], CustomClass] = {}

# Why no policy may be imported, as a sentence that begins with its name; None if it may.
_forbidden: ContextVar[str | None] = ContextVar("_forbidden", default=None)


@dataclass(frozen=True)
class CustomPolicy:
    """A user's policy and its parameters, checked.

    `values` has every parameter as text, in order of declaration; `given` those that were given, as
    the constructor takes them.
    """

    kind: Kind
    reference: str
    cls: CustomClass = field(compare=False)
    given: dict[str, Any] = field(compare=False)
    is_compiled: bool
    values: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """The reference with every parameter: the same for all spellings that mean the same."""
        values = ",".join(f"{key}={value}" for key, value in self.values)
        return f"{self.reference}({values})" if values else self.reference


def find(kind: str, text: str) -> CustomPolicy | None:
    """Return the user's policy that a text names; None if that is the engine's to read.

    Args:
        kind: "managers" or "victims"; of others users have none.
        text: `path/to/file.py:Class`, `module:Class`, or a name, each perhaps with parameters.

    Returns:
        `CustomPolicy`, or None.

    Raises:
        WriteampError: it names a user's policy and there is none, or none with such parameters, or
            within `without_imports`.
        PolicyError: what holds the class raises an exception as it is imported.
    """
    of = _kind(kind)
    if of is None:
        return None
    text = text.strip()
    why_not = _forbidden.get()
    if why_not is not None and is_users(of, text):
        raise WriteampError(f"{shown(text)} {why_not}")
    if found := _FILE.fullmatch(text):
        return _in_file(of, found)
    if re.fullmatch(r"[^:(]*\.py", text):
        raise WriteampError(
            f"{shown(text)} is a file; name a class of it, as in {text}:Mine, for a {NOUNS[of]}"
        )
    if ".py:" in text:
        raise WriteampError(
            f"cannot read {NOUNS[of]} {shown(text)}; write path/to/file.py:Class, and parameters "
            "behind a colon, as in path/to/file.py:Class:key=value"
        )
    by_name = _NAME.fullmatch(text)
    if by_name is None or is_built_in(of, by_name["name"]):
        return None
    cls = _given.get((of, by_name["name"])) or named_class(of, by_name["name"])
    if cls is not None:
        return _custom(of, by_name["name"], cls, by_name["rest"])
    noun = {"managers": "block manager", "victims": "victim policy"}[of]
    names = [*built_in_names(of), *known_names(of)]
    if found := _MODULE.fullmatch(text):
        cls = _in_module(of, found)
        if cls is None:
            raise unknown(f"{noun} or module", found["of"], names)
        return _custom(of, f"{found['of']}:{found['name']}", cls, found["rest"])
    if by_name["name"] not in names:
        raise unknown(noun, by_name["name"], names)
    return None


def is_users(kind: str, text: str) -> bool:
    """Return whether `find` would look for a user's policy, without an import.

    Returns:
        True if it would.
    """
    of = _kind(kind)
    text = text.strip()
    if of is None:
        return False
    if _FILE.fullmatch(text):
        return True
    by_name = _NAME.fullmatch(text)
    if by_name is None or is_built_in(of, by_name["name"]):
        return False
    name = by_name["name"]
    is_known = (of, name) in _given or name in known_names(of)
    return is_known or _MODULE.fullmatch(text) is not None


@contextmanager
def without_imports(why_not: str) -> Iterator[None]:
    """Refuse users' policies meanwhile, before what holds them is imported.

    Args:
        why_not: the rest of the sentence that begins with what was named.

    Returns:
        A context manager.
    """
    before = _forbidden.set(why_not)
    try:
        yield
    finally:
        _forbidden.reset(before)


def as_written(text: str) -> tuple[str, dict[str, str]]:
    """Return a policy's reference and the parameters given to it; nothing is imported.

    Returns:
        The reference, and the parameters by name.

    Raises:
        WriteampError: what follows the name are no parameters.
    """
    text = text.strip()
    found = _FILE.fullmatch(text) or _MODULE.fullmatch(text) or _NAME.fullmatch(text)
    if found is None:
        return text, {}
    reference = text[: found.start("rest")]
    return reference, split_parameters(reference, found["rest"])


def reference_of(kind: str, cls: type) -> str:
    """Return the words that name a class, in other processes too if they can come by it.

    Returns:
        The reference, such as "mine.py:Mine".

    Raises:
        WriteampError: it is no policy of that kind.
    """
    of = _kind(kind)
    if of is None:
        raise WriteampError(f"{shown(cls)} is a class, and there are none of {kind}")
    checked = check_class(of, cls, cls.__qualname__)
    named = name_of(of, checked)
    if named is not None:
        return named
    name = checked.__qualname__.rpartition(".")[2]
    if is_built_in(of, name):
        raise WriteampError(f"the class {name} has the name of a built-in {NOUNS[of]}")
    reference = _place_of(checked) or _unused(of, name, checked)
    _given[of, reference] = checked
    return reference


def find_class(kind: str, name: str) -> bool:
    """Return whether a text without parameters names a user's policy.

    Returns:
        True if a user's policy has this name.
    """
    of = _kind(kind)
    return (
        of is not None
        and not is_built_in(of, name)
        and (is_reference(kind, name) or (of, name) in _given or named_class(of, name) is not None)
    )


def split_file(text: str) -> tuple[str | None, str]:
    """Return the file that a text names a class of, or None, and what follows it.

    Returns:
        The file or None, and the rest of the text.
    """
    found = _FILE.fullmatch(text.strip())
    return (None, text) if found is None else (found["of"], text.strip()[found.end("of") :])


def is_reference(kind: str, text: str) -> bool:
    """Return whether a text names a class of a file or module, without parameters.

    Returns:
        True if the text is such a reference.
    """
    found = _FILE.fullmatch(text) or _MODULE.fullmatch(text)
    of = _kind(kind)
    if found is None or found["rest"] or of is None:
        return False
    return not is_built_in(of, found["of"])


def _kind(kind: str) -> Kind | None:
    return next((one for one in KINDS if one == kind), None)


def _in_file(kind: Kind, found: re.Match[str]) -> CustomPolicy:
    reference = f"{found['of']}:{found['name']}"
    cls = _given.get((kind, reference)) or class_in(kind, found["of"], found["name"])
    return _custom(kind, reference, cls, found["rest"])


def _in_module(kind: Kind, found: re.Match[str]) -> CustomClass | None:
    """Return a class of a module; None if there is no such module."""
    module, name = found["of"], found["name"]
    given = _given.get((kind, f"{module}:{name}"))
    if given is not None:
        return given
    try:
        # A script that runs is known as `__main__`, and is not to be found.
        if module not in sys.modules and find_spec(module) is None:
            return None
        imported = import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and module.startswith(error.name):
            return None
        raise _unimportable(module, error) from error
    except WriteampError:
        raise
    except RAISED as error:
        raise _unimportable(module, error) from error
    if not hasattr(imported, name):
        own = [key for key, one in vars(imported).items() if isinstance(one, type)]
        raise unknown(f"class of the module {module}", name, own or ["none"])
    return check_class(kind, getattr(imported, name), f"{name} of the module {module}")


def _unimportable(module: str, error: BaseException) -> PolicyError:
    message = " ".join(f"{type(error).__name__}: {error}".split())
    return policy_error(f"the module {module} raised {message} as it was imported", error)


def _custom(kind: Kind, reference: str, cls: CustomClass, rest: str) -> CustomPolicy:
    read = parameters.read(cls, reference, rest)
    given = dict(read)
    by_class = getattr(cls, "is_compiled", False)
    compiled = given.pop(parameters.COMPILED, by_class and has_numba())
    known = parameters.parameters_of(cls)
    values = {
        key: parameters.shown_value(given.get(key, one.default)) for key, one in known.items()
    }
    if parameters.COMPILED in read and compiled != by_class:
        if kind == "victims":
            raise WriteampError(f"{reference} is a victim policy, which is never compiled")
        values[parameters.COMPILED] = parameters.shown_value(compiled)
    return CustomPolicy(kind, reference, cls, given, compiled, tuple(values.items()))


def _unused(kind: Kind, name: str, cls: CustomClass) -> str:
    """Return the name, or if another class was given by it, the name with a number."""
    numbered = (f"{name}-{number}" for number in count(2))
    return next(one for one in chain([name], numbered) if _given.get((kind, one), cls) is cls)


def _place_of(cls: CustomClass) -> str | None:
    """Return the file and the name of a class at the top of one."""
    if "." in cls.__qualname__:
        return None
    try:
        path = inspect.getsourcefile(cls)
    except (TypeError, OSError):  # typed in
        return None
    if path is None or not path.endswith(".py") or not Path(path).is_file():
        return None
    near = os.path.relpath(path)
    return f"{path if near.startswith('..') else near}:{cls.__qualname__}"


def class_in(kind: Kind, path: str, name: str) -> CustomClass:
    """Return a class of a file.

    Raises:
        WriteampError: there is no such file or class in it, or it is of another kind.
        PolicyError: the file raises an exception as it is imported.
    """
    noun = NOUNS[kind]
    try:
        found = Path(path).resolve(strict=True)
        stamp = found.stat().st_mtime_ns
        if found.is_fifo():  # which the import would open again
            raise OSError(errno.EINVAL, "it is a pipe, not a regular file")
        read_bytes(found, _MOST_BYTES, "Python file")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise WriteampError(f"cannot read {noun} {shown(path)}: {why}") from None
    module = _loaded(str(found), stamp, path)
    own = [
        key
        for key, one in vars(module).items()
        if isinstance(one, type) and one.__module__ == module.__name__
    ]
    if not hasattr(module, name):
        raise unknown(f"class of {path}", name, own or ["none"])
    return check_class(kind, getattr(module, name), f"{name} of {path}")


@cache
def _loaded(path: str, _stamp: int, given: str) -> ModuleType:
    """Return a file as a module; one that has changed is loaded again."""
    digest = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    name = f"writeamp_own_{Path(path).stem.replace('.', '_')}_{digest}"
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(Path(path).parent))  # what lies beside it, as Python does for scripts
    try:
        spec.loader.exec_module(module)
    except WriteampError:
        raise
    except RAISED as error:
        message = " ".join(str(error).split())
        raise policy_error(
            f"{given} raised {type(error).__name__}{': ' if message else ''}{message} as it was "
            "imported",
            error,
        ) from error
    finally:
        sys.path.remove(str(Path(path).parent))
    return module


@dataclass(frozen=True)
class ListedPolicy:
    """A user's policy; `defaults` has its parameters, with None for those that must be given."""

    name: str
    summary: str
    defaults: dict[str, str | None]


def listed(kind: Kind) -> list[ListedPolicy]:
    """Return users' policies that have names, those of installed packages among them.

    Returns:
        A list of `ListedPolicy`: `name`, `summary`, `defaults`.
    """
    return [_listed(kind, name) for name in known_names(kind)]


def _listed(kind: Kind, name: str) -> ListedPolicy:
    try:
        cls = named_class(kind, name)
    except WriteampError as error:
        return ListedPolicy(name, f"cannot be used: {error}", {})
    assert cls is not None
    documented = inspect.cleandoc(cls.__doc__ or "").partition("\n")[0]
    defaults = {
        key: None if one.default is one.empty else parameters.shown_value(one.default)
        for key, one in parameters.parameters_of(cls).items()
    }
    return ListedPolicy(
        name, documented or f"the class {cls.__qualname__} of {cls.__module__}", defaults
    )


def classes_in(path: str) -> list[str]:
    """Return the names of the classes of a file, which is read, not run; none of a broken one.

    Returns:
        Names, in the order of the file.
    """
    try:
        tree = ast.parse(read_bytes(path, _MOST_BYTES, "Python file"))
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return []
    return [node.name for node in tree.body if isinstance(node, ast.ClassDef) and node.bases]
