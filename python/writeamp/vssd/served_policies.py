"""Policies that a virtual drive can work by: those that need no hints of its host."""

from __future__ import annotations

from writeamp.registry.entries import EngineKind, Entry, engine_entries

NO_HINTS = "nothing"


def served_examples(kind: EngineKind) -> tuple[str, ...]:
    """Return an example of each policy of a kind that a virtual drive can work by."""
    return tuple(entry.example for entry in served_entries(kind))


def served_entries(kind: EngineKind) -> list[Entry]:
    """Return the policies of a kind that a virtual drive can work by."""
    is_manager = kind == "managers"
    return [
        entry
        for entry in engine_entries(kind)
        if not is_manager or entry.declared["hears"] == NO_HINTS
    ]
