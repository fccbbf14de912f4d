"""Names of a package that are imported when they are first needed."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # as that of `typing`, which takes long to import
if TYPE_CHECKING:
    from collections.abc import Callable


def late_names(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package whose names stand in a stub.

    Args:
        package: its name.
        file: its `__init__.py`, beside which the stub is.
    """

    def get(name: str) -> object:
        if name.startswith("_") and name not in ("__all__", "__version__"):  # as pytest looks for
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        # Takes 15 ms, before which the command is to have its handlers.
        from writeamp.fields.arguments import public_names  # noqa: PLC0415

        own = vars(sys.modules[package])
        own["__getattr__"], own["__dir__"], own["__all__"] = public_names(package, file)
        return own["__all__"] if name == "__all__" else own["__getattr__"](name)

    return get, lambda: list(get("__all__"))  # type: ignore[call-overload]
