"""Names of a package that are imported when they are first used."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # not from `typing`, whose import is slow
if TYPE_CHECKING:
    from collections.abc import Callable


def late_names(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package, for the names that its stub declares.

    Args:
        package: name of the package.
        file: path of the package's `__init__.py`; the stub is in the same folder.
    """

    def get(name: str) -> object:
        if name.startswith("_") and name not in (
            "__all__",
            "__version__",
        ):  # pytest looks up names like these
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        # The import takes 15 ms. The command must install its signal handlers before that, so the
        # import waits until a name is used.
        from writeamp.fields.arguments import public_names  # noqa: PLC0415

        own = vars(sys.modules[package])
        own["__getattr__"], own["__dir__"], own["__all__"] = public_names(package, file)
        return own["__all__"] if name == "__all__" else own["__getattr__"](name)

    return get, lambda: list(get("__all__"))  # type: ignore[call-overload]
