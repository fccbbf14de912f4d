"""What the engine has registered: victim policies, block managers, workloads and the rest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from writeamp._engine import entries as registered_entries

EngineKind: TypeAlias = Literal["victims", "managers", "workloads", "detectors", "wear_levelers"]


@dataclass(frozen=True)
class Param:
    """A parameter of an entry; `default` is empty if it must be given."""

    name: str
    default: str
    help: str


@dataclass(frozen=True)
class Entry:
    """A registered policy, manager, workload or the like; `example` is a complete spec of it."""

    name: str
    summary: str
    example: str
    params: tuple[Param, ...]


@cache
def engine_entries(kind: EngineKind) -> tuple[Entry, ...]:
    """Return the engine's entries of one kind, in order of registration."""
    return tuple(
        Entry(e["name"], e["summary"], e["example"], tuple(Param(**p) for p in e["params"]))
        for e in registered_entries(kind)
    )
