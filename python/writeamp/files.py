"""Input files by name: the local file with their content, and whether it has changed.

A name is a path, or an address such as `s3://bucket/trace.parquet` that fsspec knows. On a worker
of a cluster the content of a path may be elsewhere: there it is held by its identity.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path, PosixPath
from tempfile import TemporaryFile, gettempdir
from threading import local as ThreadLocal  # noqa: N812  it is a class, and `local` is ours
from typing import Any

from writeamp.errors import WriteampError
from writeamp.temporary import temporary_folder

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_CHUNK_BYTES = 1 << 20

STANDARD_INPUT = "-"

# Files with the content of an identity, each held by somebody of its own.
_held: dict[str, list[Path]] = {}
_this_thread = ThreadLocal()
# Standard input, and the unnamed file that keeps what came on it.
_spool: list[Any] = []


def is_address(name: str) -> bool:
    """Return whether a name is no path but an address, `scheme://…`."""
    return _ADDRESS.match(name) is not None


def local(name: str | os.PathLike[str]) -> Path:
    """Return the file here that holds the content; what an address names is fetched.

    Raises:
        WriteampError: it cannot be fetched.
    """
    text = os.fspath(name)
    if is_address(text):
        return _fetched(text, identity(text))
    expected: Mapping[str, str] = getattr(_this_thread, "expected", {})
    held = _held.get(expected.get(text, ""))
    if held:
        return held[0]
    return _spooled() if text == STANDARD_INPUT else Path(text)


class _StandardInput(PosixPath):
    """The path of standard input, which is opened by `local` and shown by its name."""

    def __str__(self) -> str:
        return "standard input"

    def __fspath__(self) -> str:
        return STANDARD_INPUT


def standard_input() -> Path:
    """Return the stand-in for standard input where a file is read.

    Raises:
        WriteampError: it is a terminal, or what comes on it cannot be kept.
    """
    _spooled()
    return _StandardInput(STANDARD_INPUT)


def _spooled() -> Path:
    """Return a file with all that came on standard input, which is read once."""
    stream = sys.stdin
    if _spool and _spool[0] is stream:
        return Path(f"/proc/self/fd/{_spool[1].fileno()}")
    if stream is None or stream.closed:
        raise WriteampError("standard input is closed; give the path of a file")
    if stream.isatty():
        raise WriteampError(
            "standard input is a terminal; give a file, or pipe one into the command, as in "
            "zstdcat trace.zst | writeamp trace info -"
        )
    file = TemporaryFile(prefix="writeamp-")  # noqa: SIM115  it is kept as long as the input
    try:
        shutil.copyfileobj(stream.buffer, file, _CHUNK_BYTES)
        file.flush()
    except OSError as error:
        file.close()
        raise WriteampError(
            f"cannot keep what comes on standard input in {gettempdir()} ({error.strerror}); "
            "TMPDIR may name another folder"
        ) from None
    _spool[:] = [stream, file]
    return Path(f"/proc/self/fd/{file.fileno()}")


def identity(name: str) -> str:
    """Return a text that is another one when the content is.

    Of an address it is what its store says of it: size, ETag, times.

    Raises:
        WriteampError: there is no such file, or it cannot be read.
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
    except Exception as error:  # of whatever store
        raise _unreadable(name, error) from None


@contextmanager
def expecting(identities: Mapping[str, str]) -> Iterator[None]:
    """Read paths on this thread as the files that are held with these identities, if some are."""
    before = getattr(_this_thread, "expected", {})
    _this_thread.expected = identities
    try:
        yield
    finally:
        _this_thread.expected = before


def hold(content: Path, its_identity: str) -> None:
    """Have a file stand for every path of which its identity is expected."""
    _held.setdefault(its_identity, []).append(content)


def release(content: Path, its_identity: str) -> None:
    """Have a file stand for nothing any more."""
    _held[its_identity].remove(content)


@lru_cache(maxsize=1024)
def _digest(path: str, size_bytes: int, modified_ns: int) -> str:
    found = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            found.update(chunk)
    return found.hexdigest()


@lru_cache(maxsize=1024)
def _fetched(address: str, its_identity: str) -> Path:
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
    """Return the folder of fetched files, which is removed when this process ends."""
    life = ExitStack()
    atexit.register(life.close)
    return life.enter_context(temporary_folder("files-"))


def _fsspec(address: str) -> Any:
    try:
        return import_module("fsspec")
    except ImportError:
        raise WriteampError(
            f"cannot read {address}: addresses need fsspec; pip install 'writeamp[cluster]'"
        ) from None


def _unreadable(name: str, error: Exception) -> WriteampError:
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    first = (why.strip() or type(error).__name__).splitlines()[0]
    return WriteampError(f"cannot read {name}: {first}")
