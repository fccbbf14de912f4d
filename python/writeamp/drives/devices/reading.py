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
from writeamp.drives.counters.reading import snapshots_in, snapshots_of
from writeamp.drives.counters.saved_file import TAKEN, Taken, packed, taken_document
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.drives.devices.device import DriveDevice, device_at
from writeamp.drives.histories.watching import without_serials
from writeamp.errors import WriteampError
from writeamp.files.output import check_target, replacing, sync_folder
from writeamp.files.temporary import temporary_folder

# The package of each program, as most distributions call it.
_PACKAGES = {"nvme": "nvme-cli", "smartctl": "smartmontools"}
_SYSTEM_FOLDERS = "/usr/local/sbin:/usr/sbin:/sbin"
_PATIENCE_S = 60.0
_MOST_PRINTED_BYTES = 64 << 20
# smartctl's status has a bit for each of its findings; these two mean that it read nothing.
_READ_NOTHING = 0b11
_NO_RIGHT = ("permission denied", "operation not permitted", "requires root", "eacces", "eperm")
IDENTITY = "id-ctrl.json"
_HOST = "smart.json"
_OCP = "ocp.json"
# The whole drive, and not the namespace of the device.
_WHOLE = "--namespace-id=0xffffffff"
_JSON = "--output-format=json"
# Verbs of nvme-cli's plugins by a pattern of the model. Their options differ by version, so that
# none is given: what they print as text is read.
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
    """A tool may not read a device."""


def require(program: str) -> None:
    """Refuse what cannot work before anything is begun.

    Raises:
        WriteampError: a program is not installed; the sentence names its package.
    """
    if _path_of(program) is None:
        raise WriteampError(f"{program} is not installed (package {_PACKAGES[program]})")


def printed_by(program: str, arguments: tuple[str, ...]) -> bytes:
    """Return what a tool prints.

    Raises:
        WriteampError: it failed, printed nothing, or did not end within a minute.
        MissingRightError: it may not read the device.
    """
    require(program)
    try:
        done = subprocess.run(
            [_path_of(program) or program, *arguments],
            env={**os.environ, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE_S,
            check=False,
            # Ctrl-C is for the command that is measured, and not for what reads the drive.
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        raise WriteampError(f"{program} did not end within {_PATIENCE_S:g} s") from None
    except OSError as error:
        raise WriteampError(f"{program} cannot be run: {error.strerror or error}") from None
    words = _last_words(done.stderr) or _last_words(done.stdout)
    if any(one in (done.stderr + done.stdout[:4096]).decode("utf-8", "replace").lower()
           for one in _NO_RIGHT) and _has_failed(program, done.returncode):  # fmt: skip
        raise MissingRightError(f"{program} may not read it: {words}")
    if _has_failed(program, done.returncode):
        raise WriteampError(f"{program} ended with status {done.returncode}: {words}")
    if not done.stdout.strip() or len(done.stdout) > _MOST_PRINTED_BYTES:
        raise WriteampError(f"{program} printed {len(done.stdout):,} bytes: {words}")
    return done.stdout


def _has_failed(program: str, status: int) -> bool:
    return status < 0 or bool(status & _READ_NOTHING if program == "smartctl" else status)


def _path_of(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ.get('PATH', os.defpath)}:{_SYSTEM_FOLDERS}")


def _last_words(text: bytes) -> str:
    lines = [one.strip() for one in text.decode("utf-8", "replace").splitlines() if one.strip()]
    return lines[-1][:300] if lines else "it said nothing"


class DriveLog(NamedTuple):
    """A log of a drive.

    Attributes:
        file: that its document is kept in.
        program: that prints it.
        arguments: of the program.
        is_needed: without it there is no snapshot.
        stands_for: it is left out where this file could be read.
    """

    file: str
    program: str
    arguments: tuple[str, ...]
    is_needed: bool = False
    stands_for: str = ""

    @property
    def name(self) -> str:
        """The program and its verb, for sentences."""
        words = [one for one in self.arguments if not one.startswith(("-", "/"))]
        return " ".join((self.program, *words))

    @property
    def command(self) -> str:
        """The command line, to be run by hand."""
        return shlex.join((self.program, *self.arguments))


def identity_log(device: DriveDevice) -> DriveLog:
    """Return the log that says the model of an NVMe drive."""
    return DriveLog(IDENTITY, "nvme", ("id-ctrl", device.path, _JSON))


def logs_of(device: DriveDevice, model: str) -> Iterator[DriveLog]:
    """Yield the logs of a drive in the order in which they are read.

    The host's counter is read before the flash's and once more after them: what it was at their
    moment lies between both.

    Args:
        device: the drive.
        model: of an NVMe drive; "" if unknown.
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
            yield DriveLog("vendor.txt", "nvme", (*verb, device.path), stands_for=_OCP)
            break
    yield DriveLog("endurance.json", "nvme", ("endurance-log", device.path, "--group-id=1", _JSON))
    yield DriveLog("smart-again.json", "nvme", host)


def read_device(given: str, *, keeps_serials: bool = False) -> dict[str, bytes]:
    """Return the documents of a drive's logs by the names of their files.

    Nothing is written to it.

    Args:
        given: path of the device.
        keeps_serials: leave serial numbers as they are; else hashes stand for them.

    Raises:
        WriteampError: it is no drive, or the program or the right is missing that reads it; the
            sentence says what to run by hand.
    """
    device = device_at(given)
    logs, documents = _logs(device)
    notes = []
    for log in logs:
        if log.stands_for in documents and _counts_flash(documents[log.stands_for]):
            continue
        try:
            documents[log.file] = printed_by(log.program, log.arguments)
        except MissingRightError as error:
            raise _by_hand(device, f"{error}; run this as root", logs) from None
        except WriteampError as error:
            if log.is_needed:
                raise _by_hand(device, f"`{log.command}`: {error}", logs) from None
            notes.append(f"`{log.name}` gave no log: {error}")
    commands = {log.file: log.command for log in logs if log.file in documents}
    if not keeps_serials:
        documents = {name: without_serials(one) for name, one in documents.items()}
    taken = Taken(time.time(), device.path, commands, tuple(notes))
    return {**documents, TAKEN: taken_document(taken)}


def _counts_flash(content: bytes) -> bool:
    try:
        (found,) = snapshots_in(Document("log", content))
    except (WriteampError, ValueError):
        return False
    return any(one.side == "flash" for one in found.facts.counters)


def _logs(device: DriveDevice) -> tuple[list[DriveLog], dict[str, bytes]]:
    """Return the logs to read, and the document of the drive's identity, which says which."""
    identity = identity_log(device)
    program = "nvme" if device.is_nvme else "smartctl"
    try:
        require(program)
        document = printed_by(program, identity.arguments) if device.is_nvme else b""
    except MissingRightError as error:
        raise _by_hand(device, f"{error}; run this as root", list(logs_of(device, ""))) from None
    except WriteampError as error:
        raise _by_hand(device, str(error), list(logs_of(device, ""))) from None
    logs = list(logs_of(device, _model_in(document)))
    if not device.is_nvme:
        return logs, {}
    return [identity, *logs], {IDENTITY: document}


def _model_in(document: bytes) -> str:
    try:
        found = json.loads(document)
    except ValueError:
        return ""
    return str(found.get("mn", "")) if isinstance(found, dict) else ""


def _by_hand(device: DriveDevice, what: str, logs: list[DriveLog]) -> WriteampError:
    """Return the error that says what is missing, and the commands that do the same by hand."""
    by_hand = "; ".join(f"{one.command} > {one.file}" for one in logs if one.file != "vendor.txt")
    return WriteampError(
        f"cannot read {device.path}: {what}; or by hand, in one folder, as many of these as the "
        f"drive has: {by_hand}"
    )


def is_folder(out: str | os.PathLike[str]) -> bool:
    """Return whether a snapshot is to be a folder: what ends with a slash, or is one."""
    return os.fspath(out).endswith("/") or Path(out).is_dir()


def check_out(out: str | os.PathLike[str]) -> None:
    """Refuse early where a snapshot cannot be saved.

    Raises:
        WriteampError: a folder that holds something, or a file that cannot be written.
    """
    if not is_folder(out):
        check_target(out, _WHAT)
        return
    path = Path(out)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise WriteampError(
            f"{os.fspath(out)!r} is no empty folder; a snapshot is of one moment, so give it a "
            "folder of its own, or a file"
        )
    if not path.parent.is_dir():
        raise WriteampError(f"there is no folder {str(path.parent)!r} for the snapshot")


def save_documents(documents: Mapping[str, bytes], out: str | os.PathLike[str]) -> Snapshot:
    """Save a drive's documents, the whole or nothing, and return the snapshot that they are.

    Args:
        documents: by the names of their files.
        out: a file, or a folder if it is one or ends with a slash.

    Raises:
        WriteampError: they are no snapshot, or cannot be written.
    """
    (snapshot,) = snapshots_of(os.fspath(out), documents)
    if is_folder(out):
        _save_folder(documents, Path(out))
    else:
        with replacing(out, _WHAT) as file:
            file.write(packed(documents))
    return snapshot


def _save_folder(documents: Mapping[str, bytes], folder: Path) -> None:
    """Write a folder beside its place, which it takes when it is complete."""
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
