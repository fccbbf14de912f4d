"""Content of pipes and of standard input, in unnamed files that can be read several times."""

from __future__ import annotations

import errno
import os
import select
import stat
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import Any, BinaryIO

from writeamp.errors import WriteampError
from writeamp.system import require_linux

_CHUNK_BYTES = 1 << 20
# Longest wait for a program that opens a pipe for writing, such as a shell in the background, in
# seconds.
_PATIENCE_S = 1.0
_BETWEEN_LOOKS_S = 0.01

_lock = threading.RLock()
# Content of the pipes that were read, by device and inode.
_of_pipes: dict[tuple[int, int], _Spool] = {}
# Standard input and its content, if it was read.
_of_standard_input: list[Any] = []


class _Spool:
    """Unnamed file with the content of a stream, filled as far as it is needed."""

    def __init__(self, stream: BinaryIO, name: str, first: bytes = b"") -> None:
        self._stream = stream
        self._name = name
        self._file = TemporaryFile(prefix="writeamp-")  # noqa: SIM115  kept as long as the stream
        self._byte_count = 0
        self._error: WriteampError | None = None
        self.is_whole = False
        self._add(first)

    def filled(self, most_bytes: int | None) -> Path:
        """Return the file, filled with the whole stream or with at least `most_bytes`.

        Raises:
            WriteampError: not Linux, the stream repeats one byte, or the disk cannot store it.
        """
        require_linux("reading from a pipe")
        if self._error is not None:  # the file lacks the chunk that caused the error
            raise self._error
        while not self.is_whole and (most_bytes is None or self._byte_count < most_bytes):
            chunk = self._stream.read(_CHUNK_BYTES)
            self.is_whole = not chunk
            is_start = self._byte_count < _CHUNK_BYTES
            if is_start and len(chunk) == _CHUNK_BYTES == chunk.count(chunk[:1]):
                raise WriteampError(
                    f"{self._name} begins with 1 MiB of the same byte, so it is not a valid input; "
                    "check the program that writes it"
                )
            self._add(chunk)
        return Path(f"/proc/self/fd/{self._file.fileno()}")

    def close(self) -> None:
        """Close the stream and the file."""
        self._stream.close()
        with suppress(OSError):  # a full disk rejects the rest of the buffer
            self._file.close()

    def _add(self, chunk: bytes) -> None:
        try:
            self._file.write(chunk)
            self._file.flush()
        except OSError as error:
            self._error = WriteampError(
                f"cannot store the content of {self._name} in {gettempdir()} ({error.strerror}); "
                "set TMPDIR to another folder"
            )
            raise self._error from None
        self._byte_count += len(chunk)


def standard_input(most_bytes: int | None = None) -> Path:
    """Return a file with the content of standard input: all, or at least `most_bytes`.

    Raises:
        WriteampError: standard input is closed, a terminal or another device, or cannot be stored.
    """
    stream = sys.stdin
    with _lock:
        if not _of_standard_input or _of_standard_input[0] is not stream:
            _refuse_input(stream)
            _of_standard_input[:] = [stream, _Spool(stream.buffer, "standard input")]
        spool: _Spool = _of_standard_input[1]
        return spool.filled(most_bytes)


def _refuse_input(stream: Any) -> None:
    if stream is None or stream.closed:
        raise WriteampError("standard input is closed; give the path of a file")
    if stream.isatty():
        raise WriteampError(
            "standard input is a terminal; give a file, or pipe one into the command, as in "
            "zstdcat trace.zst | writeamp trace info -"
        )
    try:
        mode = os.fstat(stream.fileno()).st_mode
    except OSError:  # an object in Python, without a file
        return
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise WriteampError("standard input is a device; give a file, or pipe one into the command")


def of_pipe(path: str, most_bytes: int | None = None) -> Path:
    """Return a file with the content of a pipe: all, or at least `most_bytes`.

    A pipe that was read to its end keeps its content until another program writes to it.

    Raises:
        OSError: the pipe cannot be opened, or no program writes to it.
        WriteampError: the content cannot be stored.
    """
    status = os.stat(path)
    key = (status.st_dev, status.st_ino)
    with _lock:
        spool = _of_pipes.get(key)
        if spool is None or spool.is_whole:
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            first = _first_bytes(handle, is_again=spool is not None)
            if first is None:
                os.close(handle)
            else:
                os.set_blocking(handle, True)
                spool = _of_pipes[key] = _Spool(os.fdopen(handle, "rb"), path, first)
        if spool is None:
            why = "it is a pipe that no program writes to, not a regular file"
            raise OSError(errno.ENXIO, why, path)
        try:
            return spool.filled(most_bytes)
        except BaseException:
            _forget(key)
            raise


def forget(path: str) -> None:
    """Close a pipe that is not read further, so that its writer gets an error."""
    with _lock, suppress(OSError):
        status = os.stat(path)
        _forget((status.st_dev, status.st_ino))


def _forget(key: tuple[int, int]) -> None:
    spool = _of_pipes.pop(key, None)
    if spool is not None:
        spool.close()


def _first_bytes(handle: int, *, is_again: bool) -> bytes | None:
    """Return the bytes that can be read at once, or b"" if none yet; None without a writer.

    For a pipe that was read before, programs that have closed it do not count as writers.
    """
    until = time.monotonic() + (0 if is_again else _PATIENCE_S)
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    while True:
        try:
            if first := os.read(handle, _CHUNK_BYTES):
                return first
        except BlockingIOError:  # a program has opened it and has not written yet
            return b""
        has_hung_up = any(event & select.POLLHUP for _, event in poll.poll(0))
        if has_hung_up and not is_again:
            return b""
        if time.monotonic() >= until:
            return None
        time.sleep(_BETWEEN_LOOKS_S)
