"""Entries of the engine's registry, such as victim policies, managers and workloads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

from writeamp._engine import entries as registered_entries

EngineKind: TypeAlias = Literal["victims", "managers", "workloads", "detectors", "wear_levelers"]


@dataclass(frozen=True)
class Param:
    """A parameter of an entry; `default` is empty if the parameter is required.

    `domain` describes the valid values as text, and `values` as data: a `kind` (whole, number,
    word, bytes, spec, list or either) and its limits. `common` parameters apply to all entries of a
    kind, and `later` ones were added in a later version. Both are left out of the canonical form if
    they have their defaults.
    """

    name: str
    aliases: tuple[str, ...]
    default: str
    help: str
    domain: str
    values: dict[str, Any]
    common: bool
    later: bool


@dataclass(frozen=True)
class Entry:
    """A registered policy, manager, workload, …; `example` is a complete spec of it.

    `small` is a spec that fits small drives. `declared` is the declaration of a block manager with
    the parameters of `example`: `layouts`, `victims`, `default_victims`, `required_hints` and
    `needs`.
    """

    name: str
    summary: str
    example: str
    small: str
    params: tuple[Param, ...]
    declared: dict[str, Any]


@cache
def engine_entries(kind: EngineKind) -> tuple[Entry, ...]:
    """Return the engine's entries of a kind, in order of registration."""
    return tuple(_entry(registered) for registered in registered_entries(kind))


def _entry(registered: dict[str, Any]) -> Entry:
    params = (
        Param(**{**param, "aliases": tuple(param["aliases"])}) for param in registered["params"]
    )
    own = {name: registered[name] for name in ("name", "summary", "example", "small")}
    declared = {
        k: v for k, v in registered.items() if k not in own and k not in ("params", "variants")
    }
    return Entry(**own, params=tuple(params), declared=declared)
