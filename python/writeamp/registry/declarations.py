"""Declarations of block managers, the engine's and users', and their required hints."""

from __future__ import annotations

from typing import Any

from writeamp import custom
from writeamp._engine import declared as engine_declared
from writeamp._engine import default_victims as engine_default_victims
from writeamp.errors import WriteampError
from writeamp.registry.entries import Entry, engine_entries
from writeamp.registry.specs import Spec

# Workloads that write zones, whose WA depends on the ratio of zone to erase unit.
ZONED = ("zones-sequential", "nowa")

# Workloads that delete ranges whose size is a share of the drive, so WA depends on the ratio of
# range to erase unit.
TABLED = {"lsm": "a table", "log-rewrite": "an extent"}

# Workloads that count the bytes of an application above the host's writes.
LAYERED = ("lsm", "btree", "log-rewrite")


def default_victims(manager: str) -> str:
    """Return the default victim policy of a manager.

    Raises:
        WriteampError: an unknown manager, or an invalid victim policy in its class.
    """
    policy = custom.find("managers", manager)
    if policy is None:
        return engine_default_victims(manager)
    requested = getattr(policy.cls, "victims", "greedy")
    try:
        return str(Spec.of("victims", requested))
    except WriteampError as error:
        raise WriteampError(f"victims of {policy.reference}: {error}") from None


def declared(
    manager: str, *, victims: str | None = None, layout: str | None = None
) -> dict[str, Any]:
    """Return the declaration of a manager: `layouts`, `victims`, `required_hints` and more.

    Args:
        manager: spec of the manager.
        victims: victim policy to check together with `layout`; by default the manager's own.
        layout: layout to check, or None.

    Raises:
        WriteampError: the manager does not support the layout with this victim policy; the sentence
            lists the supported ones.
    """
    policy = custom.find("managers", manager)
    if policy is not None:
        any_other = engine_declared("single")
        source = custom.PolicySource(policy)
        return any_other | {
            "default_victims": default_victims(manager),
            "required_hints": source.required_hints,
        }
    if victims is None or custom.find("victims", victims) is None:
        return engine_declared(manager, victims=victims, layout=layout)
    taken = engine_declared(manager, layout=layout)
    names = [entry.name for entry in engine_entries("victims")]
    if taken["victims"] != names:
        raise WriteampError(
            f"{Spec.of('managers', manager).name} does not support the victim policy {victims}; "
            f"valid: {', '.join(taken['victims'])}"
        )
    return taken


def is_custom(kind: str, text: str) -> bool:
    """Return whether a spec names a user-defined policy."""
    return custom.find(kind, text) is not None


def source_of(kind: str, text: str | None) -> custom.PolicySource | None:
    """Return the source of a user's policy; None for the engine's policies."""
    policy = None if text is None else custom.find(kind, text)
    return None if policy is None else custom.PolicySource(policy)


_NO_HINTS = "nothing"


def without_hints() -> list[Entry]:
    """Return the block managers that need no hints."""
    managers = engine_entries("managers")
    return [entry for entry in managers if entry.declared["required_hints"] == _NO_HINTS]


def needed_hints(manager: str) -> str | None:
    """Return the hints that a block manager needs from the host, as text, or None."""
    hints: str = declared(manager)["required_hints"]
    return None if hints == _NO_HINTS else hints.replace("_", " ")


def refuse_hints(manager: str, gap: str) -> None:
    """Check that a block manager works without hints.

    Args:
        manager: spec of the manager.
        gap: end of the sentence on why hints are missing, such as "programs do not provide".

    Raises:
        WriteampError: the manager needs hints; the sentence lists managers without hints.
    """
    hints = needed_hints(manager)
    if hints is not None:
        good = ", ".join(entry.name for entry in without_hints())
        if hints == "handles":
            good += f", and {Spec.of('managers', manager).name} with by=range"
        raise WriteampError(
            f"{manager} needs hints on {hints}, which {gap}; block managers without hints: {good}"
        )
