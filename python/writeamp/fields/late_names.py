"""Names of a package that are imported on first use."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # not from `typing`, whose import is slow
if TYPE_CHECKING:
    from collections.abc import Callable


def late_names(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package whose stub declares its names.

    Args:
        package: its name.
        file: its `__init__.py`; the stub is in the same folder.
    """

    def get(name: str) -> object:
        if name.startswith("_") and name not in (
            "__all__",
            "__version__",
        ):  # pytest looks up such names
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        # Takes 15 ms; the command must install its signal handlers before.
        from writeamp.fields.arguments import public_names  # noqa: PLC0415

        own = vars(sys.modules[package])
        own["__getattr__"], own["__dir__"], own["__all__"] = public_names(package, file)
        return own["__all__"] if name == "__all__" else own["__getattr__"](name)

    return get, lambda: list(get("__all__"))  # type: ignore[call-overload]
