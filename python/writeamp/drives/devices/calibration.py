"""Units of counters, learned from a file of known size that is written and removed."""

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

# A counter that moved by fewer counts fits several units, or moved for another reason.
_FEWEST_COUNTS = 10
# Those that the kernel counts are exact but for what is on its way.
_EXACT_PART, _EXACT_BYTES = Fraction(1, 100), 16 << 20
# Beside what somebody wrote, the file system and others write too.
_OTHERS_PART, _OTHERS_BYTES = Fraction(1, 10), 64 << 20
# Room that is left on the file system.
_SPARE_PART = 0.05
# The kernel must have sent nearly all of the file to the drive, or the file is somewhere else.
_ARRIVED_PART = 0.9


@dataclass(frozen=True)
class LearnedUnit:
    """Unit of a counter, if it counts what the host writes.

    Attributes:
        label: of the counter.
        before, after: its counts.
        bytes_per_count_low, bytes_per_count_high: what one count can be; a counter of the flash
            counts as much or more, as WA is 1 or more. The high one is None of a single count.
        unit: the name of the known unit that alone fits; None if none or several do.
        reason: why there is none; "" if there is one.
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
    """Units of a drive's counters.

    Attributes:
        written_bytes: that were written to the drive.
        is_exact: by the kernel's count; else what was asked for, beside which others wrote.
        counters: those that moved.
        model, firmware: of the drive.
    """

    written_bytes: int
    is_exact: bool
    counters: tuple[LearnedUnit, ...]
    model: str | None
    firmware: str | None

    def _records(self) -> Sequence[Mapping[str, Any]]:
        return [vars(one) for one in self.counters]

    def to_dict(self) -> dict[str, Any]:
        """Return the calibration as JSON types."""
        return {**vars(self), "counters": [dict(vars(one)) for one in self.counters]}

    def card(self) -> Card:
        """Return how far each counter moved, and the unit that fits."""
        how = "as the kernel counted" if self.is_exact else "and up to a tenth more by others"
        rows = [
            (
                one.label,
                f"{one.after - one.before:,}",
                f"{one.bytes_per_count_low:,.0f} "
                + (
                    "and up"
                    if one.bytes_per_count_high is None
                    else f"to {one.bytes_per_count_high:,.0f}"
                ),
                one.unit or "",
                one.reason,
            )
            for one in self.counters
        ]
        columns = ("counter", "moved by", "bytes a count", "unit", "why none")
        counters = Card("Counters that moved", rows, columns, is_ruled=False)
        title = f"written: {shown_bytes(self.written_bytes)}, {how}"
        warnings = [] if self.counters else ["no counter moved"]
        return Card(title, [], warnings=warnings, parts=[counters])


def calibration_of(
    before: CounterFacts, after: CounterFacts, written_bytes: int, *, is_exact: bool
) -> Calibration:
    """Return the units that the counters of two snapshots can be of.

    Args:
        before, after: facts of one drive.
        written_bytes: in between.
        is_exact: the kernel counted them; else others may have written up to a tenth more.
    """
    part, slack = (_EXACT_PART, _EXACT_BYTES) if is_exact else (_OTHERS_PART, _OTHERS_BYTES)
    low = written_bytes * (1 - (part if is_exact else Fraction(0)))
    high = written_bytes * (1 + part) + slack
    found = tuple(_learned(before, after, Fraction(low), Fraction(high)))
    return Calibration(written_bytes, is_exact, found, after.model, after.firmware)


def _learned(
    before: CounterFacts, after: CounterFacts, low: Fraction, high: Fraction
) -> Iterator[LearnedUnit]:
    earlier = _counts(before)
    for label, count in _counts(after).items():
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
        reason = _reason(counts, [one.name for one in fitting], high)
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
    return {one.label: one.count for one in facts.counters} | dict(facts.raws)


def _reason(counts: int, fitting: list[str], written: Fraction) -> str:
    """Return why no unit is learned; "" if one is."""
    if counts < _FEWEST_COUNTS:
        return (
            f"it moved by {counts} only; if it counts writes, write at least "
            f"{shown_bytes(round(written / counts * 10 * _FEWEST_COUNTS))}"
        )
    if len(fitting) > 1:
        return f"{' and '.join(fitting)} fit: write ten times as much"
    return "" if fitting else "no known unit fits: it counts something else, or others wrote"


def by_writing(
    target: str,
    *,
    size_bytes: int,
    folder: Path | None = None,
    settle_s: float,
    wait_s: float,
    progress: Progress | None = None,
) -> Calibration:
    """Write a file to a drive, and return the units that its counters can be of.

    The file has random content, is synced, and is removed at the end, come what may. The device
    itself is never written to.

    Args:
        target: the drive's device, or the file to make; or, with a folder, files that another
            program keeps up to date.
        size_bytes: of the file.
        folder: on the drive; None for where the file is to be made, or a mount of the device.
        settle_s, wait_s: as in `settled`.
        progress: is called with bytes written, and all.

    Raises:
        WriteampError: there is no such drive or folder, no room, or the file was written elsewhere.
    """
    source, path = _placed(target, folder)
    _require_room(path.parent, size_bytes)
    os.sync()
    before = source.read()
    with random_file(path, size_bytes, progress):
        after = settled(source, before, every_s=settle_s, most_s=wait_s, sleep=_slept).reading
    sent = before.sent_until(after)
    if sent is not None and sent < size_bytes * _ARRIVED_PART:
        raise WriteampError(
            f"the kernel sent {shown_bytes(sent)} to {source.name} while "
            f"{shown_bytes(size_bytes)} were written to {str(path.parent)!r}: that is on another "
            "drive, or compressed"
        )
    return calibration_of(
        before.snapshot.facts,
        after.snapshot.facts,
        size_bytes if sent is None else sent,
        is_exact=sent is not None,
    )


def _slept(seconds: float) -> bool:
    time.sleep(seconds)
    return True


def _placed(target: str, folder: Path | None) -> tuple[DriveSource, Path]:
    """Return the source of counters, and the file to make."""
    path = Path(target)
    name = f".writeamp-calibration-{os.getpid()}"
    if folder is not None:
        if not folder.is_dir():
            raise WriteampError(f"there is no folder {str(folder)!r} to make a file in")
        return source_at(target), folder / name
    if path.exists():
        source = source_at(target)
        if source.device is None:
            raise WriteampError(
                f"{target!r} exists: give a device, a file to make, or the counters' files with "
                "--in FOLDER"
            )
        return source, _mount_of(source, target) / name
    if not path.parent.is_dir() or target.startswith("/dev/"):
        raise WriteampError(f"there is no device {target!r}, and no file can be made there")
    return source_at(device_under(path.parent)), path


def _mount_of(source: DriveSource, target: str) -> Path:
    """Return the writable mount of a drive that has the most room."""
    assert source.device is not None
    disks = "|".join(map(re.escape, source.device.disks))
    part = re.compile(rf"(?:{disks})(?:p?\d+)?")
    found = [
        place
        for place, device in mounted_devices()
        if disks and part.fullmatch(os.path.basename(device)) and os.access(place, os.W_OK)
    ]
    if not found:
        raise WriteampError(
            f"no file system of {target} is mounted where this user can write; give --in FOLDER"
        )
    return Path(max(found, key=lambda place: shutil.disk_usage(place).free))


def _require_room(folder: Path, size_bytes: int) -> None:
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise WriteampError(f"cannot use {str(folder)!r}: {error.strerror or error}") from None
    if free < size_bytes * (1 + _SPARE_PART):
        raise WriteampError(
            f"{str(folder)!r} has {shown_bytes(free)} free; {shown_bytes(size_bytes)} are to be "
            "written (--write says how much)"
        )
