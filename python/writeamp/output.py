"""Output files, each written whole under its name or not at all.

A file is written beside its target under a name of its own, and takes the target's place when it
is complete and on the disk; what was there before stays as it was until then.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias

from writeamp.domains import file_name
from writeamp.errors import WriteampError

AnyPath: TypeAlias = str | os.PathLike[str]

_ANY_WRITER = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH

# What is being written now, for a process that must end without unwinding.
_drafts: set[Path] = set()


@contextmanager
def replacing(
    path: AnyPath, what: str, *, inputs: Iterable[AnyPath] = (), may_replace: bool = True
) -> Iterator[BinaryIO]:
    """Give a file to write, which takes the path's place if the block ends well.

    A symbolic link stays one: what it leads to is replaced. The mode and the owner of a file that
    is replaced are kept.

    Args:
        path: the file to make or replace.
        what: what is written, for errors: "plot", "trace".
        inputs: files that are read for it; none of them is replaced, by whatever name.
        may_replace: replace a file that exists.

    Raises:
        WriteampError: the path is an input, a folder or a device, write-protected, or exists though
            it may not; or it cannot be written. Then nothing has changed.
    """
    target = _found(path, what, inputs, may_replace)
    with _failures_named(path, what), _draft_of(target) as draft:
        with draft.open("xb") as file:
            _keep_mode(file, target.status)
            yield file
            file.flush()
            os.fsync(file.fileno())
        if not may_replace and target.path.exists():
            raise _refusal(path, what, _EXISTS)
        draft.replace(target.path)
        _sync_folder(target.path.parent)


def check_target(
    path: AnyPath, what: str, *, inputs: Iterable[AnyPath] = (), may_replace: bool = True
) -> None:
    """Refuse early, before a long run, what `replacing` would refuse after it.

    Raises:
        WriteampError: as `replacing` raises.
    """
    target = _found(path, what, inputs, may_replace)
    with _failures_named(path, what), _draft_of(target) as draft:
        draft.open("xb").close()


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
def _draft_of(target: _Target) -> Iterator[Path]:
    """Give a name in the same folder, because a rename across file systems is a copy."""
    draft = target.path.with_name(f".writeamp-{secrets.token_hex(8)}.tmp")
    _drafts.add(draft)
    try:
        yield draft
    finally:
        with suppress(OSError):  # it took the target's place, or was never made
            draft.unlink()
        _drafts.discard(draft)


def _keep_mode(file: BinaryIO, status: os.stat_result | None) -> None:
    if status is None:
        return
    with suppress(PermissionError):  # only the superuser gives files away
        os.fchown(file.fileno(), status.st_uid, status.st_gid)
    os.fchmod(file.fileno(), stat.S_IMODE(status.st_mode))


def _sync_folder(folder: Path) -> None:
    """Make the rename last; not every file system knows how, and the file is whole anyway."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def _failures_named(path: AnyPath, what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _refusal(path, what, error.strerror or str(error)) from None


def _refusal(path: AnyPath, what: str, why: str) -> WriteampError:
    return WriteampError(f"cannot write {what} {os.fspath(path)!r}: {why}")
