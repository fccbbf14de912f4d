"""Snapshots in a tree of files, and their answers, by processes where that is quicker."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from writeamp.drives.counters.answer import life_answer
from writeamp.drives.counters.clocks import common_clock
from writeamp.drives.counters.facts import CounterFacts
from writeamp.drives.counters.reading import read_snapshots
from writeamp.drives.counters.result import DriveCounters
from writeamp.drives.counters.saved_file import TAKEN
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.drives.histories.result import snapshots_by_drive
from writeamp.drives.histories.store import is_history
from writeamp.errors import WriteampError
from writeamp.fields.domains import file_names
from writeamp.runners import Here, Progress, Runner, gather_whole, runner_of

# What a file came to: the answers of its drives, or why it is no snapshot.
Outcome: TypeAlias = list[DriveCounters] | str

# So many files are read in about as long as another process takes to start.
_FEW_FILES = 400
_BATCH_FILES = 64
# A folder with the host's log and one of these is one drive at one moment, as `serve --counters`
# writes it; those that `measure save` wrote say so of themselves.
_HOST_LOG = "smart.json"
_OF_THE_SAME = frozenset({"ocp.json", "ocp-v1.json", "ocp.bin", "fdp.json", "id-ctrl.json"})


def answers_of_files(
    paths: Sequence[Path],
    *,
    runner: Runner | None = None,
    progress: Progress | None = None,
) -> list[Outcome]:
    """Return what each file or folder comes to, in their order.

    Args:
        paths: of snapshots.
        runner: who reads them; by default a process for each processor, and this one for few
            files.
        progress: is called with the files that are read, and all.
    """
    batches = list(_batches(paths))
    files_read = 0

    def report(_: int, outcomes: list[Outcome]) -> None:
        nonlocal files_read
        files_read += len(outcomes)
        if progress is not None:
            progress(files_read, len(paths))

    few = Here() if len(paths) < _FEW_FILES else None
    given = runner or few
    with runner_of() if given is None else nullcontext(given) as running:
        found = gather_whole(running, answered, batches, each=report)
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


def _is_earlier(one: CounterFacts, other: CounterFacts) -> bool:
    clock = common_clock((one, other))
    return bool(clock.seconds) and clock.seconds[0] < clock.seconds[1]


def snapshots_under(paths: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """Return the files and folders to be read as snapshots, in the order of their names.

    Raises:
        WriteampError: there is no such path, or a folder cannot be read.
    """
    found: dict[Path, None] = {}
    for name in file_names(paths):
        path = Path(name)
        if not path.exists():
            raise WriteampError(f"there is no file or folder {str(path)!r}")
        found |= dict.fromkeys(_walked(path) if path.is_dir() else [path])
    return list(found)


def _walked(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder, onerror=_refuse):
        folders.sort()
        names = {name for name in files if not name.startswith(".")}
        here = Path(root)
        if TAKEN in names or (_HOST_LOG in names and names & _OF_THE_SAME):
            folders.clear()
            yield here
        else:
            yield from (here / name for name in sorted(names) if (here / name).is_file())


def _refuse(error: OSError) -> None:
    raise WriteampError(f"cannot read {error.filename!r}: {error.strerror or error}")
