"""The papers that can be reproduced, by name."""

from __future__ import annotations

from writeamp.errors import unknown
from writeamp_papers.dayan2015.paper import PAPER as DAYAN2015
from writeamp_papers.desnoyers2012.paper import PAPER as DESNOYERS2012
from writeamp_papers.fdp_cache.paper import PAPER as FDP_CACHE
from writeamp_papers.four_level.paper import PAPER as FOUR_LEVEL
from writeamp_papers.huang2011.paper import PAPER as HUANG2011
from writeamp_papers.paper import Paper
from writeamp_papers.park2017.paper import PAPER as PARK2017
from writeamp_papers.ssdiq2025.paper import PAPER as SSDIQ2025
from writeamp_papers.verschoren2019.paper import PAPER as VERSCHOREN2019

PAPERS: dict[str, Paper] = {
    paper.name: paper
    for paper in (
        PARK2017,
        HUANG2011,
        DAYAN2015,
        VERSCHOREN2019,
        FOUR_LEVEL,
        DESNOYERS2012,
        FDP_CACHE,
        SSDIQ2025,
    )
}


def find_paper(name: str) -> Paper:
    """Return the registered paper called `name`; raise `WriteampError` if it is unknown."""
    if name not in PAPERS:
        raise unknown("paper", name, PAPERS)
    return PAPERS[name]
