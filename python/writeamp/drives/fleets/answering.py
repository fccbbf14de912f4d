"""Answers of all snapshots of a fleet, by processes where that is quicker."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from writeamp.drives.counters.answer import DriveCounters, life_answer
from writeamp.drives.counters.clocks import common_clock
from writeamp.drives.counters.facts import Facts
from writeamp.drives.counters.reading import read_snapshots
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.drives.histories.result import snapshots_by_drive
from writeamp.drives.histories.store import is_history
from writeamp.errors import WriteampError
from writeamp.runners import gather_whole, runner_of

# What a file came to: the answers of its drives, or why it is no snapshot.
Outcome: TypeAlias = list[DriveCounters] | str

# So many files are read in about as long as another process takes to start.
_FEW_FILES = 400
_BATCH_FILES = 64


def answers_of_files(
    paths: Sequence[Path],
    *,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Outcome]:
    """Return what each file or folder comes to, in their order.

    Args:
        paths: of snapshots.
        workers: processes; by default one for each processor, and this one for few files.
        progress: is called with the files that are read, and all.
    """
    batches = list(_batches(paths))
    count = 1 if workers is None and len(paths) < _FEW_FILES else workers
    files_read = 0

    def report(_: int, outcomes: list[Outcome]) -> None:
        nonlocal files_read
        files_read += len(outcomes)
        if progress is not None:
            progress(files_read, len(paths))

    with runner_of(workers=count) as runner:
        found = gather_whole(runner, answered, batches, each=report)
    return list(chain.from_iterable(found))


def _batches(paths: Sequence[Path]) -> Iterable[list[str]]:
    return (
        [os.fspath(one) for one in paths[start : start + _BATCH_FILES]]
        for start in range(0, len(paths), _BATCH_FILES)
    )


def answered(paths: Sequence[str]) -> list[Outcome]:
    """Return what each of some files comes to: a job of a runner."""
    return [_outcome(path) for path in paths]


def _outcome(path: str) -> Outcome:
    try:
        if is_history(Path(path)):
            return [life_answer(group[-1]) for group in snapshots_by_drive(path).values()]
        return [life_answer(one) for one in latest(read_snapshots(path))]
    except WriteampError as error:
        return str(error)


def latest(snapshots: Iterable[Snapshot]) -> list[Snapshot]:
    """Return the last snapshot of each drive; those without a serial number are drives each."""
    found: dict[Any, Snapshot] = {}
    for place, one in enumerate(snapshots):
        key = one.facts.serial or place
        before = found.get(key)
        if before is None or not _is_earlier(one.facts, before.facts):
            found[key] = one
    return list(found.values())


def _is_earlier(one: Facts, other: Facts) -> bool:
    clock = common_clock((one, other))
    return bool(clock.seconds) and clock.seconds[0] < clock.seconds[1]
