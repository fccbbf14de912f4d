"""OCP log 0xC0 as the plugins of nvme-cli print it in text, or as JSON in another spelling."""

from __future__ import annotations

from collections.abc import Iterator

from writeamp.drives.counters.document import Document
from writeamp.drives.counters.facts import Facts
from writeamp.drives.counters.printed import entries, spelled
from writeamp.drives.counters.source import Source
from writeamp.drives.counters.sources.ocp_json import LABEL, ocp_facts
from writeamp.vssd.log_pages import ocp

_NAME = "nvme ocp smart-add-log"
# The older keys, and those of versions that differ in spelling only.
_FIELDS = {spelled(key): one.key for one in ocp.FIELDS for key in (one.old_key, one.key)}


def _matches(document: Document) -> bool:
    return ocp.WRITTEN in entries(document)


def _read(document: Document) -> Iterator[Facts]:
    found = entries(document)
    if len(found[ocp.WRITTEN]) > 1:
        note = f"{LABEL} stands there several times: give the log of one drive at one moment"
        yield Facts(source=_NAME, notes=(note,))
        return
    values = {_FIELDS[key]: said[0].value for key, said in found.items() if key in _FIELDS}
    yield ocp_facts(values, _NAME)


SOURCE = Source(_NAME, _matches, _read)
