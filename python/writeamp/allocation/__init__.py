"""How to divide over-provisioned space between groups of pages: NumPy in, NumPy out.

Dayan, Bouganim and Bonnet 2015 (paper 3), section 5.5: by size, by frequency, their closed form
and the exact optimum, each with the write amplification that it leads to; an allocation that
follows measurements; and the exploration of every workload made of equal chunks.
"""

from __future__ import annotations

from writeamp.allocation.coldest import ColdestGroup
from writeamp.allocation.exploration import configurations, explore
from writeamp.allocation.groups import Groups
from writeamp.allocation.marginal import Followed, Marginal, marginal
from writeamp.allocation.methods import METHODS, by_frequency, by_size, closed_form, optimal
from writeamp.allocation.result import Allocation

__all__ = [
    "METHODS",
    "Allocation",
    "ColdestGroup",
    "Followed",
    "Groups",
    "Marginal",
    "by_frequency",
    "by_size",
    "closed_form",
    "configurations",
    "explore",
    "marginal",
    "optimal",
]
