"""Registry of the engine's entries, and specs of entries."""

from __future__ import annotations

from writeamp.registry.entries import EngineKind, Entry, Param, engine_entries
from writeamp.registry.specs import Spec, SpecLike, split_specs

__all__ = [
    "EngineKind",
    "Entry",
    "Param",
    "Spec",
    "SpecLike",
    "engine_entries",
    "split_specs",
]
