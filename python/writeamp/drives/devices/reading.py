"""Reading of a drive by the tools that print its logs, and saving of these documents."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from writeamp.drives.counters.document import Document
from writeamp.drives.counters.families import Family, Stated
from writeamp.drives.counters.reading import read_snapshots, snapshots_in, snapshots_of
from writeamp.drives.counters.saved_file import TAKEN, SnapshotOrigin, packed, taken_document
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.drives.devices.device import DriveDevice, device_at, is_device
from writeamp.drives.histories.watching import without_serials
from writeamp.errors import WriteampError
from writeamp.files.output import check_target, replacing, sync_folder
from writeamp.files.temporary import temporary_folder

# Package of each program in most distributions.
_PACKAGES = {"nvme": "nvme-cli", "smartctl": "smartmontools"}
_SYSTEM_FOLDERS = "/usr/local/sbin:/usr/sbin:/sbin"
_PATIENCE_S = 60.0
_MOST_PRINTED_BYTES = 64 << 20
# Bits of smartctl's exit status that mean that it could not read the drive.
_READ_NOTHING = 0b11
_NO_RIGHT = ("permission denied", "operation not permitted", "requires root", "eacces", "eperm")
IDENTITY = "id-ctrl.json"
_HOST = "smart.json"
_OCP = "ocp.json"
# Option that selects the whole drive instead of the namespace of the device.
_WHOLE = "--namespace-id=0xffffffff"
_JSON = "--output-format=json"
# Plugin and subcommand of nvme-cli that print the vendor's log, by a pattern of the model. They are
# called without options, as these differ by version, and their text output is parsed.
_VENDOR_VERBS = (
    (r"INTEL", ("intel", "smart-log-add")),
    (r"SOLIDIGM", ("solidigm", "smart-log-add")),
    (r"Micron|MTFD", ("micron", "vs-nand-stats")),
    (r"WDC|WD |WUS|SanDisk", ("wdc", "vs-smart-add-log")),
    (r"SAMSUNG|^MZ", ("samsung", "vs-smart-add-log")),
    (r"Seagate|^XP|^ZP", ("seagate", "vs-smart-add-log")),
    (r"KIOXIA|TOSHIBA|^K[CX]", ("toshiba", "vs-smart-add-log")),
    (r"MEMBLAZE|^P[56]\d{3}[CD]", ("memblaze", "smart-log-add")),
    (r"DAPUSTOR|^DP[HR]", ("dapustor", "smart-log-add")),
    (r"ScaleFlux|^CSD", ("sfx", "smart-log-add")),
    (r"SSSTC|LITEON", ("ssstc", "smart-log-add")),
    (r"YMTC|ZHITAI", ("ymtc", "smart-log-add")),
    (r"Shannon", ("shannon", "smart-log-add")),
    (r"INSPUR", ("inspur", "nvme-vendor-log")),
)
_WHAT = "snapshot"


class MissingRightError(WriteampError):
    """A tool lacks the permission to read a device."""


def require(program: str) -> None:
    """Check that a required program is installed.

    Raises:
        WriteampError: a program is not installed; the message names its package.
    """
    if _path_of(program) is None:
        raise WriteampError(f"{program} is not installed (package {_PACKAGES[program]})")


def printed_by(program: str, arguments: tuple[str, ...]) -> bytes:
    """Return the output of a tool.

    Raises:
        WriteampError: the tool failed, printed no output, or did not end within a minute.
        MissingRightError: the tool lacks the permission to read the device.
    """
    require(program)
    try:
        process = subprocess.run(
            [_path_of(program) or program, *arguments],
            env={**os.environ, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE_S,
            check=False,
            # Ctrl-C is for the measured command, not for the tool that reads the drive.
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        raise WriteampError(f"{program} did not end within {_PATIENCE_S:g} s") from None
    except OSError as error:
        raise WriteampError(f"{program} cannot be run: {error.strerror or error}") from None
    words = _last_words(process.stderr) or _last_words(process.stdout)
    if any(phrase in (process.stderr + process.stdout[:4096]).decode("utf-8", "replace").lower()
           for phrase in _NO_RIGHT) and _has_failed(program, process.returncode):  # fmt: skip
        raise MissingRightError(f"{program} lacks permission: {words}")
    if _has_failed(program, process.returncode):
        raise WriteampError(f"{program} ended with status {process.returncode}: {words}")
    if not process.stdout.strip() or len(process.stdout) > _MOST_PRINTED_BYTES:
        raise WriteampError(f"{program} printed {len(process.stdout):,} bytes: {words}")
    return process.stdout


def _has_failed(program: str, status: int) -> bool:
    return status < 0 or bool(status & _READ_NOTHING if program == "smartctl" else status)


def _path_of(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ.get('PATH', os.defpath)}:{_SYSTEM_FOLDERS}")


def _last_words(text: bytes) -> str:
    lines = [line.strip() for line in text.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1][:300] if lines else "no message"


class DriveLog(NamedTuple):
    """Log of a drive that a tool prints.

    Attributes:
        file: name of the file for its document.
        program: program that prints it.
        arguments: arguments of the program.
        is_needed: whether reading the drive fails without this log.
        fallback_for: file that makes this log unnecessary if its document counts flash writes.
    """

    file: str
    program: str
    arguments: tuple[str, ...]
    is_needed: bool = False
    fallback_for: str = ""

    @property
    def name(self) -> str:
        """Program and subcommand, for messages."""
        words = [word for word in self.arguments if not word.startswith(("-", "/"))]
        return " ".join((self.program, *words))

    @property
    def command(self) -> str:
        """Command line, to be run by hand."""
        return shlex.join((self.program, *self.arguments))


def identity_log(device: DriveDevice) -> DriveLog:
    """Return the log with the model of an NVMe drive."""
    return DriveLog(IDENTITY, "nvme", ("id-ctrl", device.path, _JSON))


def logs_of(device: DriveDevice, model: str) -> Iterator[DriveLog]:
    """Yield the logs of a drive in reading order.

    The host counter is read before the flash counter and again after it. When the flash counter was
    read, the value of the host counter was between both.

    Args:
        device: the drive.
        model: model of an NVMe drive, or "".
    """
    if not device.is_nvme:
        yield DriveLog("smartctl.json", "smartctl", ("-x", "-j", device.path), is_needed=True)
        return
    host = ("smart-log", device.path, _WHOLE, _JSON)
    yield DriveLog(_HOST, "nvme", host, is_needed=True)
    yield DriveLog(_OCP, "nvme", ("ocp", "smart-add-log", device.path, _JSON))
    yield DriveLog("fdp.json", "nvme", ("fdp", "stats", device.path, "--endgrp-id=1", _JSON))
    for pattern, verb in _VENDOR_VERBS:
        if re.search(pattern, model, re.IGNORECASE):
            yield DriveLog("vendor.txt", "nvme", (*verb, device.path), fallback_for=_OCP)
            break
    yield DriveLog("endurance.json", "nvme", ("endurance-log", device.path, "--group-id=1", _JSON))
    yield DriveLog("smart-again.json", "nvme", host)


def read_device(path: str, *, keeps_serials: bool = False) -> dict[str, bytes]:
    """Return the documents of a drive's logs, by file name.

    The drive is not written to.

    Args:
        path: path of the device.
        keeps_serials: whether serial numbers are kept instead of hashed.

    Raises:
        WriteampError: the path is not a drive, or a program or permission is missing; the message
            lists the commands to run by hand.
    """
    device = device_at(path)
    logs, documents = _logs(device)
    notes = []
    for log in logs:
        if log.fallback_for in documents and _counts_flash(documents[log.fallback_for]):
            continue
        try:
            documents[log.file] = printed_by(log.program, log.arguments)
        except MissingRightError as error:
            raise _by_hand(device, f"{error}. Run this as root", logs) from None
        except WriteampError as error:
            if log.is_needed:
                raise _by_hand(device, f"`{log.command}`: {error}", logs) from None
            notes.append(f"`{log.name}` failed: {error}")
    commands = {log.file: log.command for log in logs if log.file in documents}
    if not keeps_serials:
        documents = {name: without_serials(content) for name, content in documents.items()}
    taken = SnapshotOrigin(time.time(), device.path, commands, tuple(notes))
    return {**documents, TAKEN: taken_document(taken)}


def read_place(
    place: str | os.PathLike[str], model: str | None = None, families: tuple[Family, ...] = ()
) -> list[Snapshot]:
    """Return the snapshots of a file or folder, or of a drive, which is read now.

    Args:
        place: file, folder, or device such as /dev/nvme0; "-" for standard input.
        model: model of the drive, for files without it.
        families: families that are tried before the built-in ones.

    Raises:
        WriteampError: the place cannot be read, is not a snapshot, or names another model.
    """
    if not is_device(place):
        return read_snapshots(place, model, families)
    name = os.fspath(place)
    return snapshots_of(name, read_device(name), Stated.of(model, families))


def _counts_flash(content: bytes) -> bool:
    try:
        (snapshot,) = snapshots_in(Document("log", content))
    except (WriteampError, ValueError):
        return False
    return any(counter.side == "flash" for counter in snapshot.facts.counters)


def _logs(device: DriveDevice) -> tuple[list[DriveLog], dict[str, bytes]]:
    """Return the logs to read, which depend on the model, and the document with the model."""
    identity = identity_log(device)
    program = "nvme" if device.is_nvme else "smartctl"
    try:
        require(program)
        document = printed_by(program, identity.arguments) if device.is_nvme else b""
    except MissingRightError as error:
        raise _by_hand(device, f"{error}. Run this as root", list(logs_of(device, ""))) from None
    except WriteampError as error:
        raise _by_hand(device, str(error), list(logs_of(device, ""))) from None
    logs = list(logs_of(device, _model_in(document)))
    if not device.is_nvme:
        return logs, {}
    return [identity, *logs], {IDENTITY: document}


def _model_in(document: bytes) -> str:
    try:
        identity = json.loads(document)
    except ValueError:
        return ""
    return str(identity.get("mn", "")) if isinstance(identity, dict) else ""


def _by_hand(device: DriveDevice, problem: str, logs: list[DriveLog]) -> WriteampError:
    """Return the error with the problem, and the commands to run by hand instead."""
    by_hand = "; ".join(f"{log.command} > {log.file}" for log in logs if log.file != "vendor.txt")
    return WriteampError(
        f"cannot read {device.path}: {problem}. Or run by hand, in one folder, those of the "
        f"following commands that the drive supports: {by_hand}"
    )


def is_folder(out: str | os.PathLike[str]) -> bool:
    """Return whether a snapshot is saved as a folder: `out` is one, or ends with a slash."""
    return os.fspath(out).endswith("/") or Path(out).is_dir()


def check_out(out: str | os.PathLike[str]) -> None:
    """Check early that a snapshot can be saved to a path.

    Raises:
        WriteampError: the folder is not empty, or the file cannot be written.
    """
    if not is_folder(out):
        check_target(out, _WHAT)
        return
    path = Path(out)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise WriteampError(
            f"{os.fspath(out)!r} is not an empty folder. Pass a new folder, or a file"
        )
    if not path.parent.is_dir():
        raise WriteampError(f"the folder {str(path.parent)!r} for the snapshot does not exist")


def save_documents(documents: Mapping[str, bytes], out: str | os.PathLike[str]) -> Snapshot:
    """Save all documents of a drive, or none, and return their snapshot.

    Args:
        documents: documents by file name.
        out: a file; or a folder, if it exists as one or ends with a slash.

    Raises:
        WriteampError: the documents are not a snapshot, or cannot be written.
    """
    (snapshot,) = snapshots_of(os.fspath(out), documents)
    if is_folder(out):
        _save_folder(documents, Path(out))
    else:
        with replacing(out, _WHAT) as file:
            file.write(packed(documents))
    return snapshot


def _save_folder(documents: Mapping[str, bytes], folder: Path) -> None:
    """Write to a temporary folder and rename it when it is complete."""
    check_out(folder if folder.is_dir() else f"{folder}/")
    try:
        with temporary_folder(beside=folder) as place:
            draft = place / folder.name
            draft.mkdir()
            for name, content in documents.items():
                with replacing(draft / name, _WHAT) as file:
                    file.write(content)
            draft.replace(folder)
            sync_folder(folder.parent)
    except OSError as error:
        raise WriteampError(
            f"cannot write the snapshot {str(folder)!r}: {error.strerror or error}"
        ) from None
