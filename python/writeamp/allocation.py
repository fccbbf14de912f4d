"""How to divide over-provisioned space between groups of pages: NumPy in, NumPy out.

Dayan, Bouganim and Bonnet 2015 (paper 3), section 5.5: by size, by frequency, their closed form
and the exact optimum, each with the write amplification that it leads to; an allocation that
follows measurements; and the exploration of every workload made of equal chunks.
"""

from __future__ import annotations

from writeamp.theory.allocation.coldest import ColdestGroup
from writeamp.theory.allocation.equal_gain import EqualGain, Followed, equal_gain
from writeamp.theory.allocation.exploration import configurations, explore
from writeamp.theory.allocation.groups import GroupTable
from writeamp.theory.allocation.methods import METHODS, by_frequency, by_size, closed_form, optimal
from writeamp.theory.allocation.result import Allocation

__all__ = [
    "METHODS",
    "Allocation",
    "ColdestGroup",
    "EqualGain",
    "Followed",
    "GroupTable",
    "Groups",
    "Marginal",
    "by_frequency",
    "by_size",
    "closed_form",
    "configurations",
    "equal_gain",
    "explore",
    "marginal",
    "optimal",
]

# Older names; Wolf's `allocation=marginal` is another method, now `allocation=effective-size`.
Groups = GroupTable
Marginal = EqualGain
marginal = equal_gain
