"""Declarations of block managers, the engine's and users', and the hints that they need."""

from __future__ import annotations

from typing import Any

from writeamp import custom
from writeamp._engine import declared as engine_declared
from writeamp._engine import default_victims as engine_default_victims
from writeamp.errors import WriteampError
from writeamp.registry.entries import Entry, engine_entries
from writeamp.registry.specs import Spec


def default_victims(manager: str) -> str:
    """Return the victim policy of a manager if none is asked for.

    Raises:
        WriteampError: there is no such manager, or its class names no victim policy.
    """
    found = custom.find("managers", manager)
    if found is None:
        return engine_default_victims(manager)
    asked = getattr(found.cls, "victims", "greedy")
    try:
        return str(Spec.of("victims", asked))
    except WriteampError as error:
        raise WriteampError(f"victims of {found.reference}: {error}") from None


def declared(
    manager: str, *, victims: str | None = None, layout: str | None = None
) -> dict[str, Any]:
    """Return a manager's declaration: `layouts`, `victims`, `default_victims`, `hears` and more.

    Args:
        manager: its spec.
        victims: with a layout, the victim policy that it is asked to take; its own by default.
        layout: refused if the manager does not serve it under that victim policy.

    Raises:
        WriteampError: so it is, with what the manager serves.
    """
    found = custom.find("managers", manager)
    if found is not None:
        any_other = engine_declared("single")
        source = custom.PolicySource(found)
        return any_other | {"default_victims": default_victims(manager), "hears": source.hears}
    if victims is None or custom.find("victims", victims) is None:
        return engine_declared(manager, victims=victims, layout=layout)
    taken = engine_declared(manager, layout=layout)
    names = [entry.name for entry in engine_entries("victims")]
    if taken["victims"] != names:
        raise WriteampError(
            f"{Spec.of('managers', manager).name} takes its victims by "
            f"{', '.join(taken['victims'])} only, not by {victims}"
        )
    return taken


def is_custom(kind: str, text: str) -> bool:
    """Return whether a spec names a user-defined policy."""
    return custom.find(kind, text) is not None


def source_of(kind: str, text: str | None) -> custom.PolicySource | None:
    """Return the source of a user's policy; None for one of the engine's."""
    found = None if text is None else custom.find(kind, text)
    return None if found is None else custom.PolicySource(found)


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
