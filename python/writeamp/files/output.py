"""Output files, each written completely or not at all.

A file is written as a draft in the folder of its target. When the draft is complete and synced to
disk, it replaces the target; until then the target is unchanged. A killed process leaves its draft,
which the next write into that folder removes.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from writeamp.errors import WriteampError
from writeamp.fields.domains import file_name
from writeamp.system import LOCK_EX, LOCK_NB, flock

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

AnyPath: TypeAlias = str | os.PathLike[str]

DRAFTS = ".writeamp-*.tmp"

# Errors that are ignored when a folder is synced: from file systems that cannot sync folders, and
# from folders with write but no read permission.
_NOT_SYNCED = (errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM)
_ANY_WRITER = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH

# Drafts that are being written. `discard_drafts` removes them if the process ends at once, without
# running the clean-up of `replacing`.
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
    """Give a file to write, which replaces the path if the block ends without an error.

    A symbolic link is kept, and its target replaced. Mode and owner of the replaced file are kept.

    Args:
        path: the file to make or replace.
        what: kind of file, for errors: "plot", "trace".
        inputs: files that the output is made from; they are never replaced, under any name.
        may_replace: whether an existing file may be replaced.
        synced: whether to sync the file to disk; not needed if it is soon replaced.

    Raises:
        WriteampError: the path is an input, a folder or a device, is write-protected, exists and
            may not be replaced, or cannot be written. Then nothing has changed, unless the folder
            cannot be synced: then the file is complete, and a loss of power may lose it.
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
    """Check before a long run that `replacing` can write the file after it.

    Raises:
        WriteampError: as `replacing` raises.
    """
    target = _found(path, what, inputs, may_replace)
    with _failures_named(path, what), _draft_of(target) as (_, file):
        file.close()


def check_distinct(paths: Iterable[AnyPath]) -> None:
    """Check that the outputs of one command are different files.

    Raises:
        WriteampError: two of them are the same file.
    """
    seen: dict[str, AnyPath] = {}
    for path in paths:
        real = os.path.realpath(path)
        if real in seen:
            raise WriteampError(
                f"{os.fspath(seen[real])} and {os.fspath(path)} are the same file; each output "
                "needs a file of its own"
            )
        seen[real] = path


def discard_drafts() -> None:
    """Remove unfinished drafts, for a process that ends at once."""
    for draft in tuple(_drafts):
        with suppress(OSError):
            draft.unlink()


@dataclass(frozen=True)
class _Target:
    """File to which a path leads through all symbolic links, and its status if it exists."""

    path: Path
    status: os.stat_result | None


_EXISTS = "it exists already; choose another name, or replace it with --force"


def _found(path: AnyPath, what: str, inputs: Iterable[AnyPath], may_replace: bool) -> _Target:
    """Return the target to write to, or raise if it must not be written."""
    file_name(path)
    with _failures_named(path, what):
        try:
            status = os.stat(path)
        except FileNotFoundError:  # also a link to a file that does not exist yet
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
    # The superuser can write any file; a user who removed write permission wants it unchanged.
    if not (status.st_mode & _ANY_WRITER and os.access(path, os.W_OK)):
        raise _refusal(path, what, "it is write-protected; choose another name, or permit writing")
    return _Target(Path(os.path.realpath(path)), status)


def _is_same(source: AnyPath, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(source), status)
    except (OSError, ValueError):  # the source does not exist, or its name is not valid
        return False


@contextmanager
def _draft_of(target: _Target) -> Iterator[tuple[Path, _Draft]]:
    """Give a draft in the target's folder: a rename from another file system would be a copy."""
    _remove_abandoned_drafts(target.path.parent)
    draft, file = _new_draft(target.path.parent)
    _drafts.add(draft)
    # Keeps the lock after `file` is closed, until it is renamed; Windows renames no open file.
    lock = None if sys.platform == "win32" else os.dup(file.fileno())
    try:
        with file:
            yield draft, file
    finally:
        with suppress(OSError):  # the draft has replaced the target
            draft.unlink()
        if lock is not None:
            with suppress(OSError):
                os.close(lock)
        _drafts.discard(draft)


class _Draft(io.BufferedWriter):
    """File that stores the error of a write, because libraries raise it without its reason.

    It is a class of its own so that Polars does not write to the file descriptor directly.
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
        """Raise the stored error of a write in place of the error that a library made of it."""
        try:
            yield
        except BaseException:
            if self._error is not None:
                raise self._error from None
            raise


def _new_draft(folder: Path) -> tuple[Path, _Draft]:
    """Make a draft and lock it; drafts without a lock count as abandoned."""
    draft = folder / DRAFTS.replace("*", os.urandom(8).hex())
    file = _Draft(io.FileIO(draft, "x"))
    with suppress(OSError):  # a file system may not support locks
        flock(file, LOCK_EX)
    if os.fstat(file.fileno()).st_nlink:
        return draft, file
    file.close()
    return _new_draft(folder)  # another process removed it before it was locked


def _remove_abandoned_drafts(folder: Path) -> None:
    """Remove the drafts that killed processes left in a folder."""
    for draft in folder.glob(DRAFTS):
        with suppress(OSError), draft.open("r+b") as file:
            flock(file, LOCK_EX | LOCK_NB)
            draft.unlink()


def _keep_mode(file: BinaryIO, status: os.stat_result | None) -> None:
    if status is None or sys.platform == "win32":
        return
    with suppress(PermissionError):  # only the superuser can change the owner
        os.fchown(file.fileno(), status.st_uid, status.st_gid)
    os.fchmod(file.fileno(), stat.S_IMODE(status.st_mode))


def sync_folder(folder: Path) -> None:
    """Sync a folder, so that renames in it are durable, where the file system supports that.

    Raises:
        OSError: the disk fails.
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
