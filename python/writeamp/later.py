"""The names of a package, each imported from its home when it is first asked for."""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # as that of `typing`, which takes long to import
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def names_from(
    package: str, homes: Mapping[str, tuple[str, ...]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` of a package, which also finds its modules, and its `__dir__`.

    Args:
        package: its full name.
        homes: the names that it has from each of its modules.
    """
    home_of = {name: home for home, names in homes.items() for name in names}

    def found(name: str) -> Any:
        if name in home_of:
            value = getattr(import_module(f"{package}.{home_of[name]}"), name)
        else:
            try:
                value = import_module(f"{package}.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"{package}.{name}":
                    raise
                raise AttributeError(f"module {package!r} has no attribute {name!r}") from None
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return found, listed
