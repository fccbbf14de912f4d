"""References to users' policies: resolve texts to classes in files, modules or names."""

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

# Size limit of a file of policies, in bytes.
_MOST_BYTES = 4 << 20
# Pattern of the end of a reference: empty, or parameters.
_END = r"(?P<rest>(?:[:(].*)?)"
_FILE = re.compile(rf"(?P<of>.+\.py):(?P<name>[^\W\d]\w*){_END}", re.DOTALL)
_MODULE = re.compile(rf"(?P<of>[^\W\d][\w.]*):(?P<name>[^\W\d]\w*){_END}", re.DOTALL)
_NAME = re.compile(rf"(?P<name>[^:(]+?)\s*{_END}", re.DOTALL)

KINDS: tuple[Kind, ...] = ("managers", "victims")

# Classes that were passed as objects instead of text, by the references made for them.
_registered: dict[tuple[Kind, str], CustomClass] = {}

# Why imports of policies are forbidden, as the end of a sentence; None if they are allowed.
_forbidden: ContextVar[str | None] = ContextVar("_forbidden", default=None)


@dataclass(frozen=True)
class CustomPolicy:
    """A user's policy and its checked parameters.

    `values` has all parameters as text, in order of declaration. `arguments` has the explicit ones,
    for the constructor.
    """

    kind: Kind
    reference: str
    cls: CustomClass = field(compare=False)
    arguments: dict[str, Any] = field(compare=False)
    is_compiled: bool
    values: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """The reference with all parameters; the same text for all spellings."""
        values = ",".join(f"{key}={value}" for key, value in self.values)
        return f"{self.reference}({values})" if values else self.reference


def find(kind: str, text: str) -> CustomPolicy | None:
    """Return the user's policy for a text, or None if the text names a built-in policy.

    Args:
        kind: "managers" or "victims"; users cannot define other kinds.
        text: `path/to/file.py:Class`, `module:Class`, or a name, optionally with parameters.

    Returns:
        `CustomPolicy`, or None.

    Raises:
        WriteampError: an unknown policy, invalid parameters, or a call within `without_imports`.
        PolicyError: the file or module raised an exception during its import.
    """
    of = _kind(kind)
    if of is None:
        return None
    text = text.strip()
    why_not = _forbidden.get()
    if why_not is not None and is_users(of, text):
        raise WriteampError(f"{shown(text)} {why_not}")
    if match := _FILE.fullmatch(text):
        return _in_file(of, match)
    if re.fullmatch(r"[^:(]*\.py", text):
        raise WriteampError(
            f"{shown(text)} is a file; add the class of the {NOUNS[of]}, as in {text}:Mine"
        )
    if ".py:" in text:
        raise WriteampError(
            f"cannot read {NOUNS[of]} {shown(text)}; write path/to/file.py:Class, with parameters "
            "after a colon, as in path/to/file.py:Class:key=value"
        )
    by_name = _NAME.fullmatch(text)
    if by_name is None or is_built_in(of, by_name["name"]):
        return None
    cls = _registered.get((of, by_name["name"])) or named_class(of, by_name["name"])
    if cls is not None:
        return _custom(of, by_name["name"], cls, by_name["rest"])
    noun = {"managers": "block manager", "victims": "victim policy"}[of]
    names = [*built_in_names(of), *known_names(of)]
    if match := _MODULE.fullmatch(text):
        cls = _in_module(of, match)
        if cls is None:
            raise unknown(f"{noun} or module", match["of"], names)
        return _custom(of, f"{match['of']}:{match['name']}", cls, match["rest"])
    if by_name["name"] not in names:
        raise unknown(noun, by_name["name"], names)
    return None


def is_users(kind: str, text: str) -> bool:
    """Return whether `find` would look for a user's policy, without importing it.

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
    is_known = (of, name) in _registered or name in known_names(of)
    return is_known or _MODULE.fullmatch(text) is not None


@contextmanager
def without_imports(why_not: str) -> Iterator[None]:
    """Within this context, reject users' policies before an import.

    Args:
        why_not: end of the error's sentence, after the text of the policy.

    Returns:
        A context manager.
    """
    token = _forbidden.set(why_not)
    try:
        yield
    finally:
        _forbidden.reset(token)


def as_written(text: str) -> tuple[str, dict[str, str]]:
    """Return the reference and the explicit parameters in a text, without an import.

    Returns:
        The reference, and the parameters by name.

    Raises:
        WriteampError: invalid parameters after the name.
    """
    text = text.strip()
    match = _FILE.fullmatch(text) or _MODULE.fullmatch(text) or _NAME.fullmatch(text)
    if match is None:
        return text, {}
    reference = text[: match.start("rest")]
    return reference, split_parameters(reference, match["rest"])


def reference_of(kind: str, cls: type) -> str:
    """Return a reference to a class, which also works in other processes if possible.

    Returns:
        The reference, such as "mine.py:Mine".

    Raises:
        WriteampError: not a policy of this kind.
    """
    of = _kind(kind)
    if of is None:
        raise WriteampError(f"{shown(cls)} is a class, but {kind} cannot be classes; give a spec")
    checked = check_class(of, cls, cls.__qualname__)
    named = name_of(of, checked)
    if named is not None:
        return named
    name = checked.__qualname__.rpartition(".")[2]
    if is_built_in(of, name):
        raise WriteampError(f"the class {name} has the name of a built-in {NOUNS[of]}; rename it")
    reference = _place_of(checked) or _unused(of, name, checked)
    _registered[of, reference] = checked
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
        and (
            is_reference(kind, name)
            or (of, name) in _registered
            or named_class(of, name) is not None
        )
    )


def split_file(text: str) -> tuple[str | None, str]:
    """Split a reference to a class in a file into the file and the rest.

    Returns:
        The file or None, and the rest of the text.
    """
    match = _FILE.fullmatch(text.strip())
    return (None, text) if match is None else (match["of"], text.strip()[match.end("of") :])


def is_reference(kind: str, text: str) -> bool:
    """Return whether a text is a reference to a class in a file or module, without parameters.

    Returns:
        True for a reference without parameters.
    """
    match = _FILE.fullmatch(text) or _MODULE.fullmatch(text)
    of = _kind(kind)
    if match is None or match["rest"] or of is None:
        return False
    return not is_built_in(of, match["of"])


def _kind(kind: str) -> Kind | None:
    return next((known_kind for known_kind in KINDS if known_kind == kind), None)


def _in_file(kind: Kind, match: re.Match[str]) -> CustomPolicy:
    reference = f"{match['of']}:{match['name']}"
    cls = _registered.get((kind, reference)) or class_in(kind, match["of"], match["name"])
    return _custom(kind, reference, cls, match["rest"])


def _in_module(kind: Kind, match: re.Match[str]) -> CustomClass | None:
    """Return a class of a module, or None if the module does not exist."""
    module, name = match["of"], match["name"]
    registered = _registered.get((kind, f"{module}:{name}"))
    if registered is not None:
        return registered
    try:
        # A running script is the module `__main__`, which `find_spec` cannot find.
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
        own = [key for key, value in vars(imported).items() if isinstance(value, type)]
        raise unknown(f"class of the module {module}", name, own or ["none"])
    return check_class(kind, getattr(imported, name), f"{name} of the module {module}")


def _unimportable(module: str, error: BaseException) -> PolicyError:
    message = " ".join(f"{type(error).__name__}: {error}".split())
    return policy_error(f"the import of the module {module} raised {message}", error)


def _custom(kind: Kind, reference: str, cls: CustomClass, rest: str) -> CustomPolicy:
    read = parameters.read(cls, reference, rest)
    arguments = dict(read)
    by_class = getattr(cls, "is_compiled", False)
    compiled = arguments.pop(parameters.COMPILED, by_class and has_numba())
    declared = parameters.parameters_of(cls)
    values = {
        key: parameters.shown_value(arguments.get(key, parameter.default))
        for key, parameter in declared.items()
    }
    if parameters.COMPILED in read and compiled != by_class:
        if kind == "victims":
            raise WriteampError(f"{reference} is a victim policy, which is never compiled")
        values[parameters.COMPILED] = parameters.shown_value(compiled)
    return CustomPolicy(kind, reference, cls, arguments, compiled, tuple(values.items()))


def _unused(kind: Kind, name: str, cls: CustomClass) -> str:
    """Return the name of a class, with a number if another class already has this name."""
    numbered = (f"{name}-{number}" for number in count(2))
    return next(
        candidate
        for candidate in chain([name], numbered)
        if _registered.get((kind, candidate), cls) is cls
    )


def _place_of(cls: CustomClass) -> str | None:
    """Return file and name of a class that is defined at the top level of a file, or None."""
    if "." in cls.__qualname__:
        return None
    try:
        path = inspect.getsourcefile(cls)
    except (TypeError, OSError):  # defined interactively
        return None
    if path is None or not path.endswith(".py") or not Path(path).is_file():
        return None
    near = os.path.relpath(path)
    return f"{path if near.startswith('..') else near}:{cls.__qualname__}"


def class_in(kind: Kind, path: str, name: str) -> CustomClass:
    """Return a class of a file.

    Raises:
        WriteampError: a missing file or class, or a class of another kind.
        PolicyError: the file raised an exception during its import.
    """
    noun = NOUNS[kind]
    try:
        file = Path(path).resolve(strict=True)
        stamp = file.stat().st_mtime_ns
        if file.is_fifo():  # a pipe can be read only once, but the import reads again
            raise OSError(errno.EINVAL, "it is a pipe, not a regular file")
        read_bytes(file, _MOST_BYTES, "Python file")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise WriteampError(f"cannot read {noun} {shown(path)}: {why}") from None
    module = _loaded(str(file), stamp, path)
    own = [
        key
        for key, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == module.__name__
    ]
    if not hasattr(module, name):
        raise unknown(f"class of {path}", name, own or ["none"])
    return check_class(kind, getattr(module, name), f"{name} of {path}")


@cache
def _loaded(path: str, _stamp: int, shown_path: str) -> ModuleType:
    """Return a file as a module; a changed `_stamp` (modification time) imports it again."""
    digest = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    name = f"writeamp_own_{Path(path).stem.replace('.', '_')}_{digest}"
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(
        0, str(Path(path).parent)
    )  # the file may import neighbouring files, as scripts may
    try:
        spec.loader.exec_module(module)
    except WriteampError:
        raise
    except RAISED as error:
        message = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
        raise policy_error(
            f"the import of {shown_path} raised {message}",
            error,
        ) from error
    finally:
        sys.path.remove(str(Path(path).parent))
    return module


@dataclass(frozen=True)
class ListedPolicy:
    """A user's policy; `defaults` has its parameters, with None for required parameters."""

    name: str
    summary: str
    defaults: dict[str, str | None]


def listed(kind: Kind) -> list[ListedPolicy]:
    """Return users' policies that have names, including those of installed packages.

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
        key: None
        if parameter.default is parameter.empty
        else parameters.shown_value(parameter.default)
        for key, parameter in parameters.parameters_of(cls).items()
    }
    return ListedPolicy(
        name, documented or f"the class {cls.__qualname__} of {cls.__module__}", defaults
    )


def classes_in(path: str) -> list[str]:
    """Return the names of the classes in a file without importing it; empty if it is invalid.

    Returns:
        Names, in the order of the file.
    """
    try:
        tree = ast.parse(read_bytes(path, _MOST_BYTES, "Python file"))
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return []
    return [node.name for node in tree.body if isinstance(node, ast.ClassDef) and node.bases]
