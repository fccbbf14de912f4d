"""Settings in signatures and docstrings of functions that take them as keyword arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from writeamp.fields.setting import Places, argument_fields, help_of

_F = TypeVar("_F", bound=Callable[..., Any])


def with_settings_of(places: Places) -> Callable[[_F], _F]:
    """Return a decorator that adds settings to the signature and docstring of a function.

    Args:
        places: settings that the parameter `**settings` accepts; settings that are also named
            parameters are skipped.
    """

    def show(function: _F) -> _F:
        signature = inspect.signature(function)
        *own, _ = signature.parameters.values()
        settings = {
            name: field
            for name, field in argument_fields(places).items()
            if name not in signature.parameters
        }
        by_keyword = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=field.default)
            for name, field in settings.items()
        ]
        function.__signature__ = signature.replace(parameters=[*own, *by_keyword])  # type: ignore[attr-defined]
        lines = [f"        {name}: {help_of(field)}.\n" for name, field in settings.items()]
        function.__doc__ = f"{function.__doc__}\n    Settings:\n{''.join(lines)}    "
        return function

    return show
