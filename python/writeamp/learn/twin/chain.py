"""Chain of workloads that tells drives apart, and the windows in which WA is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from writeamp._engine import CAUSES, Simulation
from writeamp.devices import toml_text
from writeamp.errors import WriteampError
from writeamp.fields.domains import POSITIVE_COUNT
from writeamp.files import output
from writeamp.registry.specs import Spec

PAGE_BYTES = 4096

# All are the same on a drive of any size: shares of its pages, and no ranks of them. What each one
# tells is in docs/twin.md.
_PHASES = (
    "uniform",
    "mix(sizes=1/4/15/80,weights=35/30/20/15)",
    "hot-cold(f=0.1,r=0.9)",
    "mix(sizes=1/1,weights=1/1,of=uniform/sequential)",
    "mix(sizes=1/4,weights=1/0)",
    "hot-cold(f=0.5,r=0.9)",
)
MOST_PHASES = len(_PHASES)
# Aligned chunks of so many pages: they tell erase units of half to sixteen times their size.
_CHUNK_PAGES = (16, 64, 256)

# Drive writes of a phase, and where its windows end: the transient, then the rest. Finer parts of
_WINDOW_ENDS = (0.25, 0.75)
_PARTS = (1, 4)


@dataclass(frozen=True)
class Phase:
    """One workload of a chain, by its spec, and the drive writes after which its windows end."""

    workload: str
    ends: tuple[float, ...] = _WINDOW_ENDS

    @property
    def drive_writes(self) -> float:
        """Drive writes of the phase."""
        return self.ends[-1]


@dataclass(frozen=True)
class WindowPart:
    """A part of a window, which is counted for itself: of which window, and up to which page."""

    phase: int
    window: int
    end_pages: int


@dataclass(frozen=True)
class Chain:
    """Phases that a drive serves after a fill in order, each as long as a share of the drive."""

    phases: tuple[Phase, ...]
    capacity_bytes: int
    page_bytes: int = PAGE_BYTES

    @property
    def logical_pages(self) -> int:
        """Pages that the host sees."""
        return self.capacity_bytes // self.page_bytes

    @property
    def windows(self) -> int:
        """Windows in which WA is read, the fill aside."""
        return sum(len(phase.ends) for phase in self.phases)

    @property
    def written_bytes(self) -> int:
        """Bytes that the host writes, the fill included."""
        return round((1 + sum(phase.drive_writes for phase in self.phases)) * self.capacity_bytes)

    def spec(self, logical_pages: int) -> str:
        """Return the workload on a drive of so many pages."""
        writes = "/".join(str(_pages(phase.drive_writes, logical_pages)) for phase in self.phases)
        of = "/".join(Spec.of("workloads", phase.workload).nested for phase in self.phases)
        return f"phases(writes={writes},of={of},turns=1)"

    def parts(self, logical_pages: int, *, fine: bool = True) -> Iterator[WindowPart]:
        """Give the parts of all windows in order, or the windows as they are."""
        begin, window = 0, 0
        for at, phase in enumerate(self.phases):
            start = 0.0
            for number, end in enumerate(phase.ends):
                parts = _PARTS[number % len(_PARTS)] if fine else 1
                for part in range(1, parts + 1):
                    upto = start + (end - start) * part / parts
                    yield WindowPart(at, window, begin + _pages(upto, logical_pages))
                start = end
                window += 1
            begin += _pages(phase.drive_writes, logical_pages)

    def of_capacity(self, capacity_bytes: int, page_bytes: int) -> Chain:
        """Return the same chain on a drive of another size."""
        return Chain(self.phases, capacity_bytes, page_bytes)

    def tables(self) -> dict[str, Any]:
        """Return it as a plan holds it."""
        phases = [{"workload": one.workload, "ends": list(one.ends)} for one in self.phases]
        return {
            "capacity_bytes": self.capacity_bytes,
            "page_bytes": self.page_bytes,
            "phases": phases,
        }

    @staticmethod
    def from_tables(tables: dict[str, Any], where: str) -> Chain:
        """Return the chain that `tables` gave.

        Raises:
            WriteampError: a key is missing, or a value is none that a chain has.
        """
        try:
            phases = tuple(
                Phase(str(one["workload"]), tuple(float(end) for end in one["ends"]))
                for one in tables["phases"]
            )
            sizes = [
                POSITIVE_COUNT.check(name, tables[name])
                for name in ("capacity_bytes", "page_bytes")
            ]
            found = Chain(phases, *sizes)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise WriteampError(
                f"{where} is no plan of a chain: {error}; `writeamp twin plan` writes one"
            ) from None
        for phase in found.phases:
            rises = all(a < b for a, b in zip((0, *phase.ends), phase.ends, strict=False))
            if not phase.ends or not rises or phase.ends[-1] > 100:
                raise WriteampError(
                    f"{where}: the ends of {phase.workload} are {list(phase.ends)}; give ascending "
                    "drive writes above 0, at most 100"
                )
        if not found.phases or found.logical_pages < 1:
            raise WriteampError(f"{where} has no phase, or a capacity of less than a page")
        Spec.of("workloads", found.spec(10**6))  # refuses workloads that there are not
        return found

    @staticmethod
    def read(path: str | Path) -> Chain:
        """Return the chain of a plan.

        Raises:
            WriteampError: the file cannot be read, or holds none.
        """
        text = toml_text.read_text(path, "plan")
        return Chain.from_tables(toml_text.parse(text, str(path)).get("chain", {}), str(path))

    def write(self, path: str | Path, more: Mapping[str, Any] | None = None) -> None:
        """Write a plan, with further tables for a person who follows it by hand if given."""
        with output.replacing(path, "plan") as file:
            file.write(
                tomli_w.dumps(
                    {"chain": self.tables(), **(more or {})}, multiline_strings=True
                ).encode()
            )


def chain_of(
    phases: int, *, chunks: bool, capacity_bytes: int, page_bytes: int = PAGE_BYTES
) -> Chain:
    """Return the chain of so many phases, 1 to 6, with aligned chunks behind them or without.

    Returns:
        `Chain`: `phases`, `windows`, `written_bytes`; `write(path)`.
    """
    workloads = list(_PHASES[:phases])
    if chunks:
        workloads += [f"random(bs={pages * page_bytes})" for pages in _CHUNK_PAGES]
    return Chain(tuple(map(Phase, workloads)), capacity_bytes, page_bytes)


def programmed_pages(simulation: Simulation) -> int:
    """Return the flash pages that a simulation has programmed."""
    counters = simulation.counters()
    return sum(counters[cause] for cause in CAUSES)


def _pages(drive_writes: float, logical_pages: int) -> int:
    return max(1, round(drive_writes * logical_pages))
