"""Ways to answer: one file each, and one line here, in the order in which they are asked."""

from __future__ import annotations

from writeamp.answers.way import Way
from writeamp.answers.ways import formula, mean_field, real, simulate, timed, virtual

# The quick ones first; the simulation before what is compared with it.
WAYS: tuple[Way, ...] = (
    real.WAY,
    formula.WAY,
    mean_field.WAY,
    simulate.WAY,
    virtual.WAY,
    timed.WAY,
)
