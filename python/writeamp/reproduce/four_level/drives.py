"""The paper's drives at a scale, and what one of them counts under load after load."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from writeamp._engine import (
    DEFAULT_BATCH_PAGES,
    TIMED_CAUSES,
    EarlierHost,
    TimedDevice,
    TimedRun,
    pages_apart,
    pages_with_table,
)
from writeamp._engine import Drive as EngineDrive
from writeamp._engine import Load as EngineLoad
from writeamp._engine import Simulation as EngineSimulation
from writeamp.devices.device import Device, device
from writeamp.reproduce.four_level.formulas import write_amplification
from writeamp.reproduce.four_level.loads import PAGE_BYTES
from writeamp.runners import stop_if_asked

MIB = 2**20
GIB = 2**30

# Section V.A: "when the level of tested R/B signal keeps high for 5 minutes", the count is over.
QUIET_NS = 300 * 10**9

# The paper says nothing of the firmware. Copies get blocks of their own, as is usual: where they
# share them with the host's writes, data that are never written again are spread over all blocks,
# and WA does not fall within fifteen sub-tests of F1 as Fig. 10 shows.
_MANAGER = "sepgc"

_SEED = 5
_CHUNK_EVENTS = 1_000_000

# A load of stated requests ends with the last of them.
_NO_END = 2**62

_NS_A_S = 1e9


@dataclass(frozen=True)
class Scale:
    """A drive so many times smaller in everything that counts bytes, and as many times faster aged.

    Its blocks have `pages_per_block` pages, so that each plane keeps many of them: with few, the
    free blocks that collection keeps would be no small part of the spare space.
    """

    factor: int
    pages_per_block: int

    def device(self, profile: str, *changes: str, unit_bytes: int | None = None) -> Device:
        """Return the drive of a profile at this scale.

        Args:
            profile: the profile's name.
            changes: values of its tables.
            unit_bytes: what it maps by instead of its flash pages.
        """
        whole = device(profile)
        times = whole.times or {}
        unit = whole.page_bytes if unit_bytes is None else unit_bytes
        pages = max(_FEWEST_PAGES, self.pages_per_block * whole.page_bytes // unit)
        shrink = whole.pages_per_block * whole.page_bytes / (pages * unit)
        return device(
            profile,
            set=[
                f"geometry.page_bytes={unit}",
                f"geometry.blocks_per_plane={round(whole.blocks_per_plane * shrink / self.factor)}",
                f"geometry.pages_per_block={pages}",
                f"program.flash_page_bytes={max(unit, whole.page_bytes)}",
                f"write_cache.bytes={self._bytes(times['write_cache']['bytes'], 2 * unit)}",
                f"map_cache.bytes={self._bytes(times['map_cache']['bytes'], whole.page_bytes)}",
                f"refresh.reads_per_block={max(1, round(_reads(times) / shrink))}",
                *changes,
            ],
        )

    def _bytes(self, of_profile: int, least: int) -> int:
        """Return the size of a cache at this scale; none, or all in memory, stays so."""
        return of_profile and max(least, _LEAST_CACHE_BYTES, of_profile // self.factor)


# The 32 KB of SSD-v and SSD-S are few pages as they are.
_LEAST_CACHE_BYTES = 32 * 2**10
_FEWEST_PAGES = 4


def _reads(times: Mapping[str, Any]) -> int:
    """Return the reads of a block that disturb it, of a profile's tables."""
    return int(times["refresh"]["reads_per_block"])


@dataclass(frozen=True)
class Counts:
    """What a load has cost: pages by cause, bytes of the host, and time until all was answered."""

    pages: Mapping[str, int]
    page_bytes: int
    written_bytes: int
    write_s: float

    @property
    def wa(self) -> float:
        """Flash bytes over host bytes (eq. 3)."""
        return write_amplification(sum(self.pages.values()), self.page_bytes, self.written_bytes)

    @property
    def write_mb_s(self) -> float:
        """Write bandwidth in 10^6 bytes a second."""
        return self.written_bytes / 1e6 / self.write_s

    def causes(self) -> str:
        """Return the pages of each cause over the host's, in words."""
        host_pages = self.written_bytes / self.page_bytes
        parts = [f"{cause} {n / host_pages:.2f}" for cause, n in self.pages.items() if n]
        return ", ".join(parts)


class Life:
    """A drive from its fill on, used by one host after the other while its clock goes on."""

    def __init__(
        self,
        drive: Device,
        load: EngineLoad,
        *,
        partition_pages: int | None = None,
        is_filled: bool = True,
        ageing_writes: float = 0,
        ready_busy: bool = False,
    ) -> None:
        """Prepare the drive while no time passes, and begin the first load.

        Args:
            drive: the drive; TRIM has just emptied it.
            load: what the host asks for first.
            partition_pages: pages from the first on that the host uses; all by default. The others
                stay trimmed, and serve as spare.
            is_filled: whether the partition is written once, in order.
            ageing_writes: 4 KiB random writes over the partition before the load, in sizes of it.
            ready_busy: whether the edges of the Ready/Busy pins are kept.
        """
        self.page_bytes = drive.page_bytes
        times, host_pages = json.dumps(drive.times), drive.logical_pages
        pages = pages_with_table(times, host_pages, drive.page_bytes)
        used = host_pages if partition_pages is None else partition_pages
        simulation = EngineSimulation(
            EngineDrive(
                geometry=drive.geometry,
                logical_pages=pages,
                layout=drive.layout,
                manager=_MANAGER,
                observed=True,
                table_pages=pages_apart(times, host_pages, drive.page_bytes),
            ),
            EngineLoad.spec("uniform", used),
            seed=_SEED,
            batch_pages=DEFAULT_BATCH_PAGES,
        )
        if is_filled:
            simulation.fill(0, used)
        simulation.fill(host_pages, pages)
        if ageing_writes:
            earlier = EarlierHost(EngineLoad.spec("uniform", used), seed=_SEED + 1)
            simulation.precondition(earlier, round(ageing_writes * used))
        flash = TimedDevice.flash(
            simulation, times=times, host_pages=host_pages, seed=_SEED, ready_busy=ready_busy
        )
        self.run = TimedRun(flash, load, seed=_SEED, page_bytes=PAGE_BYTES, requests=_NO_END)
        self._before = self._pages()

    def settle(self, heard: Callable[[TimedRun], object] | None = None) -> Counts:
        """Let the load end, and all that follows from it, until every pin stays high.

        Args:
            heard: called with the run from time to time, to take the edges of its pins.

        Returns:
            What was counted since the drive was prepared, or the load before this had settled.
        """
        is_settled = False
        while not is_settled:
            stop_if_asked()
            is_settled = self.run.advance(_CHUNK_EVENTS)
            if heard:
                heard(self.run)
        now, before = self._pages(), self._before
        self._before = now
        began_ns, ended_ns = self.run.interval_ns()
        return Counts(
            {cause: now[cause] - before[cause] for cause in now},
            self.page_bytes,
            self.run.written_bytes,
            (ended_ns - began_ns) / _NS_A_S,
        )

    def go_on(self, load: EngineLoad) -> Counts:
        """Serve another load after five quiet minutes; see `settle`."""
        self.run.go_on(load, seed=_SEED, idle_ns=QUIET_NS, requests=_NO_END)
        return self.settle()

    def _pages(self) -> dict[str, int]:
        counters = self.run.counters() or {}
        return {cause: counters[cause] for cause in TIMED_CAUSES}
