"""Dayan, Bouganim and Bonnet 2015: the model of a group, and Wolf against FDP."""

from __future__ import annotations

from writeamp.reproduce import dayan2015_allocation
from writeamp.reproduce.paper import Bench, Findings, Paper


def run(bench: Bench) -> Findings:
    """Compute every item, and the figures if they are wanted."""
    return dayan2015_allocation.run(bench)


PAPER = Paper(
    name="dayan2015",
    citation="Dayan, Bouganim, Bonnet: Modelling and Managing SSD Write-amplification (2015)",
    summary="Wolf: its closed form, sudden changes of the workload, and TPC-C",
    run=run,
)
