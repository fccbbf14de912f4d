"""Paper 5's drives, scaled down, and their page programs under successive loads."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from writeamp._engine import (
    DEFAULT_BATCH_PAGES,
    TIMED_CAUSES,
    CaptureWriter,
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
from writeamp.drives.pins import classes
from writeamp.drives.pins.capture import read
from writeamp.drives.pins.device_facts import PinFacts, facts_of
from writeamp.drives.pins.four_level import count, four_level
from writeamp.files.temporary import temporary_folder
from writeamp.runners import stop_if_asked
from writeamp.runs.ready_busy import pin_names
from writeamp_papers.four_level.choices import Firmware
from writeamp_papers.four_level.formulas import percentage_error, write_amplification
from writeamp_papers.four_level.loads import PAGE_BYTES


@dataclass(frozen=True)
class PinCounts:
    """Page programs that a capture of the Ready/Busy pins shows.

    Attributes:
        facts: numbers of channels, chips, dies and planes of the drive.
        programs_by_pin: number of low times as long as a program, by captured pin.
        low_times: number of all low times: programs, reads and erases.
    """

    facts: PinFacts
    programs_by_pin: tuple[float, ...]
    low_times: int
    host_bytes: float
    wa: float
    """WA from the counts of all pins."""
    wa_by_one: float
    """WA from the count of the first pin, if all other pins are assumed to be equal (eq. 2)."""

    @property
    def spread_of_dies(self) -> float:
        """Ratio of the programs of the busiest die to the mean over all dies."""
        return max(self.programs_by_pin) * len(self.programs_by_pin) / sum(self.programs_by_pin)

    @property
    def active_share(self) -> float:
        """Share of the pins that show at least one program."""
        return sum(programs > 0 for programs in self.programs_by_pin) / len(self.programs_by_pin)


def count_pins(path: str | os.PathLike[str], facts: PinFacts, host_bytes: float) -> PinCounts:
    """Count the programs of a capture, and compute write amplification by eq. 2.

    Args:
        path: file with a capture of all pins, or of some that represent all.
        facts: the drive's levels, and the range of low times that count as programs.
        host_bytes: bytes written by the host, L_Volume_Data in the paper.
    """
    pins = read(path).pins
    window_us = facts.fixed_window_us()
    by_pin = {
        pin.name: count(pin.durations, classes.window_shares(pin.durations, window_us))
        for pin in pins
    }

    def wa_by(names: Sequence[str]) -> float:
        return four_level(by_pin, names, facts, host_bytes).wa

    names = list(by_pin)
    return PinCounts(
        facts,
        tuple(by_pin[name]["program"].value for name in names),
        sum(pin.durations.total for pin in pins),
        host_bytes,
        wa_by(names),
        wa_by(names[:1]),
    )


MIB = 2**20
GIB = 2**30

# Section V.A: a count ends "when the level of tested R/B signal keeps high for 5 minutes".
QUIET_NS = 300 * 10**9

# Drive writes in "about 12 hours" of random writes, at the steady 1.23 MB/s of Fig. 9a.
STEADY_WRITES = 1.33

# The paper does not describe the firmware. Garbage collection copies to blocks of its own, as is
# usual. If copies shared blocks with host writes, data that are never written again would be spread
# over all blocks, and WA would not fall over fifteen sub-tests of F1 as it does in Fig. 10.
_MANAGER = "sepgc"

_SEED = 5
_CHUNK_EVENTS = 1_000_000

# Limit of requests of a load. A load ends with its last request, so the limit is never reached.
_NO_END = 2**62

_NS_A_S = 1e9

# Minimum size of a scaled write cache: the 32 KB of SSD-v and SSD-S hold only a few pages, so they
# are not scaled down.
_LEAST_CACHE_BYTES = 32 * 2**10
# Minimum size of a mapping-table cache that holds a part of the table.
_LEAST_MAP_BYTES = 2 * PAGE_BYTES


@dataclass(frozen=True)
class Drive:
    """A drive, the levels of its flash by Table I, and the sampling period of its pins in ps.

    If a reading (interpretation of the paper) maps stripes over all dies, the simulated device has
    a single die that represents all dies.
    """

    device: Device
    facts: PinFacts
    period_ps: int

    @property
    def capacity_bytes(self) -> int:
        """Logical capacity in bytes."""
        return self.device.capacity_bytes


@dataclass(frozen=True)
class Scale:
    """Scale of a drive: capacity and written bytes are divided by the same factor.

    Blocks have `pages_per_block` pages, so that each die has many blocks. With few blocks, those
    reserved for collection would take much of the spare space.
    """

    factor: int
    pages_per_block: int

    def drive(
        self,
        profile: str,
        firmware: Firmware,
        *changes: str,
        reads_share_cache: bool = False,
        memory_of: str | None = None,
        flash_share: float = 1.0,
        op: float | None = None,
    ) -> Drive:
        """Return a drive at this scale.

        Args:
            profile: the profile's name.
            firmware: mapping and memory use of a reading (interpretation) of the paper.
            changes: settings that replace those of the profile.
            reads_share_cache: whether the load has reads, which take a share of the cache.
            memory_of: the profile whose memory sizes (write cache, mapping table) the drive has,
                instead of its own.
            flash_share: share of the flash of Table I that the drive has.
            op: over-provisioning (spare ÷ user space), instead of Table I's.
        """
        flash = _flash(firmware.flash_of_ssd_i) if profile == "ssd-i" else []
        whole = device(profile, set=flash)
        times = whole.times or {}
        at_once = whole.page_bytes * whole.pages_per_program
        unit = {
            "page": whole.page_bytes,
            "pair": at_once,
            "stripe": at_once * whole.dies,
        }[firmware.mapping]
        # A block of the device contains the blocks of all planes that are programmed together.
        planes, on_die = whole.planes_per_die, whole.page_bytes
        if firmware.mapping != "page":
            planes, on_die = 1, at_once
        plane_bytes = whole.physical_pages * whole.page_bytes / whole.dies / planes
        blocks = flash_share * plane_bytes / self.factor / on_die / self.pages_per_block
        memory = device(memory_of or profile).times or {}
        data_bytes = memory["write_cache"]["bytes"] * firmware.caches_data
        data_bytes = round(data_bytes * (1 - firmware.read_share * reads_share_cache))
        least_bytes = max(2 * unit, min(data_bytes, _LEAST_CACHE_BYTES))
        table_bytes = memory["map_cache"]["bytes"]
        settings = [
            f"geometry.page_bytes={unit}",
            f"geometry.planes_per_die={planes}",
            f"geometry.pages_per_block={self.pages_per_block}",
            f"geometry.blocks_per_plane={round(blocks)}",
            f"write_cache.bytes={self._bytes(data_bytes, least_bytes)}",
            f"map_cache.bytes={self._bytes(table_bytes, _LEAST_MAP_BYTES)}",
            "refresh.reads_per_block=0",
        ]
        if firmware.mapping != "page":
            settings += ["program.planes=1", 'geometry.erase_unit="block"']
        if firmware.mapping == "stripe":
            rate = times["bus"]["channel_mb_s"] * whole.channels
            settings += [
                *(f"geometry.{level}=1" for level in _LEVELS_OF_DIES),
                f"bus.channel_mb_s={rate}",
            ]
        made = device(profile, op=op, set=[*flash, *settings, *changes])
        return Drive(made, facts_of(whole), firmware.period_ps)

    def _bytes(self, of_profile: int, least: int) -> int:
        """Return the bytes of a cache at this scale.

        0 stays 0: it means no write cache, or memory for the whole mapping table.
        """
        return of_profile and max(least, of_profile // self.factor)


_LEVELS_OF_DIES = ("channels", "chips_per_channel", "dies_per_chip")


def _flash(profile: str) -> list[str]:
    """Return the flash times of a profile as settings that replace those of another profile."""
    timing: Mapping[str, Any] = (device(profile).times or {})["timing"]
    return [f"timing.{name}={json.dumps(value)}" for name, value in timing.items()]


@dataclass(frozen=True)
class Counts:
    """Counts of page programs under a load: measured at the pins, and by the drive itself.

    Attributes:
        pages: mapping units that the drive programmed, by cause.
        unit_bytes: bytes of a mapping unit.
        operations: flash operations: reads, programs and erases.
        written_bytes: bytes that the host wrote.
        write_s: time until all requests were answered, in seconds.
        by_pins: programs measured at the Ready/Busy pins.
    """

    pages: Mapping[str, int]
    unit_bytes: int
    operations: int
    written_bytes: int
    write_s: float
    by_pins: PinCounts

    @property
    def wa(self) -> float:
        """Write amplification (eq. 3) by the Ready/Busy pins of all dies."""
        return self.by_pins.wa

    @property
    def true_wa(self) -> float:
        """Write amplification by the drive's own count."""
        return write_amplification(sum(self.pages.values()), self.unit_bytes, self.written_bytes)

    @property
    def error(self) -> float:
        """Absolute percentage error of all pins, |PEN| (eq. 4)."""
        return percentage_error(self.by_pins.wa, self.true_wa)

    @property
    def error_by_one(self) -> float:
        """Absolute percentage error |PEN| of one pin, which is the paper's method."""
        return percentage_error(self.by_pins.wa_by_one, self.true_wa)

    @property
    def write_mb_s(self) -> float:
        """Write bandwidth in 2^20 bytes a second."""
        return self.written_bytes / MIB / self.write_s

    def causes(self) -> str:
        """Return the flash bytes of each cause, divided by the host's written bytes, as text."""
        parts = [
            f"{cause} {n * self.unit_bytes / self.written_bytes:.2f}"
            for cause, n in self.pages.items()
            if n
        ]
        return ", ".join(parts)


class Life:
    """A drive under successive loads in one continuous virtual time."""

    def __init__(
        self,
        drive: Drive,
        load: EngineLoad,
        *,
        is_filled: bool = True,
        ageing_writes: float = 0,
        missed: float = 0.0,
    ) -> None:
        """Prepare the drive without simulated time, and start the first load.

        Args:
            drive: the drive, just emptied by TRIM.
            load: the first load of the host.
            is_filled: whether the whole user space is written once, in order.
            ageing_writes: random 4 KiB writes before the load, in drive writes (user spaces).
            missed: share of the low times that the pin sampling misses.
        """
        made = drive.device
        self._drive, self._missed = drive, missed
        times, host_pages = json.dumps(made.times), made.logical_pages
        pages = pages_with_table(times, host_pages, made.page_bytes)
        simulation = EngineSimulation(
            EngineDrive(
                geometry=made.geometry,
                logical_pages=pages,
                layout=made.layout,
                manager=_MANAGER,
                observed=True,
                table_pages=pages_apart(times, host_pages, made.page_bytes),
            ),
            EngineLoad.spec("uniform", host_pages),
            seed=_SEED,
            batch_pages=DEFAULT_BATCH_PAGES,
        )
        if is_filled:
            simulation.fill(0, host_pages)
        simulation.fill(host_pages, pages)
        if ageing_writes:
            earlier = EarlierHost(EngineLoad.spec("uniform", host_pages), seed=_SEED + 1)
            simulation.precondition(
                earlier, round(ageing_writes * made.capacity_bytes / PAGE_BYTES)
            )
        flash = TimedDevice.flash(
            simulation, times=times, host_pages=host_pages, seed=_SEED, ready_busy=True
        )
        self.run = TimedRun(flash, load, seed=_SEED, page_bytes=PAGE_BYTES, requests=_NO_END)
        self._before = self._now()

    def settle(self, look: Callable[[Path], object] | None = None) -> Counts:
        """Run the drive until the load and garbage collection have ended and every pin stays high.

        Args:
            look: called with the file of the pin capture, which is deleted afterwards.

        Returns:
            Counts since the drive was prepared, or since the previous load had settled.
        """
        with temporary_folder() as folder:
            path = folder / "rb.vcd"
            path.touch()
            self._capture(path, self._missed)
            by_pins = count_pins(path, self._drive.facts, self.run.written_bytes)
            if look:
                look(path)
        pages, operations = self._now()
        programs_before, operations_before = self._before
        self._before = pages, operations
        began_ns, ended_ns = self.run.interval_ns()
        return Counts(
            {cause: pages[cause] - programs_before[cause] for cause in pages},
            self._drive.device.page_bytes,
            operations - operations_before,
            self.run.written_bytes,
            (ended_ns - began_ns) / _NS_A_S,
            by_pins,
        )

    def settle_uncounted(self) -> None:
        """Run the drive as `settle` does, without a capture; the next counts start at its end."""
        self._capture(Path(os.devnull), missed=1.0)
        self._before = self._now()

    def _capture(self, path: Path, missed: float) -> None:
        pins = CaptureWriter(
            str(path),
            channels=pin_names(self._drive.device),
            comments=[],
            period_ps=self._drive.period_ps,
            missed=missed,
        )
        is_settled = False
        while not is_settled:
            stop_if_asked()
            is_settled = self.run.advance(_CHUNK_EVENTS)
            pins.drain(self.run)
        pins.finish(self.run.now_ns)

    def go_on(self, load: EngineLoad, look: Callable[[Path], object] | None = None) -> Counts:
        """Serve another load after five minutes without requests; see `settle`."""
        self.run.go_on(load, seed=_SEED, idle_ns=QUIET_NS, requests=_NO_END)
        return self.settle(look)

    def _now(self) -> tuple[dict[str, int], int]:
        counters, operations = self.run.counters() or {}, self.run.operations()
        done = operations["programs"] + operations["reads"] + counters["erases"]
        return {cause: counters[cause] for cause in TIMED_CAUSES}, done
