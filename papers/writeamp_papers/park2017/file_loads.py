"""File server and mail server: loads of whole files (Park et al. 2017, Table 5).

Threads pick files at random and do one operation after another, as Filebench's fileserver and
varmail do. Sizes and numbers of files and threads are the paper's. The sizes of appended data are
ours, and the paper's file size is taken as the mean size over a file's life.
"""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

_KIB = 1024


class Population:
    """Files of one folder; a thread has exclusive use of the file it works on."""

    def __init__(self, folder: Path) -> None:
        """Start without files."""
        self._folder = folder
        self._idle: list[Path] = []
        self._lock = threading.Lock()
        self._made = 0

    def __len__(self) -> int:
        """Return the number of files that no thread is using."""
        return len(self._idle)

    def new(self) -> Path:
        """Return the path of a new file."""
        with self._lock:
            self._made += 1
            return self._folder / f"{self._made:08}"

    def pick(self, draws: random.Random) -> Path:
        """Take a file at random."""
        with self._lock:
            place = draws.randrange(len(self._idle))
            self._idle[place], self._idle[-1] = self._idle[-1], self._idle[place]
            return self._idle.pop()

    def put(self, path: Path) -> None:
        """Give back a file that `pick` took, or add a new one."""
        with self._lock:
            self._idle.append(path)


@dataclass(frozen=True)
class FileLoad:
    """Load: files in one folder, and threads that repeat a round of operations on them.

    Attributes:
        files, file_bytes: number of files, and their mean size.
        threads: number of threads.
        append_bytes: bytes of one append. A file has one append in its life on average, so new
            files are smaller than `file_bytes` by this.
        cycle: one round of operations on the files, given the thread's draws; it creates one file,
            appends to one and deletes one.
        loops: total number of rounds of all threads.
        seed: seed of the choice of files.
    """

    files: int
    file_bytes: int
    threads: int
    append_bytes: int
    cycle: Callable[[FileLoad, Population, random.Random], None]
    loops: int = 0
    seed: int = 1
    content: bytes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Draw the contents of files."""
        object.__setattr__(self, "content", random.Random(self.seed).randbytes(self.file_bytes))

    @property
    def new_bytes(self) -> int:
        """Size of a new file in bytes."""
        return self.file_bytes - self.append_bytes

    def scaled(self, share: float, written_bytes: float) -> FileLoad:
        """Return the load with a share of its files, and with rounds that write `written_bytes`.

        The number of threads does not change.
        """
        files, loops = round(share * self.files), round(written_bytes / self.file_bytes)
        return replace(self, files=files, loops=loops)

    @contextmanager
    def prepared(self, folder: Path) -> Iterator[Callable[[], None]]:
        """Make the files; yield a function that runs the load on them."""
        population = Population(folder)
        for _ in range(self.files):
            path = population.new()
            _write(path, self.content)
            population.put(path)
        yield partial(self._run, population)

    def _run(self, population: Population) -> None:
        shares = [len(range(thread, self.loops, self.threads)) for thread in range(self.threads)]
        with ThreadPoolExecutor(self.threads) as pool:
            stopped = threading.Event()
            jobs = [
                pool.submit(
                    self._work, population, share, random.Random(self.seed + thread), stopped
                )
                for thread, share in enumerate(shares, 1)
            ]
            try:
                wait(jobs, return_when=FIRST_EXCEPTION)
            finally:
                stopped.set()
        for job in jobs:
            job.result()

    def _work(
        self, population: Population, loops: int, draws: random.Random, stopped: threading.Event
    ) -> None:
        for _ in range(loops):
            if stopped.is_set():
                return
            self.cycle(self, population, draws)


def fileserver_cycle(load: FileLoad, files: Population, draws: random.Random) -> None:
    """Write a new file, append to one, read one as a whole, delete one, stat one."""
    path = files.new()
    _write(path, load.content[: load.new_bytes])
    files.put(path)
    path = files.pick(draws)
    _append(path, load.content[: load.append_bytes])
    files.put(path)
    path = files.pick(draws)
    path.read_bytes()
    files.put(path)
    files.pick(draws).unlink()
    path = files.pick(draws)
    path.stat()
    files.put(path)


def varmail_cycle(load: FileLoad, files: Population, draws: random.Random) -> None:
    """Delete a message, receive one, read and extend one, read one; synchronise all writes."""
    files.pick(draws).unlink()
    path = files.new()
    _write(path, load.content[: load.new_bytes], synchronise=True)
    files.put(path)
    path = files.pick(draws)
    path.read_bytes()
    _append(path, load.content[: load.append_bytes], synchronise=True)
    files.put(path)
    path = files.pick(draws)
    path.read_bytes()
    files.put(path)


def _write(path: Path, content: bytes, *, synchronise: bool = False) -> None:
    _put(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, content, synchronise=synchronise)


def _append(path: Path, content: bytes, *, synchronise: bool = False) -> None:
    _put(path, os.O_WRONLY | os.O_APPEND, content, synchronise=synchronise)


def _put(path: Path, flags: int, content: bytes, *, synchronise: bool) -> None:
    file = os.open(path, flags, 0o644)
    try:
        while content:
            content = content[os.write(file, content) :]
        if synchronise:
            os.fsync(file)
        # The number of files is a hundredth of the paper's, but the page cache is not smaller, so
        # files deleted in the cache would never reach the drive. This call starts the write-back of
        # the file without waiting for its end.
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(file)


# Parameters of Table 5; only the sizes of appended data are ours.
FILESERVER = FileLoad(80_000, 256 * _KIB, 50, 16 * _KIB, fileserver_cycle)
VARMAIL = FileLoad(720_000, 16 * _KIB, 16, 8 * _KIB, varmail_cycle)
