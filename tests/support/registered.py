"""The registered entries, as tests walk them: by what they declare.

`WRITEAMP_POLICY` names the one entry to be tested (`make check-policy`); of other kinds than its
own, all entries are walked.
"""

from __future__ import annotations

import os

from writeamp import _engine
from writeamp.registry import EngineKind, Entry, engine_entries

ONLY = os.environ.get("WRITEAMP_POLICY")


def entries(kind: EngineKind) -> list[Entry]:
    """Return the entries of a kind, or the one that is to be tested."""
    found = list(engine_entries(kind))
    if ONLY is None or _engine.kind_of(ONLY) != kind:
        return found
    return [entry for entry in found if entry.name == ONLY]


def alone(kind: EngineKind) -> list[Entry]:
    """Return the entries of a kind; where one entry is to be tested, nothing but that."""
    return entries(kind) if ONLY is None or _engine.kind_of(ONLY) == kind else []


def managers(layout: str = "flat") -> list[Entry]:
    """Return the block managers that serve a layout."""
    return [entry for entry in entries("managers") if layout in entry.declared["layouts"]]


def victims(manager: Entry) -> list[Entry]:
    """Return the victim policies that a block manager serves."""
    return [entry for entry in entries("victims") if entry.name in manager.declared["victims"]]


def fewest_blocks(manager: Entry, usual: int) -> int:
    """Return the blocks of a small drive that has room for the streams of a manager."""
    few_streams = 2
    return usual if manager.declared["needs"]["most_streams"] <= few_streams else 512
