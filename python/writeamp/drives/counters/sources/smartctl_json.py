"""smartctl's JSON (`smartctl -j -x`): ATA, NVMe and SCSI drives."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from writeamp.drives.counters.amounts import UNITS, Counter
from writeamp.drives.counters.ata import ata_facts
from writeamp.drives.counters.ata_drive import AtaDrive, Attribute, attributes_of
from writeamp.drives.counters.clocks import local_time, taken_at
from writeamp.drives.counters.document import Document, number, objects, text_of, whole, within
from writeamp.drives.counters.facts import (
    DEVICE_LIST,
    ROTATES,
    CounterFacts,
    CounterSource,
)
from writeamp.drives.counters.sources.nvme_logs import SIGNS_OF_LIFE, data_units, percentage_used
from writeamp.text import hashed_serial

_NAME = "smartctl -j -x"
_ATA, _NVME = "ata_smart_attributes", "nvme_smart_health_information_log"
_SCSI = "scsi_error_counter_log"
_KEYS = {"smartctl", "json_format_version", "smart_support", _ATA, _NVME, _SCSI}
# Keys inside "device" that identify smartctl, as other documents also have a key "device".
_KEYS_OF_DEVICE = {"protocol", "info_name"}
_SECTORS = "Logical Sectors Written"
_USED = "Percentage Used Endurance Indicator"
_SCSI_LABEL = "error counter log, gigabytes processed by writes"


def _matches(document: Document) -> bool:
    log = document.json
    if not isinstance(log, dict):
        return False
    device = log.get("device")
    is_device = isinstance(device, dict) and bool(_KEYS_OF_DEVICE & device.keys())
    return is_device or bool(_KEYS & log.keys())


def facts_of(log: dict[str, Any], source: str, document: Document) -> CounterFacts:
    """Return the facts of a drive in the form of smartctl's JSON.

    Args:
        log: document of the drive.
        source: name of the source.
        document: file with this document.

    Raises:
        WriteampError: an attribute appears twice with different values.
    """
    if _NVME in log or within(log, "device", "protocol") == "NVMe":
        return _nvme(log, source)
    if _ATA in log or within(log, "device", "protocol") == "ATA":
        return ata_facts(_ata(log, source, document.name), document.stated)
    if _SCSI in log or within(log, "device", "protocol") == "SCSI":
        return scsi_facts(log, source)
    return _without_log(log, source)


def _without_log(log: dict[str, Any], source: str) -> CounterFacts:
    """Return the facts of a document of smartctl that has no log of the drive."""
    note = (
        "smartctl did not print a log of a drive. Run it with -x, as root"
        if source.startswith("smartctl")
        else f"{source} has no attribute table with readable raw values"
    )
    messages = objects(within(log, "smartctl", "messages"))
    texts = [text for message in messages if (text := text_of(message.get("string")))]
    if isinstance(log.get("devices"), list):
        note = DEVICE_LIST
    return CounterFacts(
        source=source,
        model=text_of(log.get("model_name")),
        firmware=text_of(log.get("firmware_version")),
        serial=hashed_serial(text_of(log.get("serial_number"))),
        capacity_bytes=whole(within(log, "user_capacity", "bytes")) or None,
        notes=(": ".join([note, *texts[:1]]),),
    )


def _nvme(log: dict[str, Any], source: str) -> CounterFacts:
    health = log.get(_NVME)
    counters, notes = data_units(
        within(health, "data_units_written"), source, "SMART log, data units written"
    )
    used, why = percentage_used(
        number(within(health, "percentage_used")), (within(health, key) for key in SIGNS_OF_LIFE)
    )
    return CounterFacts(
        source=source,
        model=text_of(log.get("model_name")),
        firmware=text_of(log.get("firmware_version")),
        serial=hashed_serial(text_of(log.get("serial_number"))),
        taken_at=taken_at(log),
        local_time=local_time(log),
        power_on_hours=number(within(health, "power_on_hours")),
        capacity_bytes=whole(log.get("nvme_total_capacity"))
        or whole(within(log, "user_capacity", "bytes"))
        or None,
        percentage_used=used,
        used_label="SMART log, percentage used",
        counters=counters,
        notes=(*notes, *why),
    )


def _ata(log: dict[str, Any], source: str, name: str) -> AtaDrive:
    statistics = {
        text_of(entry.get("name")): entry.get("value")
        for page in objects(within(log, "ata_device_statistics", "pages"))
        for entry in objects(page.get("table"))
        if within(entry, "flags", "valid") is not False
    }
    rotation = whole(log.get("rotation_rate"))
    return AtaDrive(
        source=source,
        model=text_of(log.get("model_name")),
        family=text_of(log.get("model_family")),
        firmware=text_of(log.get("firmware_version")),
        serial=text_of(log.get("serial_number")),
        attributes=attributes_of(_attributes(log), name),
        unread=tuple(_unread(log)),
        capacity_bytes=whole(within(log, "user_capacity", "bytes")) or None,
        sector_bytes=whole(log.get("logical_block_size")) or 512,
        logical_sectors_written=whole(statistics.get(_SECTORS)),
        statistics_used=number(statistics.get(_USED)),
        power_on_hours=number(within(log, "power_on_time", "hours")),
        taken_at=taken_at(log),
        local_time=local_time(log),
        is_rotating=bool(rotation),
    )


def _attributes(log: dict[str, Any]) -> Iterator[tuple[int, Attribute]]:
    for entry in objects(within(log, _ATA, "table")):
        identity, raw = whole(entry.get("id")), whole(within(entry, "raw", "value"))
        if identity is not None and raw is not None and identity < 256:
            name = text_of(entry.get("name")) or ""
            yield identity, Attribute(raw, whole(entry.get("value")), name)


def _unread(log: dict[str, Any]) -> Iterator[int]:
    """Yield the attributes with a raw value that is not a count."""
    for entry in objects(within(log, _ATA, "table")):
        identity = whole(entry.get("id"))
        if identity is not None and "raw" in entry and whole(within(entry, "raw", "value")) is None:
            yield identity


SOURCE = CounterSource(
    _NAME, _matches, lambda document: [facts_of(document.json, _NAME, document)], specificity=82
)


def _thousandths(value: Any) -> int | None:
    try:
        return whole(round(Decimal(value) * 1000)) if isinstance(value, str) else None
    except (ArithmeticError, ValueError):
        return None


def scsi_facts(log: dict[str, Any], source: str) -> CounterFacts:
    """Return the facts of smartctl's JSON of a SCSI drive, which has no flash write counter."""
    # The value is a text: gigabytes (10**9 bytes) with three decimals.
    thousandths = _thousandths(
        within(log, "scsi_error_counter_log", "write", "gigabytes_processed")
    )
    counters = (
        (Counter("host", thousandths, UNITS["0.001 GB"], _SCSI_LABEL, source),)
        if thousandths
        else ()
    )
    used = within(log, "scsi_percentage_used_endurance_indicator")
    if used is None:
        used = within(log, "endurance_used", "current_percent")
    rotation = whole(log.get("rotation_rate"))
    note = "SCSI drives have no log of flash writes"
    return CounterFacts(
        source=source,
        model=text_of(log.get("model_name"))
        or text_of(log.get("scsi_model_name"))
        or text_of(log.get("product")),
        firmware=text_of(log.get("firmware_version")) or text_of(log.get("revision")),
        serial=hashed_serial(text_of(log.get("serial_number"))),
        taken_at=taken_at(log),
        local_time=local_time(log),
        power_on_hours=number(within(log, "power_on_time", "hours")),
        capacity_bytes=whole(within(log, "user_capacity", "bytes")) or None,
        percentage_used=None if rotation else number(used),
        used_label="SCSI endurance page, percentage used",
        counters=counters,
        notes=(ROTATES if rotation else note,),
    )
