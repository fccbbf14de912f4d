"""Rows of the trace from requests: bytes, processes and files, without the recorder's own."""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.recorder.extents import NO_OWNER, Integers, Ranges
from writeamp.recorder.files import JOURNAL, METADATA, FileTracker, RequestFile
from writeamp.recorder.parts import SCHEMA_OF_ROWS
from writeamp.recorder.processes import WORKER, Process, Processes
from writeamp.recorder.requests import Requests
from writeamp.traces.trace import FUA, OPERATIONS, SECTOR_BYTES

# Names with their own total; beyond, the names with the least bytes are one total.
_MOST_NAMES, _NAMES_AFTERWARDS = 200_000, 100_000
# Threads of the kernel, and a program, that write back the data of others. The names are exact, as
# programs such as syncthing write their own data.
_FOR_OTHERS, _JOURNALS = {WORKER, "btrfs-transacti", "btrfs-cleaner", "sync"}, "jbd2/"
_HASH_DIGITS = 12
_SALT_BYTES = 16
_WRITE = OPERATIONS.index("write")


@dataclass
class Totals:
    """Written bytes by name; names with few bytes are one total if there are very many."""

    bytes: Counter[str] = field(default_factory=Counter)
    unknown_bytes: int = 0
    others_bytes: int = 0

    def add(self, names: Sequence[str | None], written: npt.NDArray[np.int64]) -> None:
        """Add the written bytes of each name; the name None is unknown."""
        for name, count in zip(names, written.tolist(), strict=True):
            if not count:
                continue
            if name is None:
                self.unknown_bytes += count
            else:
                self.bytes[name] += count
        if len(self.bytes) > _MOST_NAMES:
            ranked = self.bytes.most_common()
            self.others_bytes += sum(count for _, count in ranked[_NAMES_AFTERWARDS:])
            self.bytes = Counter(dict(ranked[:_NAMES_AFTERWARDS]))


@dataclass
class Counts:
    """Counts of a recording.

    Attributes:
        requests, bytes: by operation.
        own_requests, own_bytes: requests of the recorder, which are left out.
        own_written_bytes: bytes that these requests write.
        split_requests: rows beyond one for each request; a request of several files has several.
        processes, files: written bytes by name.
    """

    requests: Counter[str] = field(default_factory=Counter)
    bytes: Counter[str] = field(default_factory=Counter)
    own_requests: int = 0
    own_bytes: int = 0
    own_written_bytes: int = 0
    split_requests: int = 0
    processes: Totals = field(default_factory=Totals)
    files: Totals = field(default_factory=Totals)


class RowMaker:
    """Maker of the rows of a trace, which also counts them."""

    def __init__(
        self,
        first_sector: int,
        files: FileTracker | None,
        *,
        is_anonymous: bool,
        leaves_out_own: bool = True,
    ) -> None:
        """Make rows.

        Args:
            first_sector: sector of the disk where the recorded device begins.
            files: files of the requests; None for no column `file`.
            is_anonymous: whether names are replaced by hashes.
            leaves_out_own: whether requests of this process are left out.
        """
        self._leaves_out_own = leaves_out_own
        self._first_sector = first_sector
        self._files = files
        self._processes = Processes()
        self._shown = _hashed() if is_anonymous else _itself
        self.counts = Counts()
        self.own_ranges = Ranges.none()

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [name for name in SCHEMA_OF_ROWS if name != "file" or self._files is not None]

    def rows(self, requests: Requests, began_ns: int) -> pl.DataFrame:
        """Return the rows of requests.

        Args:
            requests: requests of the disk.
            began_ns: time of the trace clock that is 0 in the trace.
        """
        requests = self._without_own(requests)
        self._count_requests(requests)
        files: list[RequestFile] = []
        codes = np.zeros(requests.size, np.int64)
        if self._files is not None:
            whole = requests.size
            requests, files, codes = self._files.attributed(requests)
            self.counts.split_requests += requests.size - whole
        length = requests.sectors * SECTOR_BYTES
        written = np.where(requests.op == _WRITE, length, 0)
        columns = {
            "timestamp_ns": requests.time_ns - began_ns,
            "device": np.zeros(requests.size, np.uint32),
            "op": pl.Series(OPERATIONS, dtype=SCHEMA_OF_ROWS["op"]).gather(
                requests.op.astype(np.uint32)
            ),
            "offset": np.where(
                requests.sectors > 0, (requests.sector - self._first_sector) * SECTOR_BYTES, 0
            ),
            "length": length,
            FUA: requests.is_fua,
            **self._process_columns(requests, written, [file.writer for file in files], codes),
        }
        if self._files is not None:
            # `[journal]` and `[metadata]` name no file of the user.
            shown = [
                name if name in (None, JOURNAL, METADATA) else self._shown(name)
                for name, _ in files
            ]
            self.counts.files.add(shown, np.bincount(codes, written, len(shown)).astype(np.int64))
            columns["file"] = pl.Series(shown, dtype=pl.String).gather(codes)
        return pl.DataFrame(columns).cast(
            pl.Schema({name: SCHEMA_OF_ROWS[name] for name in columns})
        )

    def _process_columns(
        self,
        requests: Requests,
        written: Integers,
        writers: Sequence[Process | None],
        files: Integers,
    ) -> dict[str, pl.Series]:
        """Return the process of each request.

        Args:
            requests: the requests.
            written: bytes that each writes.
            writers: last process that wrote to each file, if it is known.
            files: the file of each request, a place in `writers`.
        """
        # A thread has several names if its process runs another program or renames itself.
        names, name_codes = np.unique(requests.comm, return_inverse=True)
        keys = requests.thread.astype(np.int64) * len(names) + name_codes
        _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
        threads = requests.thread[first]
        pairs = zip(threads, self._processes.of(threads, requests.comm[first]), strict=True)
        processes = [process if thread else None for thread, process in pairs]
        if writers:
            # Another process wrote the data to the file that the kernel writes back.
            is_for_others = np.array([_is_for_others(it) for it in processes], bool)[codes]
            has_writer = np.array([it is not None for it in writers])[files]
            replaced = is_for_others & has_writer & (written > 0)
            codes = np.where(replaced, len(processes) + files, codes)
            processes += writers
        shown = [process and self._shown(process.name) for process in processes]
        pids = [process and process.pid for process in processes]
        totals = np.bincount(codes, written, len(shown)).astype(np.int64)
        self.counts.processes.add(shown, totals)
        return {
            "process": pl.Series(shown, dtype=pl.String).gather(codes),
            "pid": pl.Series(pids, dtype=pl.UInt32).gather(codes),
        }

    def _without_own(self, requests: Requests) -> Requests:
        if not self._leaves_out_own:
            return requests
        is_own = self._processes.are_own(requests.thread)
        is_write = requests.op == _WRITE
        is_own |= is_write & (self.own_ranges.owner_at(requests.sector) != NO_OWNER)
        self.counts.own_requests += int(is_own.sum())
        self.counts.own_bytes += int(requests.sectors[is_own].sum()) * SECTOR_BYTES
        written = int(requests.sectors[is_own & is_write].sum()) * SECTOR_BYTES
        self.counts.own_written_bytes += written
        return requests.take(~is_own)

    def _count_requests(self, requests: Requests) -> None:
        for place, name in enumerate(OPERATIONS):
            is_op = requests.op == place
            self.counts.requests[name] += int(is_op.sum())
            self.counts.bytes[name] += int(requests.sectors[is_op].sum()) * SECTOR_BYTES


def _is_for_others(process: Process | None) -> bool:
    """Return whether a process writes the data of others: a worker, a journal, or `sync`."""
    if process is None:
        return True
    return process.name in _FOR_OTHERS or process.name.startswith(_JOURNALS)


def _itself(name: str) -> str:
    return name


def _hashed() -> Callable[[str], str]:
    """Return a function that hashes each component of a name with a salt that is not stored."""
    salt = secrets.token_bytes(_SALT_BYTES)

    def hashed(name: str) -> str:
        return "/".join(
            hashlib.blake2b(piece.encode(), key=salt).hexdigest()[:_HASH_DIGITS]
            for piece in name.split("/")
        )

    return hashed
