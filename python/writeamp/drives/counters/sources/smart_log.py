"""SMART log of NVMe drives, as `nvme smart-log` prints it in JSON or text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from writeamp.drives.counters.amounts import DATA_UNIT, Counter
from writeamp.drives.counters.document import Document, number, text_of
from writeamp.drives.counters.facts import Facts
from writeamp.drives.counters.printed import Count, Entry, count_of, entries, size_beside
from writeamp.drives.counters.printed_log import PrintedLog
from writeamp.drives.counters.source import Source
from writeamp.text import hashed_serial
from writeamp.vssd.log_pages import smart

_NAME = "nvme smart-log -o json"
_LABEL = "SMART log, data units written"
# Keys of nvme-cli and smartctl. A drive in use has some that are not 0, and so has a new one.
SIGNS_OF_LIFE = (
    "avail_spare", "available_spare", "data_units_read", "data_units_written",
    "host_read_commands", "host_reads", "host_write_commands", "host_writes",
    "controller_busy_time", "power_cycles", "power_on_hours", "unsafe_shutdowns",
)  # fmt: skip
# Sizes behind a count have three places.
_BESIDE_PART = Fraction(1, 100)


def data_units(value: Any, source: str, label: str) -> tuple[tuple[Counter, ...], tuple[str, ...]]:
    """Return the host's counter of data units, or the note that says why there is none."""
    count = count_of(value)
    beside = _contradiction(count, value)
    if beside:
        return (), (f"{label} is {str(value)[:60]!r}, which is no count: {beside}",)
    if count is None or count.high == 0:
        what = "0: not reported" if count is not None else f"{str(value)[:60]!r}, which is no count"
        what = "missing" if value is None else what
        return (), (f"{label} is {what}",)
    high = count.high if count.high > count.low else None
    return (
        (Counter("host", count.low, DATA_UNIT, label, source, rounding="up", count_high=high),),
        (),
    )


def percentage_used(
    value: float | None, others: Iterable[Any]
) -> tuple[float | None, tuple[str, ...]]:
    """Return the percentage used, or the note that says why a 0 is none.

    Args:
        value: as it is printed.
        others: values of the same log under `SIGNS_OF_LIFE`.
    """
    counts = [count_of(one) for one in others]
    if value == 0 and not any(one is not None and one.high for one in counts):
        return None, ("percentage used is 0 as all other counts of the log are: not reported",)
    return value, ()


def _contradiction(count: Count | None, value: Any) -> str:
    """Return what the bytes that are printed behind a count say against it; "" if nothing."""
    size = size_beside(value)
    if size is None or count is None:
        return ""
    size_bytes = count.low * smart.DATA_UNIT_BYTES
    if abs(size - size_bytes) <= max(size * _BESIDE_PART, Fraction(smart.DATA_UNIT_BYTES)):
        return ""
    return (
        f"{count.low:,} units of 512,000 bytes are {size_bytes / 1e12:.4g} TB, and the number or "
        "its unit is not what it seems"
    )


def _matches(document: Document) -> bool:
    found = document.json
    return isinstance(found, dict) and smart.WRITTEN in found and "critical_warning" in found


def _read(document: Document) -> Iterator[Facts]:
    log = document.json
    counters, notes = data_units(log[smart.WRITTEN], _NAME, _LABEL)
    used, why = percentage_used(
        number(log.get(smart.PERCENT_USED, log.get("percentage_used"))),
        (log.get(key) for key in SIGNS_OF_LIFE),
    )
    yield Facts(
        source=_NAME,
        percentage_used=used,
        used_label="SMART log, percentage used",
        power_on_hours=number(log.get(smart.POWER_ON_HOURS)),
        counters=counters,
        notes=(*notes, *why),
    )


def read_printed(log: PrintedLog, document: Document) -> Iterator[Facts]:
    """Yield the facts of a printed log, or of JSON in another spelling."""
    found = entries(document)
    said = found[smart.WRITTEN]
    counters, notes = data_units(said[0].value, log.name, _LABEL)
    if len({count_of(one.value) for one in said}) > 1:
        twice = f"{_LABEL} stand there {len(said)} times: give the log of one drive at one moment"
        counters, notes = (), (twice,)
    used, why = percentage_used(
        _number(found, "percentage_used", "percent_used"),
        (found[key][0].value for key in SIGNS_OF_LIFE if key in found),
    )
    yield Facts(
        source=log.name,
        model=_text(found, "model_number", "model_name", "mn"),
        firmware=_text(found, "firmware_version", "firmware_revision", "fr"),
        serial=hashed_serial(_text(found, "serial_number", "sn")),
        percentage_used=used,
        used_label="SMART log, percentage used",
        power_on_hours=_number(found, "power_on_hours"),
        counters=counters,
        notes=(*notes, *why),
    )


def _text(found: dict[str, tuple[Entry, ...]], *keys: str) -> str | None:
    return next((text_of(found[key][0].value) for key in keys if key in found), None)


def _number(found: dict[str, tuple[Entry, ...]], *keys: str) -> float | None:
    count = next((count_of(found[key][0].value) for key in keys if key in found), None)
    return None if count is None else number(count.low)


SOURCE = Source(_NAME, _matches, _read, specificity=60)
