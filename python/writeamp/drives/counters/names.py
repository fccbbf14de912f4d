"""Names of real drives: model and short hash of the serial number, which tell them apart."""

from __future__ import annotations

import os

from writeamp.drives.counters.result import DriveCounters

# Hexadecimal digits of a short hash: enough for a unique name in a fleet of thousands of drives.
_DIGITS = 8
_KIND = "sha256:"
# Longest name of a file in a table; of a longer one the end is shown, which names the drive.
_LONGEST = 24
UNNAMED = "model not named"


def short_hash(serial: str | None) -> str:
    """Return the first eight digits of the hash of a serial number, or "" without one.

    >>> short_hash("sha256:9f0a25cd2ec738dd"), short_hash(None)
    ('9f0a25cd', '')
    """
    return (serial or "").removeprefix(_KIND)[:_DIGITS]


def drive_name(answer: DriveCounters) -> str:
    """Return the model of a drive and the short hash of its serial number.

    A drive without a serial number has the name of its file instead of the hash.
    """
    facts = answer.facts
    return f"{facts.model or UNNAMED} {short_hash(facts.serial) or short_file(answer.name)}"


def short_file(name: str) -> str:
    """Return the name of a file without its folder; of a long name only the end.

    >>> short_file("smart/sda.json"), short_file("x" * 60 + "-sda.json")
    ('sda.json', '…xxxxxxxxxxxxxx-sda.json')
    """
    last = os.path.basename(name.rstrip("/")) or name
    return last if len(last) <= _LONGEST else f"…{last[1 - _LONGEST :]}"
