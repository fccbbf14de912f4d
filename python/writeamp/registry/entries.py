"""Entries registered with the engine: victim policies, block managers, workloads, …"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

from writeamp._engine import entries as registered_entries

EngineKind: TypeAlias = Literal["victims", "managers", "workloads", "detectors", "wear_levelers"]


@dataclass(frozen=True)
class Param:
    """A parameter of an entry; `default` is empty if it must be given.

    `domain` says in words which values are valid, and `values` as data: a `kind` (whole, number,
    word, bytes, spec, list or either) and what belongs to it. Those that are `common` are for a
    whole spec. They, and those that came `later` than others, are left out of the canonical form at
    their defaults.
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
    """A registered policy, manager, workload or the like; `example` is a complete spec of it.

    `small` is one that small drives have room for. What a block manager declares with its example's
    parameters is in `declared`: `layouts`, `victims`, `default_victims`, `hears` and `needs`.
    """

    name: str
    summary: str
    example: str
    small: str
    params: tuple[Param, ...]
    declared: dict[str, Any]


@cache
def engine_entries(kind: EngineKind) -> tuple[Entry, ...]:
    """Return the engine's entries of one kind, in order of registration."""
    return tuple(_entry(found) for found in registered_entries(kind))


def _entry(found: dict[str, Any]) -> Entry:
    params = (Param(**{**param, "aliases": tuple(param["aliases"])}) for param in found["params"])
    own = {name: found[name] for name in ("name", "summary", "example", "small")}
    declared = {k: v for k, v in found.items() if k not in own and k not in ("params", "variants")}
    return Entry(**own, params=tuple(params), declared=declared)
