"""FDP statistics (log 0x22) in text, as `nvme fdp stats` prints them."""

from __future__ import annotations

from collections.abc import Iterator

from writeamp.drives.counters.document import Document
from writeamp.drives.counters.facts import Facts
from writeamp.drives.counters.printed import count_of, entries
from writeamp.drives.counters.source import Source
from writeamp.drives.counters.sources.fdp_json import fdp_facts
from writeamp.vssd.log_pages import fdp

_NAME = "nvme fdp stats"
_KEYS = {
    "host_bytes_with_metadata_written_hbmw": fdp.HOST_WRITTEN,
    "host_bytes_with_metadata_written": fdp.HOST_WRITTEN,
    "media_bytes_with_metadata_written_mbmw": fdp.MEDIA_WRITTEN,
    "media_bytes_with_metadata_written": fdp.MEDIA_WRITTEN,
    fdp.HOST_WRITTEN: fdp.HOST_WRITTEN,
    fdp.MEDIA_WRITTEN: fdp.MEDIA_WRITTEN,
}


def _matches(document: Document) -> bool:
    found = {_KEYS[key] for key in entries(document) if key in _KEYS}
    return len(found) == len(set(_KEYS.values()))


def _read(document: Document) -> Iterator[Facts]:
    found = entries(document)
    log = {}
    for key, name in _KEYS.items():
        if key not in found:
            continue
        counts = dict.fromkeys(count_of(one.value) for one in found[key])
        one = next(iter(counts))
        said = " and ".join(str(one.value) for one in found[key])
        log[name] = said if len(counts) > 1 or one is None else one.low
    group = found.get("endgid", found.get("endurance_group_id", ()))
    if len(group) == 1:
        log["endgid"] = group[0].value
    yield fdp_facts(log, _NAME)


SOURCE = Source(_NAME, _matches, _read)
