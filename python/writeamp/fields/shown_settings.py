"""Settings in the signature and the docstring of functions that take them by keyword."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from writeamp.fields.setting import Places, argument_fields, help_of

_F = TypeVar("_F", bound=Callable[..., Any])


def with_settings_of(places: Places) -> Callable[[_F], _F]:
    """Show settings with their defaults and help where `help` looks: signature and docstring.

    Args:
        places: settings of the last parameter, `**settings`, and perhaps of parameters before it.
    """

    def show(function: _F) -> _F:
        signature = inspect.signature(function)
        *own, _ = signature.parameters.values()
        settings = {
            name: one
            for name, one in argument_fields(places).items()
            if name not in signature.parameters
        }
        by_keyword = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=one.default)
            for name, one in settings.items()
        ]
        function.__signature__ = signature.replace(parameters=[*own, *by_keyword])  # type: ignore[attr-defined]
        lines = [f"        {name}: {help_of(one)}.\n" for name, one in settings.items()]
        function.__doc__ = f"{function.__doc__}\n    Settings:\n{''.join(lines)}    "
        return function

    return show
