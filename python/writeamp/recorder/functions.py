"""Recording of a block device, while a command runs, for a time, or until a signal."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from writeamp.errors import WriteampError
from writeamp.fields.domains import file_name
from writeamp.files.output import AnyPath
from writeamp.recorder.disk import Disk, disk_of, mount_of, number_of_path
from writeamp.recorder.parts import check_target
from writeamp.recorder.result import RecordResult
from writeamp.recorder.session import Session
from writeamp.recorder.settings import RecordSettings
from writeamp.system import require_linux

if TYPE_CHECKING:
    from writeamp.devices.device import SizeLike

_PARQUET = ".parquet"


def record(
    device: AnyPath,
    out: AnyPath,
    *,
    run: str | Sequence[str] | None = None,
    duration_s: float | str | None = RecordSettings.duration_s,
    files: AnyPath | None = RecordSettings.files,
    max_size: SizeLike | None = RecordSettings.max_size,
    allow_loss: bool = RecordSettings.allow_loss,
    anonymize: bool = RecordSettings.anonymize,
    replace: bool = False,
    stdout: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    warn: Callable[[str], object] | None = None,
) -> RecordResult:
    """Record the requests that a block device gets, with their processes and files.

    Needs Linux and root. The file systems on the device are synced before the start and at the
    end; nothing else is written to it, unless `out` is on it. With neither `run` nor `duration_s`,
    the recording ends at Ctrl-C, SIGTERM or SIGHUP, which also end the others early.

    Args:
        device: whole disk or partition, such as "/dev/nvme0n1".
        out: Parquet trace to write; while recording, its parts are in the folder OUT.parts.
        run: command to run meanwhile: a line for /bin/sh, or its words.
        duration_s: seconds, or text such as "10m", after which the recording ends.
        files: mount point of the device's file system, to record the file of each request.
        max_size: size of the parts above which the oldest is removed.
        allow_loss: whether the caller accepts more than 0.1% of lost events; `failure` of the
            result states them otherwise.
        anonymize: whether names of processes and files are replaced by short hashes.
        replace: whether an existing trace may be replaced.
        stdout: file descriptor for the command's output.
        progress: called with the number of requests so far, and 0; first when recording begins.
        warn: called with a sentence if the recording ends before the command.

    Returns:
        `RecordResult`: `counts`, `lost_events`, `failure`, `run_exit_status`.

    Raises:
        WriteampError: not Linux or not root, the device or the kernel's events are not usable, or
            the trace cannot be written.

    >>> import writeamp as wa
    >>> wa.record("/dev/null", "t.parquet")
    Traceback (most recent call last):
    writeamp.errors.WriteampError: /dev/null is not a block device; give one such as /dev/nvme0n1
    """
    settings = RecordSettings(
        duration_s=duration_s,  # type: ignore[arg-type]  # checked there
        files=None if files is None else os.fspath(files),
        max_size=max_size,  # type: ignore[arg-type]  # checked there
        allow_loss=allow_loss,
        anonymize=anonymize,
    )
    command = _command_of(run)
    if command is not None and settings.duration_s is not None:
        raise WriteampError("a command and a time (--for) exclude each other; give only one")
    target = Path(file_name(out))
    if target.suffix.lower() != _PARQUET:
        raise WriteampError(f"{target}: traces are recorded as Parquet; use the suffix {_PARQUET}")
    disk = recorded_disk(device)
    mount = None if settings.files is None else mount_of(settings.files, disk)
    if os.geteuid() != 0:
        raise WriteampError("recording needs root, which may read the kernel's events; use sudo")
    check_target(target, may_replace=replace)
    session = Session(disk, mount, target, settings, command, stdout, progress, warn)
    return session.run(may_replace=replace)


def recorded_disk(device: AnyPath) -> Disk:
    """Return a block device that can be recorded.

    Raises:
        WriteampError: not Linux, it is not a block device, or it consists of other disks.
    """
    require_linux("a recording")
    return disk_of(os.fspath(file_name(device)))


def _command_of(run: str | Sequence[str] | None) -> str | None:
    """Return a command as a line for the shell; a single word is already a line."""
    if run is None:
        return None
    words = [run] if isinstance(run, str) else run
    command = words[0] if len(words) == 1 else shlex.join(words)
    if not command.strip():
        raise WriteampError("the command is empty; give one, or none to record until Ctrl-C")
    if number_of_path(words[0]) is not None:
        raise WriteampError(
            f"{words[0]} is a second device; record one at a time. Give a command after --"
        )
    return command
