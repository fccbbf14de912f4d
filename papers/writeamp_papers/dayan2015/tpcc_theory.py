"""Dayan et al. 2015, section 6.2: closed form and optimum in theory, groups of Fig. 9."""

from __future__ import annotations

from itertools import product

import numpy as np

from writeamp import allocation
from writeamp.allocation.coldest import ColdestGroup
from writeamp_papers.dayan2015 import updates as update_frequencies
from writeamp_papers.dayan2015.drives import FLOOR
from writeamp_papers.dayan2015.readings import (
    AS_IN_TEXT,
    COLD_SPACE,
    FILL,
    FILLS,
    LEAST,
    SMALLEST,
    by_reading,
)
from writeamp_papers.items import Item, compared
from writeamp_papers.readings import Reading

# All runs give each group at least 2% of its size as spare space (`FLOOR`), so no smaller value
# exists. 5% of the size of the smallest group, the hot tail, is 0.02% of the coldest group's size.
_COLD_SPACE = {AS_IN_TEXT: 0.05, LEAST: FLOOR, SMALLEST: FLOOR}


def item() -> Item:
    """Return the item on the closed form's extra WA in theory, with Fig. 9's clusters as groups."""
    sizes = [share for share, _, _ in update_frequencies.CLUSTERS]
    means = [mean for _, mean, _ in update_frequencies.CLUSTERS]
    low, high = update_frequencies.TAIL
    tail, tail_mean = update_frequencies.TAIL_SHARE, (high - low) / np.log(high / low)

    def lost(fill: float, cold_op: float, *, with_tail: bool) -> float:
        """Return the closed form's extra WA in percent of the optimal WA.

        `cold_op` is the space of the coldest group under the closed form, divided by its size.
        """
        of_groups = [*sizes, tail] if with_tail else sizes
        updates = [0.0, *means, tail_mean][: len(of_groups) + 1]
        pages = np.array([1 - sum(of_groups), *of_groups])
        shares = pages * updates / (pages @ updates)
        op = 1 / fill - 1
        rule = ColdestGroup(op=cold_op, below=0.05)
        closed = allocation.closed_form(pages, shares, op, coldest=rule)
        optimal = allocation.optimal(pages, shares, op, coldest=ColdestGroup(op=FLOOR))
        return 100 * (float(closed.wa) / float(optimal.wa) - 1)

    choices = {
        f"with {100 * cold_op:g}%{', and the hot tail' if with_tail else ''} at fill {fill:.4g}": (
            lost(fill, cold_op, with_tail=with_tail)
        )
        for fill, cold_op, with_tail in product(FILLS.values(), (FLOOR, 0.05), (False, True))
    }

    def of(reading: Reading) -> float:
        cold_op = _COLD_SPACE[reading.choices[COLD_SPACE]]
        return lost(FILLS[reading.choices[FILL]], cold_op, with_tail=True)

    return compared(
        "Fig. 10, in theory: excess of the closed form's WA over the optimum's, groups known (%)",
        0.2,
        by_reading(of),
        0.3,
        note=", ".join(f"{value:.1f} {choice}" for choice, value in choices.items()),
    )
