"""Dayan, Bouganim and Bonnet 2015: the model of a group, and Wolf against FDP."""

from __future__ import annotations

from writeamp.reproduce import (
    dayan2015_allocation,
    dayan2015_steady,
    dayan2015_swap,
    dayan2015_tpcc,
    dayan2015_updates,
)
from writeamp.reproduce.paper import Bench, Findings, Paper

PARTS = (
    dayan2015_allocation.run,
    dayan2015_steady.run,
    dayan2015_swap.run,
    dayan2015_updates.run,
    dayan2015_tpcc.run,
)


def run(bench: Bench) -> Findings:
    """Compute every item, and the figures if they are wanted."""
    return sum((part(bench) for part in PARTS), Findings())


PAPER = Paper(
    name="dayan2015",
    citation="Dayan, Bouganim, Bonnet: Modelling and Managing SSD Write-amplification (2015)",
    summary="Wolf: its closed form, sudden changes of the workload, and TPC-C",
    run=run,
)
