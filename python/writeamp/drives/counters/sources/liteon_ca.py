"""Physical bytes written in decimal: bytes in LiteOn's text, a ratio only in JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from writeamp.drives.counters.document import Document
from writeamp.drives.counters.facts import Facts
from writeamp.drives.counters.printed_log import PrintedLog, Worn, Written, source_of
from writeamp.drives.counters.source import Source

_KEY = "physical_nand_bytes_written"
_HOST_KEY = "physical_host_bytes_written"

_LOG = source_of(
    PrintedLog(
        "nvme liteon vs-smart-add-log",
        "LiteOn log",
        (Written("flash", (_KEY,), "byte"), Written("host", (_HOST_KEY,), "byte")),
        worn=(Worn(("user_data_erase_counts_minimum",), ("user_data_erase_counts_maximum",)),),
    )
)


def _read(document: Document) -> Iterator[Facts]:
    for facts in _LOG.read(document):
        if document.json is None and facts.erases:
            yield facts
            continue
        note = (
            "two vendors print this name, the one for bytes, the other for 512,000 bytes: the "
            "ratio is all that it gives"
        )
        yield replace(
            facts,
            counters=tuple(
                replace(one, unit=None, shared="physical bytes written") for one in facts.counters
            ),
            notes=(*facts.notes, note),
        )


SOURCE = Source(_LOG.name, _LOG.matches, _read)
