"""Host of a file, a device or an NBD export: fio writes to it, and its counters are read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from writeamp.drives.counters.families import Family, Stated
from writeamp.drives.devices.device import check_overwrites, device_under
from writeamp.drives.devices.source import source_at
from writeamp.drives.devices.writing import TargetPlace, check_fio, kind_of, opened
from writeamp.errors import WriteampError
from writeamp.learn.twin.chain import PAGE_BYTES, Chain
from writeamp.learn.twin.counted import Counted
from writeamp.learn.twin.driving import FILL, Reading
from writeamp.learn.twin.fio_jobs import FILL as FILL_SECTION
from writeamp.learn.twin.fio_jobs import fio_jobs, section_names, unwritten
from writeamp.learn.twin.plan import capacity_of
from writeamp.units.byte_sizes import shown_bytes

# The slowest drive that a part is waited for.
_LEAST_BYTES_S = 1e6
# A file or a part of a drive is said to be one if it is smaller than the drive by more than this.
_WHOLE_PART = 0.99


@dataclass
class RealHost:
    """Host of a place that fio writes to, and whose drive's counters are read.

    Attributes:
        place: that is written to.
        counted: the counters of its drive.
        tell: is given sentences on what a reader of the windows should know.
    """

    place: TargetPlace
    counted: Counted
    tell: Callable[[str], None]
    _written_bytes: int = 0

    @property
    def meaning(self) -> dict[str, Any]:
        """Place, part of it, drive and counters, as JSON types."""
        facts = self.counted.first.facts
        return {
            "target": self.place.where,
            "size_bytes": self.place.size_bytes,
            "counters": os.path.realpath(self.counted.source.name),
            "drive": [facts.model, facts.serial],
        }

    def check(self, chain: Chain, *, goes_on: bool) -> None:
        """Refuse a chain that cannot be measured here, before anything is written.

        Args:
            chain: that is to be served.
            goes_on: whether a part of it was measured before.

        Raises:
            WriteampError: fio cannot write it, counters are too coarse, or the file is new.
        """
        for workload in unwritten(chain):
            raise WriteampError(f"no fio job writes {workload}; leave that phase out of the plan")
        shortest = min(
            (end - start)
            for phase in chain.phases
            for start, end in zip((0.0, *phase.ends), phase.ends, strict=False)
        )
        self.counted.check_grain(shortest * chain.capacity_bytes)
        if goes_on and self.place.is_new:
            raise WriteampError(
                f"{self.place.name} is new, but a part of the chain was measured on it; remove the "
                "file of windows, or put the file back"
            )
        drive_bytes = self.counted.first.facts.capacity_bytes or _whole_bytes(self.place)
        if self.place.size_bytes < _WHOLE_PART * drive_bytes:
            self.tell(
                f"{shown_bytes(self.place.size_bytes)} of the drive's {shown_bytes(drive_bytes)} "
                "are used: op is found as of a drive of that "
                "size, whose spare space is the drive's and all that is free and trimmed besides"
            )

    def discard(self) -> None:
        """Discard what the place holds, and count from then on."""
        for sentence in self.place.discard(timeout_s=self.place.size_bytes / _LEAST_BYTES_S):
            self.tell(sentence)
        self.counted.begin()

    def serve(self, chain: Chain, seed: int, at: int, done: Callable[[int], None]) -> None:
        """Let fio write a part of a chain."""
        report = self.place.run_section(
            lambda where: fio_jobs(chain, where, fine=True, seed=seed),
            FILL_SECTION if at == FILL else section_names(chain)[at],
            timeout_s=chain.written_bytes / _LEAST_BYTES_S,
        )
        self._written_bytes += int(report["write"]["io_bytes"])
        done(self._written_bytes)

    def read_counters(self) -> Reading:
        """Return host and flash bytes since this host began."""
        written, self._written_bytes = self._written_bytes, 0
        return self.counted.read(written)


@contextmanager
def real_host(
    name: str,
    *,
    counters: str | None,
    size_bytes: int | None,
    destroys: str | None,
    families: tuple[Family, ...] = (),
    tell: Callable[[str], None],
) -> Iterator[RealHost]:
    """Give the host of a target once it is certain that it may be written to, and lock it.

    Args:
        name: a file, a block device or an NBD URI.
        counters: a device, or files that another program keeps up to date; None for the device
            that the target is or lies on.
        size_bytes: so much of it is used, from its beginning; a file is made with it.
        destroys: the one target of which everything may be destroyed.
        families: of drives, to try before those of the table.
        tell: is given sentences on what a reader of the windows should know.

    Raises:
        WriteampError: it must not be written to, or its drive's counters cannot show WA.
    """
    check_fio()
    if kind_of(name) == "file":
        check_overwrites(name, PAGE_BYTES)
    counted = Counted.of(source_at(counters or _drive_of(name), Stated(families=families)))
    place = opened(name, size_bytes, destroys)
    with place.held():
        yield RealHost(place, counted, tell)


def _drive_of(name: str) -> str:
    """Return the device that a target is or lies on."""
    kind = kind_of(name)
    if kind == "nbd":
        raise WriteampError(f"{name} says nothing of its drive's counters; give --counters SOURCE")
    return name if kind == "device" else device_under(Path(name).absolute().parent)


def _whole_bytes(place: TargetPlace) -> int:
    """Return the size of a device, of the file system of a file, or of an export."""
    if place.kind == "file":
        found = os.statvfs(place.name)
        return found.f_blocks * found.f_frsize
    return capacity_of(place.name) if place.kind == "device" else place.size_bytes
