"""Dayan, Bouganim and Bonnet 2015: the model of a group, and Wolf against FDP."""

from __future__ import annotations

from writeamp_papers.dayan2015.readings import READINGS
from writeamp_papers.paper import Paper, late_part

_PARTS = ("allocation", "blocks", "steady", "swap", "updates", "tpcc")

PAPER = Paper(
    name="dayan2015",
    citation="Dayan, Bouganim, Bonnet: Modelling and Managing SSD Write-amplification (2015)",
    summary="the block manager Wolf: closed form of its spare space, swaps of hot and cold groups, "
    "and TPC-C",
    parts=tuple(late_part(f"writeamp_papers.dayan2015.{name}") for name in _PARTS),
    readings=READINGS,
)
