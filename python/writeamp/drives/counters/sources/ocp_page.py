"""Log 0xC0 as raw bytes, by the GUID at its end: OCP's layout, and that of boot SSDs."""

from __future__ import annotations

from collections.abc import Iterator

from writeamp.drives.counters.document import Document
from writeamp.drives.counters.facts import Facts
from writeamp.drives.counters.source import Source
from writeamp.drives.counters.sources.boot_log import boot_facts
from writeamp.drives.counters.sources.ocp import ocp_facts
from writeamp.vssd.log_pages import boot, ocp

_NAME = "log 0xC0, 512 bytes"


def _guid(document: Document) -> int:
    return int.from_bytes(document.content[ocp.PAGE_BYTES - 16 : ocp.PAGE_BYTES], "little")


def _matches(document: Document) -> bool:
    return len(document.content) == ocp.PAGE_BYTES and _guid(document) in {ocp.GUID, boot.GUID}


def _read(document: Document) -> Iterator[Facts]:
    if _guid(document) == boot.GUID:
        yield boot_facts(boot.decoded_page(document.content), _NAME)
    else:
        yield ocp_facts(ocp.decoded_page(document.content), _NAME)


SOURCE = Source(_NAME, _matches, _read, specificity=92)
