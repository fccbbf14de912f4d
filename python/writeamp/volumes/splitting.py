"""Split of a fleet's files by volume: one pass with bounded memory, resumable after a kill.

First the files are read in order of time, and their requests are written to temporary chunks, each
sorted by volume. Then each volume is collected from all chunks.
"""

from __future__ import annotations

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
from writeamp.system import LOCK_EX, LOCK_NB
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

# Bytes hashed at the start, middle and end of each file to identify it. Hashing a whole terabyte
# would take half an hour.
_LOOKED_AT_BYTES = 1 << 20

_PLACES = places_in((SplitSettings,), "split")
del _PLACES["threads"]  # the function has the argument `runner` instead
_WORK = ".split"
_PLAN = "plan.json"
_MOST_BYTES = 64 << 20


@dataclass(frozen=True)
class Split:
    """Result of a split.

    Attributes:
        fleet: the volumes.
        requests_now: requests read by this call; those read by an earlier call are not read again.
        elapsed_s: duration of the call, in seconds.
    """

    fleet: Fleet
    requests_now: int = field(compare=False)
    elapsed_s: float = field(compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the facts with the keys of `writeamp volumes split --json`."""
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
    """Split the files of a fleet by volume; another call continues an unfinished split.

    Args:
        paths: trace files, possibly compressed, or addresses; they are read in order of time.
        out: output folder, created if it does not exist.
        runner: threads of this process that read and write; by default one per processor.
        progress: called with the number of steps done and the total, two for each request: read
            and write. The total is 0 until it is known.
        settings: options of reading; listed below.

    Returns:
        `Split`: `fleet` (a `Fleet`), `requests_now`, `elapsed_s`.

    Raises:
        WriteampError: a file cannot be read, a row is invalid (with file and line), the folder
            holds other files, or it cannot be written.

    >>> import tempfile
    >>> import writeamp as wa
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trace = wa.volumes.make(f"{folder}/fleet.csv", volumes=3, requests=1000).path
    ...     fleet = wa.volumes.split(trace, f"{folder}/fleet", trace_format="alibaba").fleet
    ...     fleet.volumes["volume"].to_list(), fleet.volume("2").requests.columns
    (['0', '1', '2'], ['timestamp_ns', 'device', 'op', 'offset', 'length'])
    """
    [options] = made_settings("split", (SplitSettings,), _PLACES, settings)
    assert isinstance(options, SplitSettings)
    threads = (runner or Threads()).at_once(processors())
    started = time.perf_counter()
    names = file_names(paths)
    if not names:
        raise WriteampError("paths is empty; give at least one trace")
    folder = Path(file_name(out))
    plan = _plan(names, options)
    if (folder / MARK).exists():
        fleet = Fleet.open(folder)
        if fleet.mark["plan"] != plan:
            raise WriteampError(f"{folder} holds another fleet; give another folder by --out")
        _remove_work(folder)  # left if the process was killed after its last write
        return Split(fleet, 0, time.perf_counter() - started)
    inputs = inputs_of(names, options.trace_format, _options(options), by_file=options.by_file)
    work = _begin(folder, plan)
    with locked(work / _PLAN, LOCK_EX | LOCK_NB) as is_alone:
        if not is_alone:
            raise WriteampError(
                f"{folder} cannot be locked: another process is writing a split to it, or the "
                "system has no file locks. Wait, or give another folder by --out"
            )
        try:
            requests_now, table = _do((folder, work), inputs, _options(options), threads, progress)
        except WriteampError:
            _remove_if_nothing_was_read(folder)
            raise
        fleet = _finish(folder, plan, inputs, table)
    return Split(fleet, requests_now, time.perf_counter() - started)


def _plan(names: Sequence[str], settings: SplitSettings) -> dict[str, Any]:
    """Return inputs and settings as JSON types; each file has its name, size and sampled hash."""
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
    """Return the folder of temporary files, which is created if it does not exist.

    Raises:
        WriteampError: the folder holds other files, or cannot be written.
    """
    work = folder / _WORK
    try:
        folder.mkdir(parents=True, exist_ok=True)
        unfinished_plan = _unfinished(work)
        if unfinished_plan is not None and unfinished_plan != plan:
            if [name for name, _ in unfinished_plan["inputs"]] != [
                name for name, _ in plan["inputs"]
            ]:
                raise WriteampError(
                    f"{folder} holds an unfinished split of other files; finish that one, or give "
                    "another folder by --out"
                )
            _remove(folder)  # the files or the settings have changed since the split began
            unfinished_plan = None
        if unfinished_plan is None and any(entry.name != _WORK for entry in folder.iterdir()):
            raise WriteampError(
                f"{folder} holds other files and no fleet; give a new or empty folder by --out"
            )
        work.mkdir(exist_ok=True)
    except OSError as error:
        why = error.strerror or str(error)
        raise WriteampError(f"cannot make folder {str(folder)!r}: {why}") from None
    if unfinished_plan is None:
        with output.replacing(work / _PLAN, "plan") as file:
            file.write(json.dumps(plan).encode())
    return work


def _unfinished(work: Path) -> dict[str, Any] | None:
    """Return the stored plan of an unfinished split, or None."""
    try:
        plan: dict[str, Any] = json.loads(inputs.read_bytes(work / _PLAN, _MOST_BYTES, "plan"))
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError):
        plan = {}
    if not isinstance(plan, dict) or not isinstance(plan.get("inputs"), list):
        raise WriteampError(f"cannot read {work / _PLAN}; remove the folder {work}")
    return plan


def _remove(folder: Path) -> None:
    """Remove the files of an unfinished split."""
    shutil.rmtree(folder / _WORK, ignore_errors=True)
    for file in folder.glob("requests-*.parquet"):
        file.unlink()


def _remove_if_nothing_was_read(folder: Path) -> None:
    if not chunks_in(folder / _WORK):
        _remove(folder)
        with suppress(OSError):  # the folder has other files
            folder.rmdir()


def _do(
    folders: tuple[Path, Path],
    inputs: Sequence[Input],
    options: ReadOptions,
    threads: int,
    progress: Progress | None,
) -> tuple[int, pl.DataFrame]:
    """Return the number of requests read by this call, and the facts of all volumes.

    `folders` are the folder of the fleet and the folder of temporary files.
    """
    folder, work = folders
    earlier_chunks = chunks_in(work)
    chunks = read_into(
        work,
        inputs,
        options,
        earlier_chunks,
        threads=threads,
        progress=progress,
    )
    requests = sum(chunk.requests for chunk in chunks)
    if not requests:
        raise WriteampError(
            f"{inputs[0].name}: the trace holds no request; give a trace with at least one"
        )
    table = gather_volumes(
        Spills(work, chunks),
        work,
        folder,
        threads=threads,
        progress=progress and (lambda done, total: progress(total + done, 2 * total)),
    )
    return requests - sum(chunk.requests for chunk in earlier_chunks), table


def _finish(
    folder: Path, plan: dict[str, Any], inputs: Sequence[Input], table: pl.DataFrame
) -> Fleet:
    """Write the table and the mark that identifies a finished fleet; remove temporary files."""
    table = table[natural_order(table["volume"].to_list())]
    with output.replacing(folder / TABLE, "table of volumes") as file:
        table.write_parquet(file)
    facts = {
        "format": FORMAT,
        "version": VERSION,
        "requests": int(table["requests"].sum()),
        "volumes": table.height,
        "bytes_in": sum(file.path.stat().st_size for file in inputs),
        "inputs": [file.name for file in inputs],
        "plan": plan,
    }
    with output.replacing(folder / MARK, "fleet") as file:
        file.write(json.dumps(facts).encode() + b"\n")
    _remove_work(folder)
    return Fleet.open(folder)


def _remove_work(folder: Path) -> None:
    """Remove the temporary files of a finished fleet."""
    shutil.rmtree(folder / _WORK, ignore_errors=True)
