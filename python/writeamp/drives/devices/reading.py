"""Reading of a drive: the documents of all its logs at one moment."""

from __future__ import annotations

import json
import time

from writeamp.drives.counters.document import Document
from writeamp.drives.counters.reading import snapshots_in
from writeamp.drives.counters.saved_file import TAKEN, Taken, taken_document
from writeamp.drives.devices.device import Device, device_at
from writeamp.drives.devices.logs import IDENTITY, Log, identity_log, logs_of
from writeamp.drives.devices.tools import MissingRightError, printed_by, require
from writeamp.drives.histories.serials import without_serials
from writeamp.errors import WriteampError


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


def _logs(device: Device) -> tuple[list[Log], dict[str, bytes]]:
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


def _by_hand(device: Device, what: str, logs: list[Log]) -> WriteampError:
    """Return the error that says what is missing, and the commands that do the same by hand."""
    by_hand = "; ".join(f"{one.command} > {one.file}" for one in logs if one.file != "vendor.txt")
    return WriteampError(
        f"cannot read {device.path}: {what}; or by hand, in one folder, as many of these as the "
        f"drive has: {by_hand}"
    )
