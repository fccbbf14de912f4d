"""Block managers by the hints that they need of the host."""

from __future__ import annotations

from writeamp.errors import WriteampError
from writeamp.registry.declarations import declared
from writeamp.registry.entries import Entry, engine_entries

_NO_HINTS = "nothing"


def without_hints() -> list[Entry]:
    """Return the block managers that need no hints."""
    managers = engine_entries("managers")
    return [entry for entry in managers if entry.declared["hears"] == _NO_HINTS]


def needed_hints(manager: str) -> str | None:
    """Return the hints that a block manager needs of the host, in words; None if it needs none."""
    hints: str = declared(manager)["hears"]
    return None if hints == _NO_HINTS else hints.replace("_", " ")


def refuse_hints(manager: str, gap: str) -> None:
    """Refuse a block manager that needs hints where nobody gives any.

    Args:
        manager: its spec.
        gap: who gives no hints to whom, such as "no program gives a drive".

    Raises:
        WriteampError: it needs some; the sentence names those that need none.
    """
    hints = needed_hints(manager)
    if hints is not None:
        good = ", ".join(entry.name for entry in without_hints())
        raise WriteampError(
            f"{manager} needs hints on {hints}, which {gap}; block managers that need none: {good}"
        )
