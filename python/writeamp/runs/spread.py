"""Spread of WA between drives of one block less, the requested size, and one block more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from writeamp.models._expected_value import expected_value

# A warning is given if one block more or less changes WA by more than this share.
_MATERIAL_SPREAD = 0.05


@dataclass(frozen=True)
class Spread:
    """WA on drives one block (in each plane) smaller and larger; NaN if too small to run."""

    one_block_less: float
    as_asked: float
    one_block_more: float
    smallest_op: float
    largest_op: float

    @property
    def wa_spread(self) -> float:
        """Difference between the largest and the smallest of the three WA."""
        values = [self.one_block_less, self.as_asked, self.one_block_more]
        return float(np.nanmax(values) - np.nanmin(values))

    @property
    def share_from_op(self) -> float:
        """Relative change of WA that theory predicts from the smallest and the largest op."""
        return float(expected_value(self.smallest_op) / expected_value(self.largest_op)) - 1

    def warning(self, cyclic: str | None) -> str | None:
        """Return a warning if the spread exceeds 5% of the WA at the requested size, or None.

        Args:
            cyclic: name of the part of the load that may lock in phase with collection, or None.
        """
        if self.wa_spread <= _MATERIAL_SPREAD * self.as_asked:
            return None
        change = (
            f"WA varies by {self.wa_spread:.3f} between drives one block per plane smaller and "
            "larger"
        )
        if cyclic is not None and self.wa_spread > 2 * self.share_from_op * self.as_asked:
            return (
                f"{change}, more than their op explains, because {cyclic} locks in phase with "
                "garbage collection; do not rely on the WA of a single drive size"
            )
        return (
            f"{change}, with op {self.smallest_op:.4g} and {self.largest_op:.4g}; use smaller "
            "blocks or a larger drive"
        )
