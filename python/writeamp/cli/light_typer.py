"""Typer with fewer imports: modules that few command lines need are imported on first use."""

from __future__ import annotations

import gc
import sys
from functools import cache, partial
from importlib import import_module
from types import ModuleType
from typing import Any

# Modules that typer's help imports, for markup and errors that our help does not have. Their import
# takes a fifth of the time of `writeamp --help`.
_UNUSED_BY_HELP = ("rich.markdown", "rich.traceback")


def verb_of(context: Any) -> str:
    """Return the words after the name of the program, such as `measure diff`."""
    if context.parent is None:
        return ""
    return f"{verb_of(context.parent)} {context.info_name}".strip()


def without_early_adapters(parameters: list[Any]) -> list[Any]:
    """Return parameters that import pydantic only to convert a value that the user gave.

    Typer makes an adapter of pydantic for each parameter of a command, also if it has no value. The
    import of pydantic takes as long as the import of typer.
    """
    for parameter in parameters:
        if "process_value" not in vars(parameter):
            parameter.process_value = partial(_process_value, parameter, parameter.process_value)
    return parameters


def _process_value(parameter: Any, by_typer: Any, context: Any, value: Any) -> Any:
    """Return the value of a parameter as typer does, without an adapter if there is no value."""
    if value is not None or parameter.required:
        return by_typer(context, value)
    nothing = () if parameter.multiple or parameter.nargs == -1 else None
    callback = parameter.callback
    return nothing if callback is None else callback(context, parameter, nothing)


@cache
def import_help() -> None:
    """Import the help of typer, with stand-ins for the modules that our help does not use."""
    added = [name for name in _UNUSED_BY_HELP if name not in sys.modules]
    sys.modules.update({name: _StandIn(name) for name in added})
    try:
        import_module("typer.rich_utils")
    finally:
        for name in added:
            del sys.modules[name]
    keep_imports()


def keep_imports() -> None:
    """Exclude all objects of this process so far from garbage collection.

    Modules and their classes live until the process ends. Its last collection would visit them,
    which takes an eighth of the time of `writeamp simulate --help`.
    """
    gc.freeze()


class _StandIn(ModuleType):
    """Module whose classes import the real module when they are used."""

    def __getattr__(self, name: str) -> Any:
        """Return a class that makes objects of the real class of this name."""
        if name.startswith("__"):
            raise AttributeError(name)
        module = self.__name__
        return type(name, (), {"__new__": lambda _, *a, **k: _real(module, name)(*a, **k)})


def _real(module: str, name: str) -> Any:
    return getattr(import_module(module), name)
