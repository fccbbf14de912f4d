"""Preconditioning: fill a drive, and age it if requested, before its run.

Preconditioning is not counted: the run's counters, series and erases begin after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from writeamp import traces
from writeamp._engine import EarlierHost
from writeamp._engine import Load as EngineLoad
from writeamp._engine import Simulation as EngineSimulation
from writeamp.devices.device import Device
from writeamp.registry.specs import Spec
from writeamp.runs.loads import load_of_trace
from writeamp.runs.plan import Plan, used_pages
from writeamp.runs.series import flash_pages
from writeamp.settings.precondition import Precondition
from writeamp.settings.settings import LoadSettings
from writeamp.traces.intervals import union

# Pages written between two checks for Ctrl-C and progress. They take at most some tenths of a
# second.
CHUNK_PAGES = 1 << 17

# Steady-state criterion of SNIA's Solid State Storage Performance Test Specification, for the last
# five rounds: their range (maximum minus minimum) is at most 20% of their mean, and their best-fit
# line changes by at most 10% of the mean. There are at most 25 rounds.
_WINDOW_ROUNDS = 5
MOST_ROUNDS = 25
_MOST_RANGE = 0.20
_MOST_SLOPE = 0.10

_WRITE = 0
Tick = Callable[[], None]


@dataclass(frozen=True)
class Ageing:
    """Record of how a drive was aged after its fill.

    `host_pages` and `flash_pages` are the numbers of pages written and programmed by ageing.
    `rounds` has the WA of each round. A round is one drive write (the last may be shorter), or one
    pass over the trace. `steady` is whether the last five rounds met SNIA's criterion, or None if
    it was not checked.
    """

    precondition: str
    host_pages: int
    flash_pages: int
    rounds: tuple[float, ...]
    steady: bool | None

    @property
    def warnings(self) -> list[str]:
        """Warnings for readers of the run's WA."""
        if self.steady is not False:
            return []
        last = self.rounds[-_WINDOW_ROUNDS:]
        return [
            f"the random writes of the preconditioning were not steady after {len(self.rounds)} "
            f"drive writes: WA of the last {len(last)} ranges from {min(last):.4g} to "
            f"{max(last):.4g}; use --precondition random:{2 * MOST_ROUNDS} to write more"
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON types."""
        return {
            "host_pages": self.host_pages,
            "flash_pages": self.flash_pages,
            "wa_by_round": list(self.rounds),
            "steady": self.steady,
        }


def precondition(
    simulation: EngineSimulation, plan: Plan, drive: Device, tick: Tick
) -> Ageing | None:
    """Bring the drive into the state in which its run begins; return how it was aged, or None.

    `tick` is called from time to time.
    """
    ageing = _fill_and_age(simulation, plan, drive, tick)
    if plan.uncounted is not None:
        host = EarlierHost(load_of_trace(plan.uncounted, passes=1), seed=plan.seed)
        while simulation.precondition(host, CHUNK_PAGES) == CHUNK_PAGES:
            tick()
    return ageing


def _fill_and_age(
    simulation: EngineSimulation, plan: Plan, drive: Device, tick: Tick
) -> Ageing | None:
    since_tick = 0
    for first, end in _chunks(fill_runs(plan.load, plan.host, drive)):
        simulation.fill(first, end)
        since_tick += end - first
        if since_tick >= CHUNK_PAGES:
            tick()
            since_tick = 0
    requested = Precondition.of(plan.host.precondition)
    if plan.earlier is not None:
        return _Ager(simulation, load_of_trace(plan.earlier, passes=1), plan, tick).replay()
    if not requested.is_random:
        return None
    load = EngineLoad.spec("uniform", _filled_pages(plan, drive))
    ager = _Ager(simulation, load, plan, tick)
    if requested.drive_writes is None:
        return ager.write_until_steady(drive.logical_pages)
    in_all = max(1, round(requested.drive_writes * drive.logical_pages))
    return ager.write(in_all, drive.logical_pages)


def fill_runs(
    load: Spec | traces.PageTrace, host: LoadSettings, drive: Device
) -> list[tuple[int, int]]:
    """Return the page ranges (first page, page after the last) that the fill writes once each.

    If the drive is filled with the workload's pages only, pages that are never written stay free.
    """
    fill = Precondition.of(host.precondition).fill
    if fill == "none":
        return []
    if isinstance(load, Spec):
        # Pages beyond the workload's utilization are never written, and stay free.
        return [(0, used_pages(load, host, drive))]
    return written_runs(load) if fill == "workload" else [(0, drive.logical_pages)]


def written_runs(trace: traces.PageTrace) -> list[tuple[int, int]]:
    """Return the page ranges (first page, page after the last) that a trace writes, ascending."""
    writes = trace.op == _WRITE
    start = trace.start[writes].astype(np.uint64)
    runs = union(pl.DataFrame({"start": start, "end": start + trace.count[writes]}))
    return list(zip(runs.start.tolist(), runs.end.tolist(), strict=True))


def is_steady(rounds: list[float]) -> bool:
    """Return whether the last five rounds are steady by SNIA's test specification."""
    if len(rounds) < _WINDOW_ROUNDS:
        return False
    window = np.array(rounds[-_WINDOW_ROUNDS:])
    mean = float(window.mean())
    slope = float(np.polyfit(np.arange(_WINDOW_ROUNDS), window, 1)[0])
    moves = abs(slope) * (_WINDOW_ROUNDS - 1)
    return float(np.ptp(window)) <= _MOST_RANGE * mean and moves <= _MOST_SLOPE * mean


class _Ager:
    """Ageing in progress: the host that ages the drive, and the WA of each round."""

    def __init__(
        self, simulation: EngineSimulation, load: EngineLoad, plan: Plan, tick: Tick
    ) -> None:
        self.simulation = simulation
        self.host = EarlierHost(load, seed=plan.seed)
        self.precondition = plan.host.precondition
        self.tick = tick
        self.start_pages = flash_pages(self.simulation.counters())
        self.host_pages = 0
        self.rounds: list[float] = []

    def replay(self) -> Ageing:
        """Replay the whole load as one round."""
        self.round(None)
        return self.record(None)

    def write(self, pages: int, round_pages: int) -> Ageing:
        """Write `pages` pages, in rounds."""
        while self.host_pages < pages:
            self.round(min(round_pages, pages - self.host_pages))
        return self.record(None)

    def write_until_steady(self, round_pages: int) -> Ageing:
        """Write rounds until WA is steady, or the maximum number of rounds is reached."""
        while len(self.rounds) < MOST_ROUNDS and not is_steady(self.rounds):
            self.round(round_pages)
        return self.record(is_steady(self.rounds))

    def round(self, pages: int | None) -> None:
        """Write `pages` pages, or replay the whole load if None; add the WA as a round."""
        programmed_before, written = flash_pages(self.simulation.counters()), 0
        while True:
            wanted = CHUNK_PAGES if pages is None else min(CHUNK_PAGES, pages - written)
            done = self.simulation.precondition(self.host, wanted)
            written += done
            self.tick()
            if done < wanted or written == pages:
                break
        self.host_pages += written
        self.rounds.append((flash_pages(self.simulation.counters()) - programmed_before) / written)

    def record(self, steady: bool | None) -> Ageing:
        programmed = flash_pages(self.simulation.counters()) - self.start_pages
        return Ageing(self.precondition, self.host_pages, programmed, tuple(self.rounds), steady)


def _filled_pages(plan: Plan, drive: Device) -> int:
    """Return the number of logical pages, from page 0, that fill and random ageing write."""
    return fill_runs(plan.load, plan.host, drive)[0][1]


def _chunks(runs: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for first, end in runs:
        for start in range(first, end, CHUNK_PAGES):
            yield start, min(start + CHUNK_PAGES, end)
