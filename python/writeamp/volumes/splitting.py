"""Split of a fleet's files by volume: one pass, bounded memory, resumed after a kill.

First the files are read in the order of their times, and their requests spilled in chunks in which
each volume stands together; then each volume is gathered from all chunks.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from writeamp.errors import WriteampError
from writeamp.fields.domains import file_name, file_names
from writeamp.fields.setting import made_settings, places_in
from writeamp.fields.shown_settings import with_settings_of
from writeamp.files import inputs, output
from writeamp.files.output import AnyPath
from writeamp.runners import Here, Progress, Threads, processors
from writeamp.studies.dataset import locked
from writeamp.traces.assemble import natural_order
from writeamp.traces.format import ReadOptions
from writeamp.traces.source import file_path, open_file
from writeamp.volumes.fleet import FORMAT, MARK, TABLE, VERSION, Fleet
from writeamp.volumes.gathering import gather_volumes
from writeamp.volumes.reading import Input, inputs_of, read_into
from writeamp.volumes.settings import SplitSettings
from writeamp.volumes.spills import Spills, chunks_in

if TYPE_CHECKING:
    from writeamp.volumes.arguments import SplitArguments

# Of the beginning, middle and end of each file: all of a terabyte would take half an hour.
_LOOKED_AT_BYTES = 1 << 20

_PLACES = places_in((SplitSettings,), "split")
del _PLACES["threads"]  # in whose place `runner` is
_WORK = ".split"
_PLAN = "plan.json"
_MOST_BYTES = 64 << 20


@dataclass(frozen=True)
class Split:
    """Fleet that was split.

    Attributes:
        fleet: its volumes.
        requests_now: requests that this call has read; those of an earlier one are not read again.
        elapsed_s: seconds that it took.
    """

    fleet: Fleet
    requests_now: int = field(compare=False)
    elapsed_s: float = field(compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return it with the keys of `writeamp volumes split --json`."""
        facts = self.fleet.mark
        return {
            "requests": facts["requests"],
            "volumes": facts["volumes"],
            "bytes_in": facts["bytes_in"],
            "requests_per_s": self.requests_now / self.elapsed_s if self.requests_now else None,
            "elapsed_s": self.elapsed_s,
            "resumed_requests": facts["requests"] - self.requests_now,
            "inputs": facts["inputs"],
            "out": str(self.fleet.folder),
        }


@with_settings_of(_PLACES)
def split(
    paths: Sequence[AnyPath] | AnyPath,
    out: AnyPath,
    *,
    runner: Threads | Here | None = None,
    progress: Progress | None = None,
    **settings: Unpack[SplitArguments],
) -> Split:
    """Split the files of a fleet by volume; a second call goes on where an earlier one ended.

    Args:
        paths: trace files, which may be compressed, or addresses; read in the order of their times.
        out: the folder, made if there is none.
        runner: threads of this process that read and write; by default one for each processor.
        progress: called with the requests done and in all, each of which is read and then written;
            in all is 0 while it is not known.
        settings: how to read them; listed below.

    Returns:
        `Split`: `fleet` (a `Fleet`), `requests_now`, `elapsed_s`.

    Raises:
        WriteampError: a file cannot be read, a row is not valid (file and line), the folder holds
            something else, or it cannot be written.

    >>> import tempfile
    >>> import writeamp as wa
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trace = wa.volumes.make(f"{folder}/fleet.csv", volumes=3, requests=1000).path
    ...     fleet = wa.volumes.split(trace, f"{folder}/fleet", trace_format="alibaba").fleet
    ...     fleet.volumes["volume"].to_list(), fleet.volume("2").requests.columns
    (['0', '1', '2'], ['timestamp_ns', 'device', 'op', 'offset', 'length'])
    """
    [asked] = made_settings("split", (SplitSettings,), _PLACES, settings)
    assert isinstance(asked, SplitSettings)
    threads = (runner or Threads()).at_once(processors())
    started = time.perf_counter()
    names = file_names(paths)
    if not names:
        raise WriteampError("paths is empty; give at least one trace")
    folder = Path(file_name(out))
    plan = _plan(names, asked)
    if (folder / MARK).exists():
        fleet = Fleet.open(folder)
        if fleet.mark["plan"] != plan:
            raise WriteampError(f"{folder} holds another fleet; give --out another folder")
        _remove_work(folder)  # of a process that was killed at its very end
        return Split(fleet, 0, time.perf_counter() - started)
    inputs = inputs_of(names, asked.trace_format, _options(asked), by_file=asked.by_file)
    work = _begin(folder, plan)
    with locked(work / _PLAN, fcntl.LOCK_EX | fcntl.LOCK_NB) as is_alone:
        if not is_alone:
            raise WriteampError(f"{folder} is being split by another process")
        try:
            requests_now, table = _do((folder, work), inputs, _options(asked), threads, progress)
        except WriteampError:
            _remove_if_nothing_was_read(folder)
            raise
        fleet = _finish(folder, plan, inputs, table)
    return Split(fleet, requests_now, time.perf_counter() - started)


def _plan(names: Sequence[str], settings: SplitSettings) -> dict[str, Any]:
    """Return what is split and how, as JSON types; a file is known by its name and some content."""
    return {
        "inputs": [[Path(name).name, _identity(name)] for name in names],
        "format": settings.trace_format,
        "action": settings.action,
        "by_file": settings.by_file,
    }


def _options(settings: SplitSettings) -> ReadOptions:
    return ReadOptions(action=settings.action)


def _identity(name: str) -> str:
    if inputs.is_address(name) or name == inputs.STANDARD_INPUT:
        return inputs.identity(name)
    with open_file(file_path(name)) as file:
        size = os.fstat(file.fileno()).st_size
        digest = hashlib.sha256()
        for first in (0, size // 2, max(0, size - _LOOKED_AT_BYTES)):
            file.seek(first)
            digest.update(file.read(_LOOKED_AT_BYTES))
    return f"{size} bytes, {digest.hexdigest()[:32]}"


def _begin(folder: Path, plan: dict[str, Any]) -> Path:
    """Return the folder of what is unfinished, made if there is none.

    Raises:
        WriteampError: the folder holds something else, or cannot be written.
    """
    work = folder / _WORK
    try:
        folder.mkdir(parents=True, exist_ok=True)
        before = _unfinished(work)
        if before is not None and before != plan:
            if [name for name, _ in before["inputs"]] != [name for name, _ in plan["inputs"]]:
                raise WriteampError(
                    f"{folder} holds an unfinished split of other files; finish that one, or give "
                    "--out another folder"
                )
            _remove(folder)  # of files that have changed since, or are read otherwise
            before = None
        if before is None and any(one.name != _WORK for one in folder.iterdir()):
            raise WriteampError(
                f"{folder} holds other files and no fleet; give --out a new or empty folder"
            )
        work.mkdir(exist_ok=True)
    except OSError as error:
        why = error.strerror or str(error)
        raise WriteampError(f"cannot make folder {str(folder)!r}: {why}") from None
    if before is None:
        with output.replacing(work / _PLAN, "plan") as file:
            file.write(json.dumps(plan).encode())
    return work


def _unfinished(work: Path) -> dict[str, Any] | None:
    """Return the plan of a split that has not ended; None if there is none."""
    try:
        found: dict[str, Any] = json.loads(inputs.read_bytes(work / _PLAN, _MOST_BYTES, "plan"))
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError):
        found = {}
    if not isinstance(found, dict) or not isinstance(found.get("inputs"), list):
        raise WriteampError(f"cannot read {work / _PLAN}; remove the folder {work}")
    return found


def _remove(folder: Path) -> None:
    """Remove what an unfinished split has written."""
    shutil.rmtree(folder / _WORK, ignore_errors=True)
    for file in folder.glob("requests-*.parquet"):
        file.unlink()


def _remove_if_nothing_was_read(folder: Path) -> None:
    if not chunks_in(folder / _WORK):
        _remove(folder)
        with suppress(OSError):  # something of others
            folder.rmdir()


def _do(
    folders: tuple[Path, Path],
    inputs: Sequence[Input],
    options: ReadOptions,
    threads: int,
    progress: Progress | None,
) -> tuple[int, pl.DataFrame]:
    """Return the requests that were read now, and the facts of all volumes.

    The folders are that of the fleet and that of what is unfinished.
    """
    folder, work = folders
    before = chunks_in(work)
    chunks = read_into(
        work,
        inputs,
        options,
        before,
        threads=threads,
        progress=progress,
    )
    requests = sum(chunk.requests for chunk in chunks)
    if not requests:
        raise WriteampError(f"{inputs[0].name}: the trace holds no request, at least one is needed")
    table = gather_volumes(
        Spills(work, chunks),
        work,
        folder,
        threads=threads,
        progress=progress and (lambda done, of: progress(of + done, 2 * of)),
    )
    return requests - sum(chunk.requests for chunk in before), table


def _finish(
    folder: Path, plan: dict[str, Any], inputs: Sequence[Input], table: pl.DataFrame
) -> Fleet:
    """Write the table and the mark of a fleet that is whole, and remove what was for its making."""
    table = table[natural_order(table["volume"].to_list())]
    with output.replacing(folder / TABLE, "table of volumes") as file:
        table.write_parquet(file)
    facts = {
        "format": FORMAT,
        "version": VERSION,
        "requests": int(table["requests"].sum()),
        "volumes": table.height,
        "bytes_in": sum(one.path.stat().st_size for one in inputs),
        "inputs": [one.name for one in inputs],
        "plan": plan,
    }
    with output.replacing(folder / MARK, "fleet") as file:
        file.write(json.dumps(facts).encode() + b"\n")
    _remove_work(folder)
    return Fleet.open(folder)


def _remove_work(folder: Path) -> None:
    """Remove what was for the making of a fleet that is whole."""
    shutil.rmtree(folder / _WORK, ignore_errors=True)
