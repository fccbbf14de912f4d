"""Ways to answer: one file each, and one line here, in the order in which they are asked.

Those of other parts, as the real drive, are entry points of `writeamp.ways`.
"""

from __future__ import annotations

from writeamp.answers.way import Way
from writeamp.answers.ways import formula, mean_field, simulate, timed, virtual
from writeamp.extensions import extensions, loaded

# The quick ones first; the simulation before what is compared with it.
WAYS: tuple[Way, ...] = (
    *loaded(extensions("writeamp.ways").values(), Way).values(),
    formula.WAY,
    mean_field.WAY,
    simulate.WAY,
    virtual.WAY,
    timed.WAY,
)
