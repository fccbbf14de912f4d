"""Parameters of users' policies: arguments of their constructors, given as text."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from writeamp._engine import split_parameters
from writeamp.custom.names import CustomClass
from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import Flag, Number, finite, shown

# What a class asks of the engine, in a spec, beside its own parameters.
COMPILED = "compiled"

_WORDS = {"yes": True, "true": True, "no": False, "false": False}
_NUMBER = Number("be a number", lambda _value: True)


def parameters_of(cls: CustomClass) -> dict[str, inspect.Parameter]:
    """Return the parameters of a class: what its constructor takes after the drive."""
    takes = list(inspect.signature(cls).parameters.values())[1:]
    return {one.name: one for one in takes if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)}


def read(cls: CustomClass, where: str, text: str) -> dict[str, Any]:
    """Return the values that the text after a reference gives, checked.

    Args:
        cls: whose parameters they are.
        where: what names the class in errors.
        text: empty, ":key=value,…" or "(key=value,…)".

    Raises:
        WriteampError: an unknown parameter, a value not of its type, or one that is missing.
    """
    known = parameters_of(cls)
    if COMPILED in known:
        raise WriteampError(
            f"{where} has a parameter called {COMPILED}, which asks for Numba; give it another name"
        )
    given = split_parameters(where, text)
    flag = given.pop(COMPILED, None)
    for key in given:
        if not known:
            raise WriteampError(f"{where} has no parameters, and so no {key}")
        if key not in known:
            raise unknown(f"parameter of {where}", key, known)
    missing = [
        name for name, one in known.items() if name not in given and one.default is one.empty
    ]
    if missing:
        raise WriteampError(f"{where} needs {missing[0]}; write {where}:{missing[0]}=VALUE")
    types = _types(cls)
    found = {
        key: _of_type(f"{key} of {where}", given[key], types.get(key), one.default)
        for key, one in known.items()
        if key in given
    }
    if flag is not None:
        found[COMPILED] = _flag(f"{COMPILED} of {where}", flag)
    return found


def shown_value(value: Any) -> str:
    """Return a value as a spec has it, in one form."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _types(cls: CustomClass) -> Mapping[str, Any]:
    try:
        return get_type_hints(cls.__init__)
    except Exception:  # annotations may name what is known to type checkers only
        return {}


def _of_type(what: str, text: str, asked: Any, default: Any) -> Any:
    """Return a value of the annotated type, or that of the default, or as it looks."""
    wanted = asked if asked in _READERS else type(default)
    reader = _READERS.get(wanted, _as_it_looks)
    return reader(what, text)


def _flag(what: str, text: str) -> bool:
    return Flag().check(what, _WORDS.get(text, text))


def _whole(what: str, text: str) -> int:
    for number in (_parsed(int, text), _parsed(float, text)):
        if number is not None and finite(number).is_integer():
            return int(number)
    raise WriteampError(f"{what} is {shown(text)}; it must be a whole number")


def _number(what: str, text: str) -> float:
    number = _parsed(float, text)
    return _NUMBER.check(what, text if number is None else number)


def _parsed(of: Callable[[str], Any], text: str) -> Any:
    try:
        return of(text)
    except ValueError:
        return None


def _text(_what: str, text: str) -> str:
    return text


def _as_it_looks(_what: str, text: str) -> Any:
    found = (_parsed(int, text), _parsed(float, text), _WORDS.get(text, text))
    return next(one for one in found if one is not None)


_READERS: dict[Any, Callable[[str, str], Any]] = {
    bool: _flag,
    int: _whole,
    float: _number,
    str: _text,
}
