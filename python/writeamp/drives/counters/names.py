"""Names of real drives: model and short hash of the serial number, which distinguish them."""

from __future__ import annotations

import os

from writeamp.drives.counters.facts import CounterFacts
from writeamp.text import short_hash

# Longest name of a file in a table; of a longer one the end is shown, which names the drive.
_LONGEST = 24
UNNAMED = "model not named"


def drive_name(facts: CounterFacts, source: str) -> str:
    """Return the model of a drive and the short hash of its serial number.

    A drive without a serial number has the name of its file or `source` instead of the hash.
    """
    return f"{facts.model or UNNAMED} {short_hash(facts.serial) or short_file(source)}"


def short_file(name: str) -> str:
    """Return the name of a file without its folder; of a long name only the end.

    >>> short_file("smart/sda.json"), short_file("x" * 60 + "-sda.json")
    ('sda.json', '…xxxxxxxxxxxxxx-sda.json')
    """
    last = os.path.basename(name.rstrip("/")) or name
    return last if len(last) <= _LONGEST else f"…{last[1 - _LONGEST :]}"
