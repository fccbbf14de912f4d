"""Input files by name: their local copy, and the identity of their content.

A name is a path, or an address such as `s3://bucket/trace.parquet` that fsspec can read. On a
cluster worker the content of a path may be in another local file, registered by its identity. All
files that users name are opened here, so that devices and too large files are rejected.
"""

from __future__ import annotations

import atexit
import errno
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path, PosixPath
from threading import local as ThreadLocal  # noqa: N812  it is a class, and `local` is ours
from typing import Any, BinaryIO

from writeamp.errors import WriteampError, how_to_install
from writeamp.files import pipes
from writeamp.files.temporary import temporary_folder

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_CHUNK_BYTES = 1 << 20
# Maximum number of commas, colons and opening brackets in a JSON document. Python takes up to 140
# bytes of memory for each.
_MOST_JSON_SIGNS = 10_000_000

STANDARD_INPUT = "-"

# Registered local copies, by the identity of their content. The code that registered a copy also
# removes it.
_held: dict[str, list[Path]] = {}
_this_thread = ThreadLocal()
_SPECIAL = (
    (stat.S_ISDIR, errno.EISDIR, "a directory"),
    (stat.S_ISCHR, errno.EINVAL, "a device"),
    (stat.S_ISBLK, errno.EINVAL, "a block device"),
    (stat.S_ISSOCK, errno.EINVAL, "a socket"),
)


def is_address(name: str) -> bool:
    """Return whether a name is an address, `scheme://…`, and not a path."""
    return _ADDRESS.match(name) is not None


def local(name: str | os.PathLike[str], most_bytes: int | None = None) -> Path:
    """Return the local file with the content of a name; the content of an address is fetched.

    For a pipe, returns a file with its whole content, or with at least `most_bytes` of it.

    Raises:
        OSError: the name is a pipe that no program writes to.
        WriteampError: the content cannot be fetched.
    """
    text = os.fspath(name)
    if is_address(text):
        return _fetched(text, identity(text))
    expected: Mapping[str, str] = getattr(_this_thread, "expected", {})
    held = _held.get(expected.get(text, ""))
    if held:
        return held[0]
    if text == STANDARD_INPUT:
        return pipes.standard_input(most_bytes)
    return pipes.of_pipe(text, most_bytes) if Path(text).is_fifo() else Path(text)


def opened(name: str | os.PathLike[str], most_bytes: int | None = None) -> BinaryIO:
    """Open a file or the content of a pipe for reading.

    Args:
        name: path or address.
        most_bytes: bytes after which a pipe is not read further.

    Raises:
        OSError: the file cannot be opened, or it is a folder, a device, a socket, or a pipe that no
            program writes to; `strerror` is a sentence without the name.
        WriteampError: the content cannot be fetched.
    """
    content = local(name, most_bytes)
    _refuse_special(content.stat(), name)  # before opening, which may change a device's state
    file = open(content, "rb", opener=_at_once)  # noqa: SIM115  closed by the caller
    try:
        _refuse_special(os.fstat(file.fileno()), name)
    except BaseException:
        file.close()
        raise
    return file


def _at_once(path: str, flags: int) -> int:
    """Open without waiting for the other end of a pipe, which Windows does not do."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def read_bytes(name: str | os.PathLike[str], most_bytes: int, what: str) -> bytes:
    """Return the content of a file that must not be larger than a limit.

    Args:
        name: path or address.
        most_bytes: the limit, in bytes; whole MiB.
        what: kind of file, for the error: "trace".

    Raises:
        OSError: as `opened` raises, or the file is larger than the limit.
        WriteampError: the content cannot be fetched.
    """
    with opened(name, most_bytes + 1) as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        pipes.forget(os.fspath(name))
        why = f"it is larger than {most_bytes >> 20} MiB, the limit per {what}"
        raise OSError(errno.EFBIG, why, os.fspath(name))
    return content


def check_json(text: str | bytes) -> None:
    """Reject JSON whose keys and values would take gigabytes as Python objects.

    Raises:
        ValueError: it has more than 10 million commas, colons and opening brackets.
    """
    content = text.encode() if isinstance(text, str) else text
    if len(content) > _MOST_JSON_SIGNS and sum(map(content.count, b"[{,:")) > _MOST_JSON_SIGNS:
        raise ValueError("more than 10 million keys and values, the limit per document")


def _refuse_special(status: os.stat_result, name: str | os.PathLike[str]) -> None:
    if stat.S_ISREG(status.st_mode):
        return
    kinds = ((number, kind) for is_it, number, kind in _SPECIAL if is_it(status.st_mode))
    number, kind = next(kinds, (errno.EINVAL, "special"))
    raise OSError(number, f"it is {kind}, not a regular file", os.fspath(name))


class _StandardInput(PosixPath):
    """Path of standard input: opened by `local`, and shown by its name in messages."""

    def __str__(self) -> str:
        return "standard input"

    def __fspath__(self) -> str:
        return STANDARD_INPUT


def standard_input() -> Path:
    """Return a path that represents standard input wherever a file is read.

    Raises:
        WriteampError: standard input is a terminal, or its content cannot be stored.
    """
    pipes.standard_input()
    return _StandardInput(STANDARD_INPUT)


def identity(name: str) -> str:
    """Return a text that changes when the content changes.

    For an address, the text has the size, ETag and times that the store reports.

    Raises:
        WriteampError: the file does not exist, or cannot be read.
    """
    try:
        if is_address(name):
            system, path = _fsspec(name).core.url_to_fs(name)
            return f"{name} {json.dumps(system.info(path), sort_keys=True, default=str)}"
        path = str(local(name))
        status = os.stat(path)
        return _digest(path, status.st_size, status.st_mtime_ns)
    except WriteampError:
        raise
    except Exception as error:  # each store of fsspec has errors of its own
        raise _unreadable(name, error) from None


@contextmanager
def expecting(identities: Mapping[str, str]) -> Iterator[None]:
    """Within this context, read paths from registered copies with these identities, if any.

    It affects this thread only.
    """
    previous = getattr(_this_thread, "expected", {})
    _this_thread.expected = identities
    try:
        yield
    finally:
        _this_thread.expected = previous


def hold(content: Path, its_identity: str) -> None:
    """Register a local copy for all paths whose expected identity is this one."""
    _held.setdefault(its_identity, []).append(content)


def release(content: Path, its_identity: str) -> None:
    """Remove a local copy from the register."""
    _held[its_identity].remove(content)


@lru_cache(maxsize=1024)
def _digest(path: str, size_bytes: int, modified_ns: int) -> str:
    import hashlib  # noqa: PLC0415 (slow; not needed for help)

    digest = hashlib.sha256()
    with opened(path) as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


@lru_cache(maxsize=1024)
def _fetched(address: str, its_identity: str) -> Path:
    import hashlib  # noqa: PLC0415 (slow; not needed for help)

    folder = Path(_cache(), hashlib.sha256(its_identity.encode()).hexdigest())
    try:
        folder.mkdir(exist_ok=True)
        system, path = _fsspec(address).core.url_to_fs(address)
        content = folder / address.rpartition("/")[2]
        system.get_file(path, str(content))
    except Exception as error:
        raise _unreadable(address, error) from None
    return content


@cache
def _cache() -> Path:
    """Return the folder of fetched files, which is removed at the end of this process."""
    life = ExitStack()
    atexit.register(life.close)
    return life.enter_context(temporary_folder("files-"))


def _fsspec(address: str) -> Any:
    try:
        return import_module("fsspec")
    except ImportError:
        raise WriteampError(
            f"cannot read {address}: addresses need fsspec; run: {how_to_install('cluster')}"
        ) from None


def _unreadable(name: str, error: Exception) -> WriteampError:
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    first = (why.strip() or type(error).__name__).splitlines()[0]
    return WriteampError(f"cannot read {name}: {first}")
