"""Huang, Li, Szalay and Terzis, "Performance modeling and analysis of flash-based storage devices"
(MSST 2011; paper 2)."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from writeamp.reproduce.bench import Bench, Findings, Paper
from writeamp.reproduce.huang2011.devices import DEVICES
from writeamp.reproduce.huang2011.readings import READINGS

_ROOM = "writeamp.reproduce.huang2011"


def _part(module: str, function: str = "run", *arguments: str) -> Callable[[Bench], Findings]:
    """Return a part that is imported as it is run: its models need the extra `blackbox`."""

    def run(bench: Bench) -> Findings:
        found: Findings = getattr(import_module(f"{_ROOM}.{module}"), function)(bench, *arguments)
        return found

    return run


# A device's tables are finished before the next is measured; sentences are about several.
PAPER = Paper(
    name="huang2011",
    citation="Huang, Li, Szalay and Terzis, Performance modeling and analysis of flash-based "
    "storage devices (MSST 2011)",
    summary="black-box models of a disk, three flash drives and an array, on grids and traces",
    parts=(
        _part("specification", "profiles"),
        *(_part("tables", "of_device", device) for device in DEVICES),
        _part("specification", "speeds"),
        _part("curves"),
        _part("statements"),
        _part("traces"),
    ),
    readings=READINGS,
    options=frozenset({"resume", "traces"}),
)
