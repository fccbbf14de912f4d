"""The part of paper 5 that `make test` runs, with pins of its own.

It has the default reading only, on drives that are smaller than those of the short form.
"""

from __future__ import annotations

from dataclasses import replace

from writeamp_papers.four_level import micro, scales, verification
from writeamp_papers.four_level.choices import LABEL, PAGE, STRIPE
from writeamp_papers.four_level.drives import Scale
from writeamp_papers.four_level.paper import PAPER as WHOLE

PAPER = replace(WHOLE, readings=WHOLE.readings[:1])
# Readings that are not run, from `CHOICES`.
LEFT_OUT = (PAGE, STRIPE, LABEL)

# Largest error of the scale of drives, as in `scales`.
ERROR = 0.2
_SMALL_WRITES = 8192
# Module, name and value of what replaces settings of the short form.
REPLACED = (
    (scales, "SHORT_ERROR", ERROR),
    (micro, "MOST_SMALL_WRITES", _SMALL_WRITES),
    (
        verification,
        "SHORT",
        replace(verification.SHORT, scale=Scale(64, 256), most_small_writes=_SMALL_WRITES),
    ),
)
