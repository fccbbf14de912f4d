"""CrystalDiskInfo's text (Edit, Copy) of SATA and NVMe drives, in any of its languages.

Only attribute names and values in words are translated. Raw values are hexadecimal, most
significant byte first, even if the window shows them in decimal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from writeamp.drives.counters.document import Document
from writeamp.drives.counters.facts import CounterFacts, CounterSource
from writeamp.drives.counters.sources.smartctl_json import facts_of

_NAME = "CrystalDiskInfo's text"
_HEADING = re.compile(
    r"^[ \t]*ID (?P<normalized>(?:Cur |Wor |Thr |--- )*)RawValues\(\d\)", re.MULTILINE
)
_DRIVE = re.compile(r"^[ \t]*Model : ", re.MULTILINE)
_FIELD = re.compile(r"^[ \t]*(?P<key>[A-Z#][A-Za-z #]{2,20}) : (?P<value>\S.*)$", re.MULTILINE)
# Row of an attribute. Short numbers are padded with underscores. A raw value has six bytes; tables
# with seven or eight bytes pack other values next to it.
_ROW = re.compile(
    r"^[ \t]*(?P<id>[0-9A-F]{2}) +(?:(?P<current>[_\d]{3}|---) +(?:(?:[_\d]{3}|---) +)*)?"
    r"(?P<raw>[0-9A-F]{12})(?: (?P<name>.*))?$",
    re.MULTILINE,
)
_GIGABYTE = 10**9
_SECTOR_BYTES = (512, 4096)
# Tolerated difference between the printed size and the size by sectors, as a ratio. The size is
# printed with one decimal, and may be the size that the operating system reports.
_SIZE_PART = 0.01
_HOURS_ID, _HOURS_END = 9, 1 << 24
# Attributes that CrystalDiskInfo derives from an NVMe drive's SMART log.
_NVME = {
    0x03: "available_spare",
    0x05: "percentage_used",
    0x06: "data_units_read",
    0x07: "data_units_written",
    0x08: "host_reads",
    0x09: "host_writes",
    0x0A: "controller_busy_time",
    0x0B: "power_cycles",
    0x0C: "power_on_hours",
    0x0D: "unsafe_shutdowns",
}


def _text(document: Document) -> str:
    return document.text.replace("\r\n", "\n")


def _matches(document: Document) -> bool:
    return bool(_HEADING.search(_text(document)))


def _read(document: Document) -> Iterator[CounterFacts]:
    text = _text(document)
    starts = [match.start() for match in _DRIVE.finditer(text)] or [0]
    for first, last in pairwise([*starts, len(text)]):
        yield facts_of(_log(text[first:last]), _NAME, document)


def _log(text: str) -> dict[str, Any]:
    """Return a drive's text in the form of smartctl's JSON."""
    fields: dict[str, str] = {}
    for match in _FIELD.finditer(text):
        fields.setdefault(match["key"].strip(), match["value"].strip())
    rotation = re.match(r"(\d+) RPM", fields.get("Rotation Rate", ""), re.IGNORECASE)
    log: dict[str, Any] = {
        "model_name": fields.get("Model"),
        "firmware_version": fields.get("Firmware"),
        "serial_number": fields.get("Serial Number"),
        "user_capacity": {"bytes": _capacity_bytes(fields)},
        "rotation_rate": int(rotation[1]) if rotation else None,
    }
    heading = _HEADING.search(text)
    rows = list(_ROW.finditer(text, heading.end())) if heading else []
    is_nvme = heading is not None and not heading["normalized"]
    if is_nvme or fields.get("Interface", "").startswith("NVM"):
        values = {int(row["id"], 16): int(row["raw"], 16) for row in rows}
        health = {key: values[number] for number, key in _NVME.items() if number in values}
        return log | {"nvme_smart_health_information_log": health}
    return log | _attributes(rows, fields) if rows else log


def _attributes(rows: list[re.Match[str]], fields: dict[str, str]) -> dict[str, Any]:
    table: list[dict[str, Any]] = [
        {
            "id": int(row["id"], 16),
            "name": row["name"],
            "value": _number(row["current"]),
            "raw": {"value": int(row["raw"], 16)},
        }
        for row in rows
    ]
    raw_hours = next((row["raw"]["value"] for row in table if row["id"] == _HOURS_ID), None)
    printed_hours = re.match(r"(\d+)", fields.get("Power On Hours", ""))
    hours = int(printed_hours[1][:12]) if printed_hours else raw_hours and raw_hours % _HOURS_END
    return {"ata_smart_attributes": {"table": table}, "power_on_time": {"hours": hours}}


def _number(text: str | None) -> int | None:
    digits = (text or "").replace("_", "")
    return int(digits) if digits.isdecimal() else None


def _capacity_bytes(fields: dict[str, str]) -> int | None:
    """Return the capacity by sectors if it fits the printed gigabytes, otherwise as printed."""
    size = re.match(r"(\d{1,9})(?:[.,](\d))? GB", fields.get("Disk Size", ""))
    sectors = re.match(r"\d{1,18}$", fields.get("# of Sectors", ""))
    if size is None:
        return None
    size_bytes = round(float(f"{size[1]}.{size[2] or 0}") * _GIGABYTE)
    by_sectors = (int(sectors[0]) * size for size in _SECTOR_BYTES) if sectors else ()
    return next(
        (
            by_sector
            for by_sector in by_sectors
            if abs(by_sector - size_bytes) <= _SIZE_PART * size_bytes
        ),
        size_bytes,
    )


SOURCE = CounterSource(_NAME, _matches, _read, specificity=74)
