"""The words of options on theory, for which no model need be imported."""

from __future__ import annotations

from writeamp.devices.ratios import RATIOS

# The registered models, in the order in which they are listed: each is the file of `models/` that
# has its name.
MODEL_NAMES = (
    "uniform-distribution",
    "expected-value",
    "fifo",
    "markov",
    "d-choices",
    "coupon-collector",
)

DEFAULT_PAGES_PER_BLOCK = 128

# What a prediction can be swept over.
SWEEPABLE = (*RATIOS, "pages_per_block", "target_wa")
