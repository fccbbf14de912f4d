"""Endurance group log (0x09) in text, as `nvme endurance-log` prints it."""

from __future__ import annotations

from collections.abc import Iterator

from writeamp.drives.counters.document import Document
from writeamp.drives.counters.facts import Facts
from writeamp.drives.counters.printed import count_of, entries
from writeamp.drives.counters.source import Source
from writeamp.drives.counters.sources.endurance_group_json import KEYS, endurance_facts

_NAME = "nvme endurance-log"


def _matches(document: Document) -> bool:
    return {key for _, key in KEYS} <= entries(document).keys()


def _read(document: Document) -> Iterator[Facts]:
    log = {}
    for key, said in entries(document).items():
        counts = dict.fromkeys(count_of(one.value) for one in said)
        one = next(iter(counts))
        log[key] = one.low if len(counts) == 1 and one is not None else None
    yield endurance_facts(log, _NAME)


SOURCE = Source(_NAME, _matches, _read)
