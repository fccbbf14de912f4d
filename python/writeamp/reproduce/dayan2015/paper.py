"""Dayan, Bouganim and Bonnet 2015: the model of a group, and Wolf against FDP."""

from __future__ import annotations

from writeamp.reproduce.bench import Paper
from writeamp.reproduce.dayan2015 import allocation, steady, swap, tpcc, updates
from writeamp.reproduce.dayan2015.readings import READINGS

PARTS = (
    allocation.run,
    steady.run,
    swap.run,
    updates.run,
    tpcc.run,
)

PAPER = Paper(
    name="dayan2015",
    citation="Dayan, Bouganim, Bonnet: Modelling and Managing SSD Write-amplification (2015)",
    summary="Wolf: its closed form, sudden changes of the workload, and TPC-C",
    parts=PARTS,
    readings=READINGS,
)
