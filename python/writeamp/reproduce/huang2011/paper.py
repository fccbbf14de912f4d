"""Huang, Li, Szalay and Terzis, "Performance modeling and analysis of flash-based storage devices"
(MSST 2011; paper 2)."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from writeamp.reproduce.bench import Bench, Findings, Paper

_ROOM = "writeamp.reproduce.huang2011"


def _part(name: str) -> Callable[[Bench], Findings]:
    """Return a part that is imported as it is run: its models need the extra `blackbox`."""

    def run(bench: Bench) -> Findings:
        found: Findings = import_module(f"{_ROOM}.{name}").run(bench)
        return found

    return run


PAPER = Paper(
    name="huang2011",
    citation="Huang, Li, Szalay and Terzis, Performance modeling and analysis of flash-based "
    "storage devices (MSST 2011)",
    summary="black-box models of a disk, three flash drives and an array, on grids and traces",
    parts=tuple(map(_part, ("microbenchmarks", "specific", "traces", "curves"))),
    options=frozenset({"resume", "traces"}),
)
