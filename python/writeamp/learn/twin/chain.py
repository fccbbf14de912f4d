"""Chain of workloads that distinguishes drives, and the windows in which WA is measured."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import tomli_w

from writeamp._engine import Load
from writeamp.devices import toml_text
from writeamp.errors import WriteampError
from writeamp.fields.domains import POSITIVE_COUNT
from writeamp.files import output
from writeamp.learn.twin.serving import (
    LOGICAL_PAGES,
    DriveOf,
    Floats,
    Grid,
    grid_for,
    serve,
    simulation_of,
)
from writeamp.registry.specs import Spec

PAGE_BYTES = 4096

# Workloads of the phases. They fit a drive of any size, because their parameters are shares of its
# pages. docs/twin.md explains the purpose of each.
_PHASES = (
    "uniform",
    "mix(sizes=1/4/15/80,weights=35/30/20/15)",
    "hot-cold(f=0.1,r=0.9)",
    "mix(sizes=1/1,weights=1/1,of=uniform/sequential)",
    "mix(sizes=1/4,weights=1/0)",
    "hot-cold(f=0.5,r=0.9)",
)
MOST_PHASES = len(_PHASES)
# Chunk sizes of the phases with aligned chunks, in pages. A chunk size helps to identify erase
# units of half to sixteen times its size.
_CHUNK_PAGES = (16, 64, 256)

# Drive writes, counted from the start of a phase, at which its two windows end: a transient, then
# the rest. The second tuple is the number of separately counted parts of each of the two windows.
_WINDOW_ENDS = (0.25, 0.75)
_PARTS = (1, 4)


@dataclass(frozen=True)
class Phase:
    """One workload of a chain, as its spec, and the ends of its windows.

    An end is the drive writes (multiples of the capacity) since the start of the phase.
    """

    workload: str
    ends: tuple[float, ...] = _WINDOW_ENDS

    @property
    def drive_writes(self) -> float:
        """Length of the phase in drive writes (writes of the whole capacity)."""
        return self.ends[-1]


@dataclass(frozen=True)
class WindowPart:
    """Separately counted part of a window: indices of its phase and window, and its end.

    The end is the number of page writes since the sequential fill.
    """

    phase: int
    window: int
    end_pages: int


@dataclass(frozen=True)
class Chain:
    """Phases that a drive serves after a sequential fill; their lengths are in drive writes."""

    phases: tuple[Phase, ...]
    capacity_bytes: int
    page_bytes: int = PAGE_BYTES

    @property
    def logical_pages(self) -> int:
        """Number of pages that the host sees."""
        return self.capacity_bytes // self.page_bytes

    @property
    def windows(self) -> int:
        """Number of windows in which WA is measured, without the fill."""
        return sum(len(phase.ends) for phase in self.phases)

    @property
    def written_bytes(self) -> int:
        """Bytes that the host writes, including the fill."""
        return round((1 + sum(phase.drive_writes for phase in self.phases)) * self.capacity_bytes)

    def spec(self, logical_pages: int) -> str:
        """Return the whole chain as one workload spec, for this number of logical pages."""
        writes = "/".join(str(_pages(phase.drive_writes, logical_pages)) for phase in self.phases)
        of = "/".join(Spec.of("workloads", phase.workload).nested for phase in self.phases)
        return f"phases(writes={writes},of={of},turns=1)"

    def parts(self, logical_pages: int, *, fine: bool = True) -> Iterator[WindowPart]:
        """Yield the parts of all windows in order; without `fine`, yield whole windows."""
        begin, window = 0, 0
        for at, phase in enumerate(self.phases):
            start = 0.0
            for number, end in enumerate(phase.ends):
                parts = _PARTS[number % len(_PARTS)] if fine else 1
                for number_of_part in range(1, parts + 1):
                    upto = start + (end - start) * number_of_part / parts
                    yield WindowPart(at, window, begin + _pages(upto, logical_pages))
                start = end
                window += 1
            begin += _pages(phase.drive_writes, logical_pages)

    @property
    def grid(self) -> Grid:
        """Candidates for a drive of the chain's capacity."""
        return grid_for(self.logical_pages)

    @property
    def usual(self) -> Chain:
        """The chain for the usual candidate, with pages of 4 KiB.

        Chunks keep their number of pages, so their bytes change with the page size.
        """

        def usual(match: re.Match[str]) -> str:
            return f"bs={max(512, int(match[1]) * PAGE_BYTES // self.page_bytes)}"

        phases = tuple(
            replace(phase, workload=re.sub(r"bs=(\d+)", usual, phase.workload))
            for phase in self.phases
        )
        return Chain(phases, LOGICAL_PAGES * PAGE_BYTES, PAGE_BYTES)

    @property
    def meaning(self) -> list[tuple[str, tuple[float, ...]]]:
        """Workloads of the phases and ends of their windows, which decide WA."""
        return [(phase.workload, phase.ends) for phase in self.phases]

    def window_was(self, drive_of: DriveOf, logical_pages: int, *, seed: int) -> Floats:
        """Serve the chain on a candidate after a fill in order; see `Served`."""
        load = Load.spec(self.spec(logical_pages), logical_pages, self.page_bytes)
        simulation = simulation_of(drive_of(logical_pages), load, seed)
        simulation.fill(0, logical_pages)
        ends = [window.end_pages for window in self.parts(logical_pages, fine=False)]
        return serve(simulation, list(pairwise([0, *ends])))

    def of_capacity(self, capacity_bytes: int, page_bytes: int) -> Chain:
        """Return the same chain on a drive of another size."""
        return Chain(self.phases, capacity_bytes, page_bytes)

    def tables(self) -> dict[str, Any]:
        """Return the chain as tables of a plan file."""
        phases = [{"workload": phase.workload, "ends": list(phase.ends)} for phase in self.phases]
        return {
            "capacity_bytes": self.capacity_bytes,
            "page_bytes": self.page_bytes,
            "phases": phases,
        }

    @staticmethod
    def from_tables(tables: dict[str, Any], where: str) -> Chain:
        """Return the chain that tables of a plan file describe.

        Raises:
            WriteampError: a key is missing, or a value is not valid.
        """
        try:
            phases = tuple(
                Phase(str(entry["workload"]), tuple(float(end) for end in entry["ends"]))
                for entry in tables["phases"]
            )
            sizes = [
                POSITIVE_COUNT.check(name, tables[name])
                for name in ("capacity_bytes", "page_bytes")
            ]
            chain = Chain(phases, *sizes)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise WriteampError(
                f"{where} is not a plan of a chain: {error}; make one with `writeamp twin plan`"
            ) from None
        for phase in chain.phases:
            rises = all(a < b for a, b in zip((0, *phase.ends), phase.ends, strict=False))
            if not phase.ends or not rises or phase.ends[-1] > 100:
                raise WriteampError(
                    f"{where}: the ends of {phase.workload} are {list(phase.ends)}; they must be "
                    "drive writes (multiples of the capacity) in ascending order, above 0 and at "
                    "most 100"
                )
        if not chain.phases or chain.logical_pages < 1:
            raise WriteampError(
                f"{where} has no phase, or a capacity below one page; make another plan with "
                "`writeamp twin plan`"
            )
        Spec.of("workloads", chain.spec(10**6))  # raises an error if a workload is not valid
        return chain

    @staticmethod
    def read(path: str | Path) -> Chain:
        """Return the chain in a plan file.

        Raises:
            WriteampError: the file cannot be read, or does not hold a plan.
        """
        text = toml_text.read_text(path, "plan")
        return Chain.from_tables(toml_text.parse(text, str(path)).get("chain", {}), str(path))

    def write(self, path: str | Path, more: Mapping[str, Any] | None = None) -> None:
        """Write a plan file, with further tables for users who run the chain by hand."""
        with output.replacing(path, "plan") as file:
            file.write(
                tomli_w.dumps(
                    {"chain": self.tables(), **(more or {})}, multiline_strings=True
                ).encode()
            )


def chain_of(
    phases: int, *, chunks: bool, capacity_bytes: int, page_bytes: int = PAGE_BYTES
) -> Chain:
    """Return the chain of 1 to 6 phases; `chunks` adds three phases of aligned chunks.

    Returns:
        `Chain`: `phases`, `windows`, `written_bytes`; `write(path)`.
    """
    workloads = list(_PHASES[:phases])
    if chunks:
        workloads += [f"random(bs={pages * page_bytes})" for pages in _CHUNK_PAGES]
    return Chain(tuple(map(Phase, workloads)), capacity_bytes, page_bytes)


def _pages(drive_writes: float, logical_pages: int) -> int:
    return max(1, round(drive_writes * logical_pages))
