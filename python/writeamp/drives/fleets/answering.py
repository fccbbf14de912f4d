"""WA of the snapshots in a tree of files, computed in several processes if that is faster."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from writeamp.drives.counters.answer import life_answer
from writeamp.drives.counters.clocks import common_clock
from writeamp.drives.counters.facts import DEVICE_LIST, CounterFacts
from writeamp.drives.counters.reading import read_snapshots
from writeamp.drives.counters.result import DriveCounters
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.drives.histories.result import snapshots_by_drive
from writeamp.drives.histories.store import is_history
from writeamp.drives.lifetime.of_history import years_left
from writeamp.errors import WriteampError
from writeamp.runners import Here, Progress, Runner, gather_whole, runner_of


class FleetDrive(NamedTuple):
    """Answer of a drive, and the interval of its remaining years, or None."""

    answer: DriveCounters
    years_left: tuple[float, float] | None

    @property
    def facts(self) -> CounterFacts:
        """Facts of the drive."""
        return self.answer.facts


# Outcome of a file: its drives, or the reason why it is not a snapshot.
FileOutcome: TypeAlias = list[FleetDrive] | str

# With fewer files, no processes are started: reading these files takes about as long as starting a
# process.
_FEW_FILES = 400
_BATCH_FILES = 64


def answers_of_files(
    paths: Sequence[Path],
    *,
    runner: Runner | None = None,
    progress: Progress | None = None,
) -> list[FileOutcome]:
    """Return the answers, or the reason for their absence, of each file or folder, in order.

    Args:
        paths: snapshots.
        runner: starts the processes; default: one process per processor, or this process for few
            files.
        progress: called with the files read and the total number.
    """
    batches = list(_batches(paths))
    files_read = 0

    def report(_: int, outcomes: list[FileOutcome]) -> None:
        nonlocal files_read
        files_read += len(outcomes)
        if progress is not None:
            progress(files_read, len(paths))

    few = Here() if len(paths) < _FEW_FILES else None
    chosen = runner or few
    with runner_of() if chosen is None else nullcontext(chosen) as running:
        collected = gather_whole(running, answered, batches, each=report)
    return list(chain.from_iterable(collected))


def _batches(paths: Sequence[Path]) -> Iterable[list[str]]:
    return (
        [os.fspath(path) for path in paths[start : start + _BATCH_FILES]]
        for start in range(0, len(paths), _BATCH_FILES)
    )


def answered(paths: Sequence[str]) -> list[FileOutcome]:
    """Return the outcome of each file; each call is a job of a runner."""
    return [_outcome(path) for path in paths]


def _outcome(path: str) -> FileOutcome:
    try:
        if is_history(Path(path)):
            return [_drive(group) for group in snapshots_by_drive(path).values()]
        snapshots = read_snapshots(path)
        if all(DEVICE_LIST in snapshot.facts.notes for snapshot in snapshots):
            return f"{path}: {DEVICE_LIST}"
        return newest(_drive([snapshot]) for snapshot in snapshots)
    except WriteampError as error:
        return str(error)


def _drive(snapshots: Sequence[Snapshot]) -> FleetDrive:
    return FleetDrive(life_answer(snapshots[-1]), years_left(snapshots))


def newest(drives: Iterable[FleetDrive]) -> list[FleetDrive]:
    """Return each drive as of its last snapshot, and all drives without a serial number."""
    by_drive: dict[Any, FleetDrive] = {}
    for place, drive in enumerate(drives):
        key = drive.facts.serial or place
        previous = by_drive.get(key)
        if previous is None or not _is_earlier(drive.facts, previous.facts):
            by_drive[key] = drive
    return list(by_drive.values())


def _is_earlier(facts: CounterFacts, other: CounterFacts) -> bool:
    clock = common_clock((facts, other))
    return bool(clock.seconds) and clock.seconds[0] < clock.seconds[1]
