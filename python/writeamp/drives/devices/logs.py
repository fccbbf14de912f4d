"""Logs that say what a drive's host and flash wrote, and the commands that print them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple

from writeamp.drives.devices.device import Device

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


class Log(NamedTuple):
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


def identity_log(device: Device) -> Log:
    """Return the log that says the model of an NVMe drive."""
    return Log(IDENTITY, "nvme", ("id-ctrl", device.path, _JSON))


def logs_of(device: Device, model: str) -> Iterator[Log]:
    """Yield the logs of a drive in the order in which they are read.

    The host's counter is read before the flash's and once more after them: what it was at their
    moment lies between both.

    Args:
        device: the drive.
        model: of an NVMe drive; "" if unknown.
    """
    if not device.is_nvme:
        yield Log("smartctl.json", "smartctl", ("-x", "-j", device.path), is_needed=True)
        return
    host = ("smart-log", device.path, _WHOLE, _JSON)
    yield Log(_HOST, "nvme", host, is_needed=True)
    yield Log(_OCP, "nvme", ("ocp", "smart-add-log", device.path, _JSON))
    yield Log("fdp.json", "nvme", ("fdp", "stats", device.path, "--endgrp-id=1", _JSON))
    for pattern, verb in _VENDOR_VERBS:
        if re.search(pattern, model, re.IGNORECASE):
            yield Log("vendor.txt", "nvme", (*verb, device.path), stands_for=_OCP)
            break
    yield Log("endurance.json", "nvme", ("endurance-log", device.path, "--group-id=1", _JSON))
    yield Log("smart-again.json", "nvme", host)
