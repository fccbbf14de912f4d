"""Calibration of counter units by writing and removing a file of known size."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from writeamp.drives.counters.amounts import UNITS
from writeamp.drives.counters.facts import CounterFacts
from writeamp.drives.devices.device import device_under, mounted_devices
from writeamp.drives.devices.source import DriveSource, settled, source_at
from writeamp.drives.devices.writing import random_file
from writeamp.errors import WriteampError
from writeamp.results.card import Card, Presented
from writeamp.runners import Progress
from writeamp.units.byte_sizes import shown_bytes

# Smallest rise of a counter for which a unit is determined. If it rose by fewer counts, several
# units fit, or it rose for another reason.
_FEWEST_COUNTS = 10
# Allowance for writes in flight (a ratio, and bytes), if the kernel counted the bytes.
_EXACT_PART, _EXACT_BYTES = Fraction(1, 100), 16 << 20
# Allowance for writes of the file system and of other programs during the calibration (a ratio, and
# bytes), if the kernel did not count them.
_OTHERS_PART, _OTHERS_BYTES = Fraction(1, 10), 64 << 20
# Free space that must remain after the file is written, as a share of the size of the file.
_SPARE_PART = 0.05
# The kernel must have sent at least this share of the file to the drive; otherwise the file is not
# on this drive.
_ARRIVED_PART = 0.9


@dataclass(frozen=True)
class LearnedUnit:
    """Unit of a counter, assuming that it counts host writes.

    Attributes:
        label: label of the counter.
        before, after: counts of the counter before and after the writes.
        bytes_per_count_low, bytes_per_count_high: bounds of the bytes per count. If it is a flash
            counter, its unit may be larger, as WA is at least 1. The upper bound is None if the
            counter rose by a single count.
        unit: name of the only known unit that fits; None if no unit or several units fit.
        reason: why the unit is unknown, or "".
    """

    label: str
    before: int
    after: int
    bytes_per_count_low: float
    bytes_per_count_high: float | None
    unit: str | None
    reason: str


@dataclass(frozen=True, eq=False)
class Calibration(Presented):
    """Units of a drive's counters, determined from a known amount of writes.

    Attributes:
        written_bytes: bytes written to the drive.
        is_exact: whether the kernel counted these bytes; otherwise other programs may have written
            more.
        counters: counters that rose between the two snapshots.
        model, firmware: of the drive.
    """

    written_bytes: int
    is_exact: bool
    counters: tuple[LearnedUnit, ...]
    model: str | None
    firmware: str | None

    def _records(self) -> Sequence[Mapping[str, Any]]:
        return [vars(counter) for counter in self.counters]

    def to_dict(self) -> dict[str, Any]:
        """Return the calibration as JSON types."""
        return {**vars(self), "counters": [dict(vars(counter)) for counter in self.counters]}

    def card(self) -> Card:
        """Return the rise of each counter, and the unit that fits."""
        accuracy = (
            "as counted by the kernel" if self.is_exact else "and up to 10% more by other programs"
        )
        rows = [
            (
                counter.label,
                f"{counter.after - counter.before:,}",
                f"{counter.bytes_per_count_low:,.0f} "
                + (
                    "and up"
                    if counter.bytes_per_count_high is None
                    else f"to {counter.bytes_per_count_high:,.0f}"
                ),
                counter.unit or "",
                counter.reason,
            )
            for counter in self.counters
        ]
        columns = (
            "counter",
            "rise in counts",
            "bytes per count",
            "unit",
            "why the unit is unknown",
        )
        counters = Card("Counters that rose", rows, columns, is_ruled=False)
        title = f"written: {shown_bytes(self.written_bytes)}, {accuracy}"
        warnings = (
            []
            if self.counters
            else [
                "no counter rose, so no unit can be determined. Check that the file is on this "
                "drive"
            ]
        )
        return Card(title, [], warnings=warnings, parts=[counters])


def calibration_of(
    start: CounterFacts, end: CounterFacts, written_bytes: int, *, is_exact: bool
) -> Calibration:
    """Return the possible units of the counters of two snapshots.

    Args:
        start, end: facts of the drive before and after the writes.
        written_bytes: bytes written in between.
        is_exact: whether the kernel counted these bytes; otherwise other programs may have written
            up to 10% more.
    """
    share, slack = (_EXACT_PART, _EXACT_BYTES) if is_exact else (_OTHERS_PART, _OTHERS_BYTES)
    low = written_bytes * (1 - (share if is_exact else Fraction(0)))
    high = written_bytes * (1 + share) + slack
    units = tuple(_learned(start, end, Fraction(low), Fraction(high)))
    return Calibration(written_bytes, is_exact, units, end.model, end.firmware)


def _learned(
    start: CounterFacts, end: CounterFacts, low: Fraction, high: Fraction
) -> Iterator[LearnedUnit]:
    earlier = _counts(start)
    for label, count in _counts(end).items():
        if label not in earlier or count <= earlier[label]:
            continue
        counts = count - earlier[label]
        fitting = [
            unit
            for unit in UNITS.values()
            if unit.low == unit.high
            and (counts - 1) * unit.nominal <= high
            and (counts + 1) * unit.nominal >= low
        ]
        reason = _reason(counts, [unit.name for unit in fitting], high)
        yield LearnedUnit(
            label,
            earlier[label],
            count,
            float(low / (counts + 1)),
            float(high / (counts - 1)) if counts > 1 else None,
            fitting[0].name if not reason else None,
            reason,
        )


def _counts(facts: CounterFacts) -> dict[str, int]:
    return {counter.label: counter.count for counter in facts.counters} | dict(facts.raws)


def _reason(counts: int, fitting: list[str], written: Fraction) -> str:
    """Return why the unit is unknown; "" if it is known."""
    if counts < _FEWEST_COUNTS:
        return (
            f"the counter rose by only {counts}. If it counts host writes, repeat with --write of "
            f"at least {shown_bytes(round(written / counts * 10 * _FEWEST_COUNTS))}"
        )
    if len(fitting) > 1:
        return f"several units fit: {' and '.join(fitting)}. Repeat with ten times as many bytes"
    return (
        ""
        if fitting
        else (
            "no known unit fits: the counter does not count host writes, or other programs wrote, "
            "too"
        )
    )


def by_writing(
    target: str,
    *,
    size_bytes: int,
    folder: Path | None = None,
    settle_s: float,
    wait_s: float,
    progress: Progress | None = None,
) -> Calibration:
    """Write a file to a drive, and return the possible units of its counters.

    The file has random content, is synced, and is always removed at the end. The device itself is
    never written to directly.

    Args:
        target: the drive's device, or the file to create; with `folder`, files of counters that
            another program updates.
        size_bytes: size of the file.
        folder: folder on the drive; default: the folder of `target`, or a mount point of the
            device.
        settle_s, wait_s: as in `settled`.
        progress: called with bytes written and total bytes.

    Raises:
        WriteampError: the drive or folder is missing, space is short, or the file is on another
            drive.
    """
    source, path = _placed(target, folder)
    _require_room(path.parent, size_bytes)
    os.sync()
    start = source.read()
    with random_file(path, size_bytes, progress):
        after = settled(source, start, every_s=settle_s, most_s=wait_s, sleep=_slept).reading
    sent = start.sent_until(after)
    if sent is not None and sent < size_bytes * _ARRIVED_PART:
        raise WriteampError(
            f"the kernel sent {shown_bytes(sent)} to {source.name} while {shown_bytes(size_bytes)} "
            f"were written to {str(path.parent)!r}. That folder is on another drive, or its file "
            "system compresses data"
        )
    return calibration_of(
        start.snapshot.facts,
        after.snapshot.facts,
        size_bytes if sent is None else sent,
        is_exact=sent is not None,
    )


def _slept(seconds: float) -> bool:
    time.sleep(seconds)
    return True


def _placed(target: str, folder: Path | None) -> tuple[DriveSource, Path]:
    """Return the source of the counters, and the path of the file to create."""
    path = Path(target)
    name = f".writeamp-calibration-{os.getpid()}"
    if folder is not None:
        if not folder.is_dir():
            raise WriteampError(f"the folder {str(folder)!r} does not exist")
        return source_at(target), folder / name
    if path.exists():
        source = source_at(target)
        if source.device is None:
            raise WriteampError(
                f"{target!r} exists. Pass a device, a new file, or the counters' files with "
                "--in FOLDER"
            )
        return source, _mount_of(source, target) / name
    if not path.parent.is_dir() or target.startswith("/dev/"):
        raise WriteampError(
            f"the device {target!r} does not exist, and no file can be created there"
        )
    return source_at(device_under(path.parent)), path


def _mount_of(source: DriveSource, target: str) -> Path:
    """Return the writable mount point of a drive with the most free space."""
    assert source.device is not None
    disks = "|".join(map(re.escape, source.device.disks))
    pattern = re.compile(rf"(?:{disks})(?:p?\d+)?")
    mounts = [
        place
        for place, device in mounted_devices()
        if disks and pattern.fullmatch(os.path.basename(device)) and os.access(place, os.W_OK)
    ]
    if not mounts:
        raise WriteampError(
            f"{target} has no mounted file system that this user can write to. Pass --in FOLDER"
        )
    return Path(max(mounts, key=lambda place: shutil.disk_usage(place).free))


def _require_room(folder: Path, size_bytes: int) -> None:
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise WriteampError(f"cannot use {str(folder)!r}: {error.strerror or error}") from None
    if free < size_bytes * (1 + _SPARE_PART):
        raise WriteampError(
            f"{str(folder)!r} has {shown_bytes(free)} free; {shown_bytes(size_bytes)} would be "
            "written (set the size with --write)"
        )
