"""Checks of arguments of public functions: errors name the argument that caused a failure."""

from __future__ import annotations

import ast
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from importlib import import_module
from numbers import Integral, Number, Real
from types import FunctionType, NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import lazy_loader

from writeamp.errors import UnknownArgumentError, WriteampError, unknown_argument
from writeamp.fields.domains import MOST, finite, shown
from writeamp.text import fault_of_text

_F = TypeVar("_F", bound=Callable[..., Any])

_DEEPEST = 20
# Types of values that `_is_foreign` accepts for parameters without an annotation. Iterators are
# included, because an exception that an iterator raises says nothing about the argument's type.
_ORDINARY = (NoneType, str, os.PathLike, Number, type, Callable, Iterator)
_WORDS: dict[Any, str] = {
    str: "text",
    float: "a number",
    int: "a whole number",
    bool: "true or false",
    os.PathLike: "a Path",
    Callable: "a function",
    Mapping: "a table (dict)",
    type: "a class",
}


def public_names(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package, whose functions are checked.

    Args:
        package: its name.
        file: path of the package's `__init__.py`; the stub (`__init__.pyi`) in the same folder
            declares the module of each name.
    """
    load_name, names, public = lazy_loader.attach_stub(package, file)

    by_function: dict[Any, Any] = {}  # shared by all names of a function

    def get(name: str) -> Any:
        value = load_name(name)
        if not inspect.isfunction(value) or hasattr(value, "__wrapped__"):
            return value
        if value not in by_function:
            by_function[value] = checked(value)
            # The checked function also replaces the original in its own module, because pickle
            # looks it up there.
            setattr(sys.modules[value.__module__], value.__name__, by_function[value])
        setattr(sys.modules[package], name, by_function[value])
        return by_function[value]

    return get, names, public


def checked(public: _F) -> _F:
    """Return a function or class that reports arguments of a wrong type as a `WriteampError`.

    Arguments are checked only after the call raised an exception, so calls that work stay valid. If
    no argument explains the exception, it is raised unchanged. The error on an unknown argument
    suggests similar arguments. Of a class, `__init__` and the public methods are checked.
    """
    if isinstance(public, type):
        for name, member in tuple(vars(public).items()):
            if name.startswith("_") and name != "__init__":
                continue
            if inspect.isfunction(member):
                setattr(public, name, checked(member))
            elif isinstance(member, classmethod | staticmethod):
                setattr(public, name, type(member)(checked(member.__func__)))
        return public

    refused, explanations = WriteampError, _explanations
    unknown, with_all_names = UnknownArgumentError, _with_all_names

    def call(*positional: Any, **keywords: Any) -> Any:
        try:
            return public(*positional, **keywords)
        except unknown as error:
            raise with_all_names(public, error) from None
        except (refused, MemoryError):
            raise
        except Exception as error:
            refusal = next(explanations(public, positional, keywords, error), None)
            if refusal is None:
                raise
            raise refused(refusal) from error

    # The new function has the globals of the original one, which its annotations need.
    made = FunctionType(call.__code__, public.__globals__, closure=call.__closure__)
    return wraps(public)(made)  # type: ignore[return-value]


def _with_all_names(
    public: Callable[..., Any], error: UnknownArgumentError
) -> UnknownArgumentError:
    """Return the error with all arguments of the function as suggestions, if it declares them."""
    parameters = inspect.signature(public).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return error
    function = public.__qualname__.removesuffix(".__init__")
    names = [name for name in parameters if name not in ("self", "cls")]
    return unknown_argument(function, error.argument, names)


def _explanations(
    public: Callable[..., Any],
    positional: Sequence[Any],
    keywords: Mapping[str, Any],
    error: Exception,
) -> Iterator[str]:
    """Yield sentences on arguments that explain an error."""
    try:
        signature = inspect.signature(public)
        bound = signature.bind(*positional, **keywords).arguments
        bound = {name: value for name, value in bound.items() if name not in ("self", "cls")}
    except TypeError:  # Python names missing and unexpected arguments itself
        return
    kinds = {name: _annotation(public, signature.parameters[name]) for name in bound}
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD and name in bound:
            more = bound.pop(name)
            bound |= more
            kinds |= dict.fromkeys(more)
    for name, value in bound.items():
        if kinds[name] is not None and not _fits(value, kinds[name]):
            yield f"{name} is {shown(value)}; it must be {_words(kinds[name])}"
    for name, value in bound.items():
        for item in _parts(value):
            if fault := _fault_of(item, is_any=kinds[name] is None):
                yield f"{name} is {shown(value)}, which {fault}"
    if isinstance(error, OSError) and isinstance(error.filename, str):
        yield f"cannot use {error.filename!r}: {error.strerror}"


def _fault_of(value: Any, *, is_any: bool) -> str | None:
    """Return the fault of a value that is invalid for every argument, or None."""
    if isinstance(value, str):
        return fault_of_text(value)
    if isinstance(value, Integral) and abs(int(value)) > 2 * MOST + 1:
        return "does not fit into 64 bits"
    return "is not a valid value" if is_any and _is_foreign(value) else None


def _parts(value: Any, depth: int = 0) -> Iterator[Any]:
    """Yield a value, or the items of its lists and tables."""
    if depth > _DEEPEST:
        yield object()
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from (*_parts(key, depth + 1), *_parts(item, depth + 1))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _parts(item, depth + 1)
    else:
        yield os.fspath(value) if isinstance(value, os.PathLike) else value


def _is_foreign(value: Any) -> bool:
    if type(value).__module__.partition(".")[0] == "writeamp":
        return False
    return not isinstance(value, _ORDINARY)  # type: ignore[arg-type]


class _ModuleNames(dict[str, Any]):
    """Names of a module, with those that it imports for type checkers only."""

    def __init__(self, module: str) -> None:
        super().__init__(vars(sys.modules[module]))
        self._tree = ast.parse(inspect.getsource(sys.modules[module]))

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        return eval(value, {}, self) if isinstance(value, str) else value  # a quoted alias

    def __missing__(self, name: str) -> Any:
        for node in ast.walk(self._tree):
            for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
                if (alias.asname or alias.name) == name:
                    if isinstance(node, ast.ImportFrom):
                        return getattr(import_module(node.module or ""), alias.name)
                    return import_module(alias.name)
        raise KeyError(name)


def _annotation(public: Callable[..., Any], parameter: inspect.Parameter) -> Any:
    """Return the type of a parameter; None if it has no type or collects several arguments."""
    text = parameter.annotation
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return None
    if not isinstance(text, str):
        return None if text is parameter.empty else text
    try:
        return eval(text, {}, _ModuleNames(inspect.unwrap(public).__module__))  # our own annotation
    except Exception:  # a quoted alias of another module's names
        return None


def _fits(value: Any, annotation: Any) -> bool:
    """Return whether a value has a type; True if that cannot be checked."""
    origin, inner = get_origin(annotation) or annotation, get_args(annotation)
    if origin in (Union, UnionType):
        others = _without_array_like(inner)
        is_number = len(others) < len(inner) and _is_numbers(value)
        return is_number or any(_fits(value, kind) for kind in others)
    if origin is Literal:
        return any(type(value) is type(choice) and value == choice for choice in inner)
    if inner and _is_iterable(origin) and not isinstance(value, Iterator):
        return _is_of(value, origin) and _items_fit(value, inner)
    if origin in _FITS:
        return _FITS[origin](value)
    return _is_of(value, origin)


def _is_of(value: Any, kind: Any) -> bool:
    try:
        return isinstance(value, kind)
    except TypeError:  # types without instances: Any, protocols, type variables
        is_protocol = getattr(kind, "_is_protocol", False)
        if is_protocol and isinstance(
            value, type
        ):  # a class lacks the instance that its methods need
            return False
        names = vars(kind) if is_protocol else ()
        return all(hasattr(value, name) for name in names if not name.startswith("_"))


def _items_fit(value: Any, inner: tuple[Any, ...]) -> bool:
    if isinstance(value, Mapping) and len(inner) > 1:
        return all(_fits(key, inner[0]) and _fits(item, inner[1]) for key, item in value.items())
    try:
        return all(_fits(item, inner[0]) for item in value)
    except Exception:  # foreign classes may raise any exception
        return False


def _is_whole(value: Any) -> bool:
    is_integral = isinstance(value, Integral) and not isinstance(value, bool)
    return is_integral or finite(value).is_integer()


# Types for which isinstance would accept or reject the wrong values, with the correct check.
_FITS: dict[Any, Callable[[Any], bool]] = {
    None: lambda value: value is None,
    bool: lambda value: type(value).__name__ in ("bool", "bool_"),  # NumPy's too
    int: _is_whole,
    float: lambda value: isinstance(value, Real) and not isinstance(value, bool),
    os.PathLike: lambda value: isinstance(value, os.PathLike) and isinstance(os.fspath(value), str),
}


def _is_iterable(origin: Any) -> bool:
    return isinstance(origin, type) and issubclass(origin, Iterable)


def _without_array_like(kinds: Sequence[Any]) -> list[Any]:
    """Return types without those of NumPy's ArrayLike, if all of these are present."""
    typing = sys.modules.get("numpy.typing")
    of_arrays = () if typing is None else get_args(typing.ArrayLike)
    is_array_like = of_arrays and set(of_arrays) <= set(kinds)
    return [kind for kind in kinds if not is_array_like or kind not in of_arrays]


def _is_numbers(value: Any) -> bool:
    try:
        return bool(sys.modules["numpy"].asarray(value, dtype=float).size)
    except (TypeError, ValueError, OverflowError):
        return False


def _words(annotation: Any) -> str:
    """Return the description of a type for errors."""
    origin, inner = get_origin(annotation) or annotation, get_args(annotation)
    if origin in (Union, UnionType):
        others = _without_array_like(inner)
        kinds = ["a number", "an array of numbers"] if len(others) < len(inner) else []
        kinds += [_words(kind) for kind in others if kind is not NoneType]
        return " or ".join(dict.fromkeys(kinds))
    if origin is Literal:
        return " or ".join(map(str, inner))
    if origin in _WORDS:
        return _WORDS[origin]
    if inner and _is_iterable(origin):
        return f"a list of {_words(inner[0])}"
    return f"a {getattr(origin, '__name__', origin)}"
