"""Changes that make it less: one file for each kind, and one line here."""

from __future__ import annotations

from writeamp.answers.advice import aligned_writes, more_op, other_manager, other_victims, trim
from writeamp.answers.change import Kind

KINDS: tuple[Kind, ...] = (
    more_op.KIND,
    trim.KIND,
    other_manager.KIND,
    other_victims.KIND,
    aligned_writes.KIND,
)
