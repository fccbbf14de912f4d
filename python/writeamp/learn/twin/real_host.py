"""Host of a file, a device or an NBD export: fio writes to it, and its counters are read."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from writeamp.drives.counters.amounts import Counter
from writeamp.drives.counters.answer import interval_answer
from writeamp.drives.counters.document import MOST_BYTES, WHAT, Document
from writeamp.drives.counters.families import Family, Stated
from writeamp.drives.counters.reading import snapshots_in
from writeamp.drives.counters.result import DriveCounters
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.drives.devices.device import check_overwrites, device_under
from writeamp.drives.devices.judging import require_counters
from writeamp.drives.devices.source import DriveSource, source_at
from writeamp.drives.devices.writing import TargetPlace, check_fio, kind_of, opened
from writeamp.errors import WriteampError
from writeamp.files.inputs import read_bytes
from writeamp.learn.twin.chain import PAGE_BYTES, Chain
from writeamp.learn.twin.driving import FILL, Reading
from writeamp.learn.twin.plan import FILL as FILL_SECTION
from writeamp.learn.twin.plan import capacity_of, fio_jobs, section_names, unwritten
from writeamp.units.byte_sizes import shown_bytes

# Fewer counts in a window tell its WA to no better than 4%, which no candidate is worth.
_FEWEST_COUNTS = 25
# As much as this may be written besides: journals and metadata of a file system.
_OTHERS_PART = 0.05
_OTHERS_BYTES = 16 << 20
# Counters that are brought up to date in longer steps than this are of no use.
_PATIENCE_S = 60.0
_BETWEEN_LOOKS_S = 0.2


@dataclass
class HostCounters:
    """Counters of one drive from one moment on.

    Attributes:
        source: of the counters.
        first: what they said before anything was written.
        files: that must be written anew before each reading; none of a device.
        patience_s: that counters may take to show what was written.
    """

    source: DriveSource
    first: Snapshot
    files: tuple[Path, ...] = ()
    patience_s: float = _PATIENCE_S
    _last: Snapshot | None = None
    _total: list[float] = field(default_factory=lambda: [0.0, 0.0])

    @staticmethod
    def of(source: DriveSource, patience_s: float = _PATIENCE_S) -> HostCounters:
        """Return the counters of a source, read once.

        Raises:
            WriteampError: they cannot be read, are not kept up to date, or cannot show WA.
        """
        files = _counting_files(source)
        first = _fresh(source, files, patience_s)
        require_counters(first, "a chain, which was not begun")
        return HostCounters(source, first, files, patience_s)

    def begin(self) -> None:
        """Count from now on."""
        self._last = _fresh(self.source, self.files, self.patience_s)

    def check_grain(self, window_bytes: float) -> None:
        """Refuse counters that move too seldom in the shortest window.

        Raises:
            WriteampError: the sentence says how much would have to be written.
        """
        coarsest = max(
            (one for one in self.first.facts.counters if one.unit is not None),
            key=_unit_bytes,
            default=None,
        )
        if coarsest is None or window_bytes >= _FEWEST_COUNTS * _unit_bytes(coarsest):
            return
        raise WriteampError(
            f"{coarsest.label} of {self.source.name} counts {shown_bytes(_unit_bytes(coarsest))} "
            f"at a time, and the shortest window is {shown_bytes(round(window_bytes))}: at least "
            f"{_FEWEST_COUNTS} counts are needed, which are windows of "
            f"{shown_bytes(_FEWEST_COUNTS * _unit_bytes(coarsest))}; give a larger part of the "
            "drive, or finer counters"
        )

    def read(self, written_bytes: int) -> Reading:
        """Return host and flash bytes since the first reading.

        Args:
            written_bytes: that fio has written since the reading before; without any, the counters
                are what they were.

        Raises:
            WriteampError: they do not fit to that, or tell no WA.
        """
        if self._last is None:
            self.begin()
        elif written_bytes:
            self._add(self._last, written_bytes)
        return self._total[0], self._total[1]

    def _add(self, last: Snapshot, written_bytes: int) -> None:
        until = time.monotonic() + self.patience_s
        now, answer = self._since(last)
        while _lags(answer, written_bytes) and time.monotonic() < until:
            time.sleep(_BETWEEN_LOOKS_S)
            now, answer = self._since(last)
        if answer.host is not None and _lags(answer, written_bytes):
            raise self._wrong(answer, written_bytes)
        if answer.wa is None or answer.host is None or answer.flash is None:
            why = answer.reason or "their unit is not known (`writeamp measure calibrate` finds it)"
            raise WriteampError(f"the counters of {self.source.name} tell no WA of a window: {why}")
        if answer.host.low > (1 + _OTHERS_PART) * written_bytes + _OTHERS_BYTES:
            raise self._wrong(answer, written_bytes)
        self._total[0] += float(answer.host.nominal)
        self._total[1] += float(answer.flash.nominal)
        self._last = now

    def _since(self, last: Snapshot) -> tuple[Snapshot, DriveCounters]:
        now = _fresh(self.source, self.files, self.patience_s)
        return now, interval_answer(last, now)

    def _wrong(self, answer: DriveCounters, written_bytes: int) -> WriteampError:
        assert answer.host is not None
        rose = float(answer.host.nominal)
        why = (
            "they are another drive's, in another unit, or brought up to date too seldom"
            if rose < written_bytes
            else "somebody else writes to the drive, or they are in another unit"
        )
        return WriteampError(
            f"the host's counter of {self.source.name} rose by {shown_bytes(round(rose))} where "
            f"fio wrote {shown_bytes(written_bytes)}: {why}"
        )


def _lags(answer: DriveCounters, written_bytes: int) -> bool:
    """Return whether counters do not show all that was written, and may do so later."""
    if any(one.verdict == "fail" for one in answer.checks):
        return False
    return answer.host is None or answer.host.high < (1 - _OTHERS_PART) * written_bytes


def _fresh(source: DriveSource, files: Sequence[Path], patience_s: float) -> Snapshot:
    """Return a snapshot of now: of files, when all of them were written anew.

    Files are written one after the other. While some change from look to look, the others may be of
    an earlier moment.
    """
    begun, until = time.time(), time.monotonic() + patience_s
    last = None
    while True:
        times = [_written_at(file) for file in files]
        is_new, is_late = all(one > begun for one in times), time.monotonic() > until
        if is_new and (len(files) < 2 or times == last or is_late):
            return source.read().snapshot
        if is_late:
            raise WriteampError(
                f"{source.name} was not written anew for {patience_s:g} s; something must keep the "
                "counters in it up to date, each second or so"
            )
        last = times
        time.sleep(_BETWEEN_LOOKS_S)


def _counting_files(source: DriveSource) -> tuple[Path, ...]:
    """Return the files of a source that hold counters; others, as of a drive's name, may stay."""
    if source.device is not None:
        return ()
    place = Path(source.name)
    if not place.is_dir():
        return (place,)
    files = tuple(one for one in sorted(place.iterdir()) if one.is_file())
    # Those of a drive to which nothing was written yet hold none.
    return tuple(one for one in files if _counts(one, source.stated)) or files


def _counts(file: Path, stated: Stated) -> bool:
    try:
        found = snapshots_in(Document(str(file), read_bytes(file, MOST_BYTES, WHAT), stated))
    except (OSError, WriteampError):
        return False
    return any(one.facts.counters for one in found)


def _written_at(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except FileNotFoundError:  # it is being replaced
        return 0.0


def _unit_bytes(counter: Counter) -> int:
    return 0 if counter.unit is None else round(counter.unit.nominal)


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
    counted: HostCounters
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
    counted = HostCounters.of(source_at(counters or _drive_of(name), Stated(families=families)))
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
