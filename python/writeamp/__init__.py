"""writeamp: predict, simulate, run and measure the write amplification of flash SSDs.

import writeamp as wa
result = wa.simulate(workload="hot-cold:f=0.1,r=0.9", victims="d-choices:d=10", op=0.15)
print(result.wa, result.ci, result.causes)

Its names and their modules stand in `__init__.pyi`. All of them take a second to import, in which
the command could not react to Ctrl-C; so each is imported when it is first needed, and so is what
reads that list.
"""

from __future__ import annotations


def __getattr__(name: str) -> object:
    """Return one of the names, or `__all__`; read the list of them at the first call."""
    if name.startswith("_") and name != "__all__":  # as pytest looks for
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    # Takes 15 ms, before which the command is to have its handlers.
    from writeamp.fields.arguments import public_names  # noqa: PLC0415

    own = globals()
    own["__getattr__"], own["__dir__"], own["__all__"] = public_names(__name__, __file__)
    return own["__all__"] if name == "__all__" else own["__getattr__"](name)


def __dir__() -> list[str]:
    """Return the names."""
    return list(__getattr__("__all__"))  # type: ignore[call-overload]
