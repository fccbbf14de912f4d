"""SMART log of NVMe drives in text, or as JSON in another spelling."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from writeamp.log_pages import smart
from writeamp.measure.counters.document import Document, number, text_of
from writeamp.measure.counters.facts import Facts, hashed_serial
from writeamp.measure.counters.printed import Entry, count_of, entries, size_beside
from writeamp.measure.counters.source import Source
from writeamp.measure.counters.sources.smart_log_json import data_units

_NAME = "nvme smart-log"
_LABEL = "SMART log, data units written"
# What is printed in brackets has three or four places.
_AGREEING = Fraction(1, 50)
_FEW_UNITS = 1000


def _matches(document: Document) -> bool:
    found = entries(document)
    return smart.WRITTEN in found and "media_units_written" not in found


def _read(document: Document) -> Iterator[Facts]:
    found = entries(document)
    said = found[smart.WRITTEN]
    counters, notes = data_units(said[0].value, _NAME, _LABEL)
    wrong = _wrong(said)
    if wrong:
        counters, notes = (), (wrong,)
    yield Facts(
        source=_NAME,
        model=_text(found, "model_number", "model_name", "mn"),
        firmware=_text(found, "firmware_version", "firmware_revision", "fr"),
        serial=hashed_serial(_text(found, "serial_number", "sn")),
        percentage_used=_number(found, "percentage_used", "percent_used"),
        used_label="SMART log, percentage used",
        power_on_hours=_number(found, "power_on_hours"),
        counters=tuple(replace(one, source=_NAME) for one in counters),
        notes=notes,
    )


def _wrong(said: tuple[Entry, ...]) -> str:
    """Return why a count is not believed; "" if it is."""
    counts = {count_of(one.value) for one in said}
    if len(counts) > 1:
        return f"{_LABEL} stand there {len(said)} times: give the log of one drive at one moment"
    size, count = size_beside(said[0].value), next(iter(counts))
    if size is None or count is None or count.low < _FEW_UNITS:
        return ""
    size_bytes = count.low * smart.DATA_UNIT_BYTES
    if abs(size - size_bytes) <= size * _AGREEING:
        return ""
    return (
        f"{_LABEL} are {str(said[0].value)[:60]!r}, and {count.low:,} units of 512,000 bytes are "
        f"{size_bytes / 1e12:.4g} TB: the number or its unit is not what it seems"
    )


def _text(found: dict[str, tuple[Entry, ...]], *keys: str) -> str | None:
    return next((text_of(found[key][0].value) for key in keys if key in found), None)


def _number(found: dict[str, tuple[Entry, ...]], *keys: str) -> float | None:
    count = next((count_of(found[key][0].value) for key in keys if key in found), None)
    return None if count is None else number(count.low)


SOURCE = Source(_NAME, _matches, _read)
