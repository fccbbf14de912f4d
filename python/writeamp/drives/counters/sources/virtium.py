"""Virtium's log for its viewer, in which NAND writes are always 0."""

from __future__ import annotations

import re
from collections.abc import Iterator

from writeamp.drives.counters.document import Document
from writeamp.drives.counters.facts import Facts
from writeamp.drives.counters.source import Source

_NAME = "nvme virtium save-smart-to-vtview-log"
_NAND = re.compile(r"\bNandWrites;\d")


def _matches(document: Document) -> bool:
    return bool(_NAND.search(document.text[: 1 << 16]))


def _read(_document: Document) -> Iterator[Facts]:
    note = "the tool writes NandWrites;0 whatever the drive counts: it is not supported"
    yield Facts(source=_NAME, notes=(note,))


SOURCE = Source(_NAME, _matches, _read)
