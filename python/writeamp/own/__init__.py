"""Placements and victim policies of users, written in Python: what they are, and where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writeamp.later import names_from
from writeamp.own.listing import Listed, classes_in, listed
from writeamp.own.names import Kind, known_names, placement, victim_policy
from writeamp.own.policies import NEVER, DriveFacts, Placement, VictimPolicy
from writeamp.own.references import (
    KINDS,
    OwnPolicy,
    as_written,
    find,
    find_class,
    is_reference,
    is_users,
    reference_of,
    split_file,
    without_imports,
)

if TYPE_CHECKING:
    from writeamp.own.compiling import compiled
    from writeamp.own.source import HOOKS, Source

__all__ = [
    "HOOKS",
    "KINDS",
    "NEVER",
    "DriveFacts",
    "Kind",
    "Listed",
    "OwnPolicy",
    "Placement",
    "Source",
    "VictimPolicy",
    "as_written",
    "classes_in",
    "compiled",
    "find",
    "find_class",
    "is_reference",
    "is_users",
    "known_names",
    "listed",
    "placement",
    "reference_of",
    "split_file",
    "victim_policy",
    "without_imports",
]

# What these do takes NumPy, which names of policies do without.
if not TYPE_CHECKING:
    __getattr__, __dir__ = names_from(
        "writeamp.own", {"compiling": ("compiled",), "source": ("HOOKS", "Source")}
    )
