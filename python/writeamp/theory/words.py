"""Words of the options on theory; nothing here imports a model."""

from __future__ import annotations

from writeamp.units.ratios import RATIOS

DEFAULT_PAGES_PER_BLOCK = 128

# What a prediction can be swept over.
SWEEPABLE = (*RATIOS, "pages_per_block", "target_wa")
