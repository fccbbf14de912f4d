"""Host that writes to a file, device or NBD export by fio, and reads its drive's counters."""

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
from writeamp.learn.twin.driving import FILL, CounterTotals
from writeamp.learn.twin.plan import FILL as FILL_SECTION
from writeamp.learn.twin.plan import capacity_of, fio_jobs, section_names, unwritten
from writeamp.units.byte_sizes import shown_bytes

# A counter must rise by at least this number of its steps in a window. With fewer, the WA of the
# window is uncertain by more than 4%, which is too much for a fit.
_FEWEST_COUNTS = 25
# Allowed writes by others than fio, such as a file system's journal and metadata: as a share of
# fio's writes, and in bytes.
_OTHERS_PART = 0.05
_OTHERS_BYTES = 16 << 20
# Longest wait for an update of the counters, in seconds; slower counters are rejected.
_PATIENCE_S = 60.0
_BETWEEN_LOOKS_S = 0.2


@dataclass
class HostCounters:
    """Total increase of one drive's counters, without the writes that `begin` leaves out.

    Attributes:
        source: source of the counters.
        first: snapshot before anything was written.
        files: files of counters that another program must update before they are read; empty for
            a device.
        patience_s: longest wait in s until the counters include all writes.
    """

    source: DriveSource
    first: Snapshot
    files: tuple[Path, ...] = ()
    patience_s: float = _PATIENCE_S
    _last: Snapshot | None = None
    _total: list[float] = field(default_factory=lambda: [0.0, 0.0])

    @staticmethod
    def of(source: DriveSource, patience_s: float = _PATIENCE_S) -> HostCounters:
        """Read the counters of a source once, and return them.

        Raises:
            WriteampError: the counters cannot be read, are not updated, or cannot give WA.
        """
        files = _counting_files(source)
        first = _fresh(source, files, patience_s)
        require_counters(first, "a chain of workloads; nothing was written")
        return HostCounters(source, first, files, patience_s)

    def begin(self) -> None:
        """Leave out the writes since the last reading; the totals so far stay."""
        self._last = _fresh(self.source, self.files, self.patience_s)

    def check_grain(self, window_bytes: float) -> None:
        """Reject counters whose unit is too coarse for the shortest window.

        Raises:
            WriteampError: the window has too few units; the message has the bytes that are needed.
        """
        coarsest = max(
            (counter for counter in self.first.facts.counters if counter.unit is not None),
            key=_unit_bytes,
            default=None,
        )
        if coarsest is None or window_bytes >= _FEWEST_COUNTS * _unit_bytes(coarsest):
            return
        raise WriteampError(
            f"{coarsest.label} of {self.source.name} counts in steps of "
            f"{shown_bytes(_unit_bytes(coarsest))}, and the shortest window is "
            f"{shown_bytes(round(window_bytes))}. At least {_FEWEST_COUNTS} steps are needed "
            f"(windows of {shown_bytes(_FEWEST_COUNTS * _unit_bytes(coarsest))}); give a larger "
            "target, or --counters with finer steps"
        )

    def read(self, written_bytes: int) -> CounterTotals:
        """Return the total host and flash bytes, without those that `begin` left out.

        The first call begins to count, and returns 0 for both.

        Args:
            written_bytes: bytes that fio has written since the previous snapshot; with 0, the
                counters are not read again.

        Raises:
            WriteampError: the host counter does not match these bytes, or the counters give no WA.
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
            why = (
                answer.reason
                or "the unit of the counters is unknown (find it with `writeamp measure calibrate`)"
            )
            raise WriteampError(f"the counters of {self.source.name} give no WA of a window: {why}")
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
            "the counters belong to another drive, have another unit, or are updated too seldom"
            if rose < written_bytes
            else "another program writes to the drive, or the counters have another unit"
        )
        return WriteampError(
            f"the host counter of {self.source.name} rose by {shown_bytes(round(rose))}, but fio "
            f"wrote {shown_bytes(written_bytes)}: {why}"
        )


def _lags(answer: DriveCounters, written_bytes: int) -> bool:
    """Return whether counters do not yet show all written bytes."""
    if any(check.verdict == "fail" for check in answer.checks):
        return False
    return answer.host is None or answer.host.high < (1 - _OTHERS_PART) * written_bytes


def _fresh(source: DriveSource, files: Sequence[Path], patience_s: float) -> Snapshot:
    """Return a current snapshot; for files, wait until all of them were updated.

    Files are updated one after the other. While any file still changes between two checks, others
    may hold counters of an earlier moment, so the wait continues.
    """
    begun, until = time.time(), time.monotonic() + patience_s
    last = None
    while True:
        times = [_written_at(file) for file in files]
        is_new, is_late = all(written_at > begun for written_at in times), time.monotonic() > until
        if is_new and (len(files) < 2 or times == last or is_late):
            return source.read().snapshot
        if is_late:
            raise WriteampError(
                f"{source.name} was not updated for {patience_s:g} s; a program must update its "
                "counters about once per second"
            )
        last = times
        time.sleep(_BETWEEN_LOOKS_S)


def _counting_files(source: DriveSource) -> tuple[Path, ...]:
    """Return the files of a source that hold counters; other files need not be updated."""
    if source.device is not None:
        return ()
    place = Path(source.name)
    if not place.is_dir():
        return (place,)
    files = tuple(file for file in sorted(place.iterdir()) if file.is_file())
    # Without any counters, as on a drive before its first write, all files are returned.
    return tuple(file for file in files if _counts(file, source.stated)) or files


def _counts(file: Path, stated: Stated) -> bool:
    try:
        snapshots = snapshots_in(Document(str(file), read_bytes(file, MOST_BYTES, WHAT), stated))
    except (OSError, WriteampError):
        return False
    return any(snapshot.facts.counters for snapshot in snapshots)


def _written_at(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except FileNotFoundError:  # missing for a moment while it is replaced, so it counts as old
        return 0.0


def _unit_bytes(counter: Counter) -> int:
    return 0 if counter.unit is None else round(counter.unit.nominal)


# Slowest drive, in bytes per second, from which the time limit of a part follows.
_LEAST_BYTES_S = 1e6
# If the target uses less than this share of the drive, a warning explains what op then means.
_WHOLE_PART = 0.99


@dataclass
class RealHost:
    """Host that writes to a target by fio, and reads the counters of the target's drive.

    Attributes:
        place: the target of the writes.
        counted: counters of the drive that the target is or lies on.
        warn: called with each warning about the measurement, as a sentence.
    """

    place: TargetPlace
    counted: HostCounters
    warn: Callable[[str], None]
    _written_bytes: int = 0

    @property
    def meaning(self) -> dict[str, Any]:
        """Target, its used part, drive and counters, as JSON types."""
        facts = self.counted.first.facts
        return {
            "target": self.place.where,
            "size_bytes": self.place.size_bytes,
            "counters": os.path.realpath(self.counted.source.name),
            "drive": [facts.model, facts.serial],
        }

    def check(self, chain: Chain, *, goes_on: bool) -> None:
        """Reject a chain that cannot be measured here, before anything is written.

        Args:
            chain: the chain.
            goes_on: whether parts of the chain were measured before, so that the run continues.

        Raises:
            WriteampError: fio cannot write the chain, the counters are too coarse, or the run
                continues but the target file is new.
        """
        for workload in unwritten(chain):
            raise WriteampError(f"fio cannot write {workload}; leave this workload out of the plan")
        shortest = min(
            (end - start)
            for phase in chain.phases
            for start, end in zip((0.0, *phase.ends), phase.ends, strict=False)
        )
        self.counted.check_grain(shortest * chain.capacity_bytes)
        if goes_on and self.place.is_new:
            # The same command would otherwise take the empty file for the measured one.
            os.unlink(self.place.name)
            raise WriteampError(
                f"{self.place.name} is missing, but a part of the chain was measured on it before; "
                "remove the file of --out to begin again, or restore the target"
            )
        drive_bytes = self.counted.first.facts.capacity_bytes or _whole_bytes(self.place)
        if self.place.size_bytes < _WHOLE_PART * drive_bytes:
            self.warn(
                f"only {shown_bytes(self.place.size_bytes)} of the drive's "
                f"{shown_bytes(drive_bytes)} are used: op is that of a drive with the smaller "
                "capacity, and all free or trimmed space of the real drive counts as spare space"
            )

    def discard(self) -> None:
        """Discard the data of the target; the drive's writes until then are not counted."""
        for sentence in self.place.discard(timeout_s=self.place.size_bytes / _LEAST_BYTES_S):
            self.warn(sentence)
        self.counted.begin()

    def serve(self, chain: Chain, seed: int, at: int, done: Callable[[int], None]) -> None:
        """Write a part of a chain with fio."""
        report = self.place.run_section(
            lambda where: fio_jobs(chain, where, fine=True, seed=seed),
            FILL_SECTION if at == FILL else section_names(chain)[at],
            timeout_s=chain.written_bytes / _LEAST_BYTES_S,
        )
        self._written_bytes += int(report["write"]["io_bytes"])
        done(self._written_bytes)

    def read_counters(self) -> CounterTotals:
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
    warn: Callable[[str], None],
) -> Iterator[RealHost]:
    """Check that a target may be written to, lock it, and give its host.

    Args:
        name: a file, a block device or an NBD URI.
        counters: a device, or files that another program updates; None for the device that the
            target is or lies on.
        size_bytes: size of the used part of the target, from its beginning; a missing file is
            created with this size.
        destroys: the target whose data may be destroyed.
        families: drive families whose counter formats are tried before the built-in ones.
        warn: called with each warning about the measurement, as a sentence.

    Raises:
        WriteampError: the target must not be written to, or its drive's counters cannot give WA.
    """
    check_fio()
    if kind_of(name) == "file":
        check_overwrites(name, PAGE_BYTES)
    counted = HostCounters.of(source_at(counters or _drive_of(name), Stated(families=families)))
    place = opened(name, size_bytes, destroys)
    with place.held():
        yield RealHost(place, counted, warn)


def _drive_of(name: str) -> str:
    """Return the device that a target is or lies on."""
    kind = kind_of(name)
    if kind == "nbd":
        raise WriteampError(
            f"{name} does not identify its drive, so give the counters: --counters SOURCE"
        )
    return name if kind == "device" else device_under(Path(name).absolute().parent)


def _whole_bytes(place: TargetPlace) -> int:
    """Return the bytes of a device, of a file's file system, or of an NBD export."""
    if place.kind == "file":
        status = os.statvfs(place.name)
        return status.f_blocks * status.f_frsize
    return capacity_of(place.name) if place.kind == "device" else place.size_bytes
