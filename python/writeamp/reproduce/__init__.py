"""Reproductions of papers: their published values beside ours, one folder a paper.

A paper's folder computes everything when it is run and nothing when it is imported; verdicts follow
from the numbers (`writeamp.reproduce.items`), never from the folder.
"""

from __future__ import annotations

from writeamp.errors import unknown
from writeamp.reproduce.bench import Bench, Findings, Paper
from writeamp.reproduce.dayan2015.paper import PAPER as DAYAN2015
from writeamp.reproduce.four_level.paper import PAPER as FOUR_LEVEL
from writeamp.reproduce.huang2011.paper import PAPER as HUANG2011
from writeamp.reproduce.items import (
    Erratum,
    Item,
    Verdict,
    at_most,
    checked,
    compared,
    ordered,
    typed_in,
    within,
)
from writeamp.reproduce.known import surprises
from writeamp.reproduce.park2017.paper import PAPER as PARK2017
from writeamp.reproduce.readings import Reading, by_choice
from writeamp.reproduce.verschoren2019.paper import PAPER as VERSCHOREN2019

__all__ = [
    "PAPERS",
    "Bench",
    "Erratum",
    "Findings",
    "Item",
    "Paper",
    "Reading",
    "Verdict",
    "at_most",
    "by_choice",
    "checked",
    "compared",
    "find_paper",
    "ordered",
    "surprises",
    "typed_in",
    "within",
]

PAPERS: dict[str, Paper] = {
    paper.name: paper for paper in (PARK2017, HUANG2011, DAYAN2015, VERSCHOREN2019, FOUR_LEVEL)
}


def find_paper(name: str) -> Paper:
    """Return the registered paper called `name`; an unknown name is a `WriteampError`."""
    if name not in PAPERS:
        raise unknown("paper", name, PAPERS)
    return PAPERS[name]
