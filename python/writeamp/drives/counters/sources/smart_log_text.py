"""SMART log of NVMe drives in text, or as JSON in another spelling."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from writeamp.drives.counters.document import Document, number, text_of
from writeamp.drives.counters.facts import Facts
from writeamp.drives.counters.printed import Entry, count_of, entries
from writeamp.drives.counters.silent_log import SIGNS_OF_LIFE, percentage_used
from writeamp.drives.counters.source import Source
from writeamp.drives.counters.sources.smart_log_json import data_units
from writeamp.text import hashed_serial
from writeamp.vssd.log_pages import smart

_NAME = "nvme smart-log"
_LABEL = "SMART log, data units written"


def _matches(document: Document) -> bool:
    found = entries(document)
    return smart.WRITTEN in found and "media_units_written" not in found


def _read(document: Document) -> Iterator[Facts]:
    found = entries(document)
    said = found[smart.WRITTEN]
    counters, notes = data_units(said[0].value, _NAME, _LABEL)
    if len({count_of(one.value) for one in said}) > 1:
        twice = f"{_LABEL} stand there {len(said)} times: give the log of one drive at one moment"
        counters, notes = (), (twice,)
    used, why = percentage_used(
        _number(found, "percentage_used", "percent_used"),
        (found[key][0].value for key in SIGNS_OF_LIFE if key in found),
    )
    yield Facts(
        source=_NAME,
        model=_text(found, "model_number", "model_name", "mn"),
        firmware=_text(found, "firmware_version", "firmware_revision", "fr"),
        serial=hashed_serial(_text(found, "serial_number", "sn")),
        percentage_used=used,
        used_label="SMART log, percentage used",
        power_on_hours=_number(found, "power_on_hours"),
        counters=tuple(replace(one, source=_NAME) for one in counters),
        notes=(*notes, *why),
    )


def _text(found: dict[str, tuple[Entry, ...]], *keys: str) -> str | None:
    return next((text_of(found[key][0].value) for key in keys if key in found), None)


def _number(found: dict[str, tuple[Entry, ...]], *keys: str) -> float | None:
    count = next((count_of(found[key][0].value) for key in keys if key in found), None)
    return None if count is None else number(count.low)


SOURCE = Source(_NAME, _matches, _read)
