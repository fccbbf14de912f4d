"""Policies that a virtual drive can work by: those that need no hints of its host."""

from __future__ import annotations

from collections.abc import Iterable

from writeamp.registry.entries import EngineKind, Entry, engine_entries
from writeamp.registry.hints import without_hints


def served_examples(kind: EngineKind) -> tuple[str, ...]:
    """Return an example of each policy of a kind that a virtual drive can work by."""
    served: Iterable[Entry] = without_hints() if kind == "managers" else engine_entries(kind)
    return tuple(entry.example for entry in served)
