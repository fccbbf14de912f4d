"""Output files, each written whole under its name or not at all.

A file is written beside its target under a name of its own, and takes the target's place when it
is complete and on the disk; what was there before stays as it was until then. Of a process that is
killed its draft stays, which the next write into the folder removes.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from writeamp.errors import WriteampError
from writeamp.fields.domains import file_name

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

AnyPath: TypeAlias = str | os.PathLike[str]

DRAFTS = ".writeamp-*.tmp"

# Of file systems that do not sync folders, and of folders that may be written and not read.
_NOT_SYNCED = (errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM)
_ANY_WRITER = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH

# What is being written now, for a process that must end without unwinding.
_drafts: set[Path] = set()


@contextmanager
def replacing(
    path: AnyPath,
    what: str,
    *,
    inputs: Iterable[AnyPath] = (),
    may_replace: bool = True,
    synced: bool = True,
) -> Iterator[BinaryIO]:
    """Give a file to write, which takes the path's place if the block ends well.

    A symbolic link stays one: what it leads to is replaced. The mode and the owner of a file that
    is replaced are kept.

    Args:
        path: the file to make or replace.
        what: what is written, for errors: "plot", "trace".
        inputs: files that are read for it; none of them is replaced, by whatever name.
        may_replace: replace a file that exists.
        synced: have it on the disk; of a file that is soon replaced that may be left out.

    Raises:
        WriteampError: the path is an input, a folder or a device, write-protected, or exists though
            it may not; or it cannot be written. Then nothing has changed, unless the folder cannot
            be synced: the file is whole, and may be gone after a loss of power.
    """
    target = _found(path, what, inputs, may_replace)
    with _failures_named(path, what), _draft_of(target) as (draft, file):
        with file, file.errors_raised():
            _keep_mode(file, target.status)
            yield file
            file.flush()
            if synced:
                os.fsync(file.fileno())
        if not may_replace and target.path.exists():
            raise _refusal(path, what, _EXISTS)
        draft.replace(target.path)
        if synced:
            sync_folder(target.path.parent)


def check_target(
    path: AnyPath, what: str, *, inputs: Iterable[AnyPath] = (), may_replace: bool = True
) -> None:
    """Refuse early, before a long run, what `replacing` would refuse after it.

    Raises:
        WriteampError: as `replacing` raises.
    """
    target = _found(path, what, inputs, may_replace)
    with _failures_named(path, what), _draft_of(target) as (_, file):
        file.close()


def check_distinct(paths: Iterable[AnyPath]) -> None:
    """Refuse two outputs of one command that are one file.

    Raises:
        WriteampError: they are.
    """
    seen: dict[str, AnyPath] = {}
    for path in paths:
        real = os.path.realpath(path)
        if real in seen:
            raise WriteampError(
                f"{os.fspath(seen[real])} and {os.fspath(path)} are one file; each output needs "
                "a file of its own"
            )
        seen[real] = path


def discard_drafts() -> None:
    """Remove what is half written, for a process that ends at once."""
    for draft in tuple(_drafts):
        with suppress(OSError):
            draft.unlink()


@dataclass(frozen=True)
class _Target:
    """The file behind all links, and what there is of it already."""

    path: Path
    status: os.stat_result | None


_EXISTS = "it exists already; choose another name, or replace it with --force"


def _found(path: AnyPath, what: str, inputs: Iterable[AnyPath], may_replace: bool) -> _Target:
    """Return the target to write to, or raise for what must not be written."""
    file_name(path)
    with _failures_named(path, what):
        try:
            status = os.stat(path)
        except FileNotFoundError:  # or a link to a file that is yet to be made
            return _Target(Path(os.path.realpath(path)), None)
    if stat.S_ISDIR(status.st_mode):
        raise _refusal(path, what, "it is a directory")
    if not stat.S_ISREG(status.st_mode):
        raise _refusal(path, what, "it is not a regular file, and would be replaced by one")
    for source in inputs:
        if _is_same(source, status):
            raise _refusal(path, what, f"it is the input {os.fspath(source)}; choose another name")
    if not may_replace:
        raise _refusal(path, what, _EXISTS)
    # The superuser may write anything; who took the permission from a file meant to keep it.
    if not (status.st_mode & _ANY_WRITER and os.access(path, os.W_OK)):
        raise _refusal(path, what, "it is write-protected; choose another name, or permit writing")
    return _Target(Path(os.path.realpath(path)), status)


def _is_same(source: AnyPath, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(source), status)
    except (OSError, ValueError):  # no such file (any more), or no name of one
        return False


@contextmanager
def _draft_of(target: _Target) -> Iterator[tuple[Path, _Draft]]:
    """Give a file in the same folder, because a rename across file systems is a copy."""
    _remove_abandoned_drafts(target.path.parent)
    draft, file = _new_draft(target.path.parent)
    _drafts.add(draft)
    lock = os.dup(file.fileno())  # which lasts when the file is closed, until it has its name
    try:
        with file:
            yield draft, file
    finally:
        with suppress(OSError):  # it took the target's place
            draft.unlink()
        with suppress(OSError):
            os.close(lock)
        _drafts.discard(draft)


class _Draft(io.BufferedWriter):
    """File that keeps the error of a write, of which libraries make one without its reason.

    Polars does not take it for a file of its own, whose descriptor it would write to by itself.
    """

    _error: OSError | None = None

    def write(self, content: ReadableBuffer) -> int:
        with self._error_kept():
            return super().write(content)

    def flush(self) -> None:
        with self._error_kept():
            super().flush()

    @contextmanager
    def _error_kept(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._error = error
            raise

    @contextmanager
    def errors_raised(self) -> Iterator[None]:
        """Raise the error of a write in place of what the block made of it."""
        try:
            yield
        except BaseException:
            if self._error is not None:
                raise self._error from None
            raise


def _new_draft(folder: Path) -> tuple[Path, _Draft]:
    """Make a draft and lock it; one that nobody locks is abandoned."""
    draft = folder / DRAFTS.replace("*", secrets.token_hex(8))
    file = _Draft(io.FileIO(draft, "x"))
    with suppress(OSError):  # a file system may not know how
        fcntl.flock(file, fcntl.LOCK_EX)
    if os.fstat(file.fileno()).st_nlink:
        return draft, file
    file.close()
    return _new_draft(folder)  # another process took it for abandoned before it was locked


def _remove_abandoned_drafts(folder: Path) -> None:
    """Remove what processes that were killed left in a folder."""
    for draft in folder.glob(DRAFTS):
        with suppress(OSError), draft.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            draft.unlink()


def _keep_mode(file: BinaryIO, status: os.stat_result | None) -> None:
    if status is None:
        return
    with suppress(PermissionError):  # only the superuser gives files away
        os.fchown(file.fileno(), status.st_uid, status.st_gid)
    os.fchmod(file.fileno(), stat.S_IMODE(status.st_mode))


def sync_folder(folder: Path) -> None:
    """Make what was renamed in a folder last; not every file system knows how.

    Raises:
        OSError: it knows, and the disk fails.
    """
    try:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno not in _NOT_SYNCED:
            raise


@contextmanager
def _failures_named(path: AnyPath, what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _refusal(path, what, error.strerror or str(error)) from None


def _refusal(path: AnyPath, what: str, why: str) -> WriteampError:
    return WriteampError(f"cannot write {what} {os.fspath(path)!r}: {why}")
