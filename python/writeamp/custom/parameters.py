"""Parameters of users' policies: arguments of their constructors, given as text."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from writeamp._engine import split_parameters
from writeamp.custom.names import CustomClass
from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import Flag, Number, finite, shown

# Parameter of all specs of users' policies, which turns compilation on or off.
COMPILED = "compiled"

_WORDS = {"yes": True, "true": True, "no": False, "false": False}
_NUMBER = Number("be a number", lambda _value: True)


def parameters_of(cls: CustomClass) -> dict[str, inspect.Parameter]:
    """Return the parameters of a class: the constructor's arguments after the drive."""
    takes = list(inspect.signature(cls).parameters.values())[1:]
    return {
        parameter.name: parameter
        for parameter in takes
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }


def read(cls: CustomClass, where: str, text: str) -> dict[str, Any]:
    """Return the checked parameters from the text after a reference.

    Args:
        cls: class with the parameters.
        where: name of the class, for errors.
        text: empty, ":key=value,…" or "(key=value,…)".

    Raises:
        WriteampError: an unknown or missing parameter, or a value of the wrong type.
    """
    parameters = parameters_of(cls)
    if COMPILED in parameters:
        raise WriteampError(
            f"{where} has a parameter called {COMPILED}, which is reserved for Numba; rename it"
        )
    texts = split_parameters(where, text)
    flag = texts.pop(COMPILED, None)
    for key in texts:
        if not parameters:
            raise WriteampError(f"{where} has no parameters; leave out {key}")
        if key not in parameters:
            raise unknown(f"parameter of {where}", key, parameters)
    missing = [
        name
        for name, parameter in parameters.items()
        if name not in texts and parameter.default is parameter.empty
    ]
    if missing:
        raise WriteampError(f"{where} needs {missing[0]}; write {where}:{missing[0]}=VALUE")
    types = _types(cls)
    values = {
        key: _of_type(f"{key} of {where}", texts[key], types.get(key), parameter.default)
        for key, parameter in parameters.items()
        if key in texts
    }
    if flag is not None:
        values[COMPILED] = _flag(f"{COMPILED} of {where}", flag)
    return values


def shown_value(value: Any) -> str:
    """Return a value in the canonical form of specs."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _types(cls: CustomClass) -> Mapping[str, Any]:
    try:
        return get_type_hints(cls.__init__)
    except Exception:  # annotations may use names that are imported for type checkers only
        return {}


def _of_type(what: str, text: str, annotation: Any, default: Any) -> Any:
    """Return a text converted to the annotated type, the default's type, or a fitting type."""
    wanted = annotation if annotation in _READERS else type(default)
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
    candidates = (_parsed(int, text), _parsed(float, text), _WORDS.get(text, text))
    return next(value for value in candidates if value is not None)


_READERS: dict[Any, Callable[[str, str], Any]] = {
    bool: _flag,
    int: _whole,
    float: _number,
    str: _text,
}
