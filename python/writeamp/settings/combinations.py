"""Combinations of block managers with victim policies in a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from writeamp.errors import WriteampError
from writeamp.registry.declarations import declared
from writeamp.registry.specs import Spec


@dataclass(frozen=True)
class Combinations:
    """Pairs of a manager and the victim policy asked for, None for its own; notes on others.

    `with_victims` says that managers alone do not tell the pairs apart.
    """

    pairs: tuple[tuple[Spec, Spec | None], ...]
    notes: tuple[str, ...] = ()
    with_victims: bool = False


def combined(managers: Sequence[Spec], victims: Sequence[Spec]) -> Combinations:
    """Return every manager with every victim policy that it takes.

    One that takes none of several has its own; a single policy is for all of them, and a manager
    that does not take it says so when it is built.

    Raises:
        WriteampError: a victim policy of several that no manager takes.
    """
    if len(victims) < 2:
        asked = victims[0] if victims else None
        return Combinations(tuple((manager, asked) for manager in managers))
    pairs: list[tuple[Spec, Spec | None]] = []
    notes: list[str] = []
    refusals: dict[Spec, str] = {}
    for manager in managers:
        reasons = {one: reason for one in victims if (reason := _refusal(manager, one))}
        taken = [one for one in victims if one not in reasons]
        pairs += [(manager, one) for one in taken] or [(manager, None)]
        refusals = reasons | refusals
        if reasons:
            notes.append(_note(manager, taken, next(iter(reasons.values()))))
    for one in victims:
        if not any(one == taken for _, taken in pairs):
            raise WriteampError(f"no manager takes victims by {one}: {refusals[one]}")
    return Combinations(tuple(pairs), tuple(notes), with_victims=True)


def _refusal(manager: Spec, victims: Spec) -> str:
    """Return why a manager does not take such victims, whatever the drive; "" if it does."""
    layouts = declared(str(manager))["layouts"]
    try:
        declared(str(manager), victims=str(victims), layout=layouts[0])
    except WriteampError as error:
        return str(error)
    return ""


def _note(manager: Spec, taken: Sequence[Spec], reason: str) -> str:
    what = f"{', '.join(map(str, taken))} only" if taken else "its own victim policy only"
    return f"{manager} is compared with {what}: {reason}"
