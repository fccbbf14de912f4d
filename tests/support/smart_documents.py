"""Documents of smartctl that a test makes: JSON of a drive, and the text that says the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from writeamp.drives.counters.answer import life_answer
from writeamp.drives.counters.document import Document
from writeamp.drives.counters.reading import snapshots_in
from writeamp.drives.counters.result import DriveCounters
from writeamp.drives.counters.snapshot import Snapshot

CAPACITY = 480_103_981_056
# Name that smartctl gives to attributes of drives that it does not know.
UNNAMED = "Unknown_Attribute"
SECTORS = "Logical Sectors Written"
USED = "Percentage Used Endurance Indicator"


def ata(
    model: str | None,
    attributes: Mapping[int, int | tuple[int, int] | tuple[int, int, str]],
    *,
    family: str | None = None,
    firmware: str = "F1",
    capacity: int | None = CAPACITY,
    sectors: int | None = None,
    used: int | None = None,
    hours: int = 20_000,
) -> dict[str, Any]:
    """Return smartctl's JSON of an ATA drive.

    Args:
        model: of the drive.
        attributes: raw values by identity, or raw and normalized ones, or these and the name.
        family: as the host's smartctl names it.
        firmware, capacity, hours: of the drive.
        sectors, used: of device statistics: logical sectors written, and per cent used.
    """
    table = []
    for number, said in sorted({**attributes, 9: hours}.items()):
        raw, normalized, name = (*((said,) if isinstance(said, int) else said), 100, UNNAMED)[:3]
        if isinstance(said, tuple) and len(said) == 2:
            name = UNNAMED
        table.append({"id": number, "name": name, "value": normalized, "raw": {"value": raw}})
    statistics = [
        {"name": name, "value": value, "flags": {"valid": True}}
        for name, value in ((SECTORS, sectors), (USED, used))
        if value is not None
    ]
    return {
        "device": {"protocol": "ATA"},
        "model_name": model,
        "model_family": family,
        "firmware_version": firmware,
        "serial_number": "S1",
        "logical_block_size": 512,
        "user_capacity": {"bytes": capacity},
        "power_on_time": {"hours": hours},
        "local_time": {"time_t": 1_750_000_000},
        "rotation_rate": 0,
        "ata_smart_attributes": {"table": table},
        "ata_device_statistics": {"pages": [{"table": statistics}]},
    }


def intel(host: int, flash: int, day: float = 0, **more: Any) -> dict[str, Any]:
    """Return smartctl's JSON of a drive that counts in 32 MiB, so many days after the first.

    Args:
        host, flash: counts of the attributes 225 and 243.
        day: on which it was read.
        more: keys of the document.
    """
    found = ata(
        "INTEL SSDSC2KB960G8", {225: host, 233: (0, 95), 243: flash}, capacity=960_197_124_096
    )
    return {**found, "local_time": {"time_t": round(1.7e9 + day * 86_400)}, **more}


def snapshot_in(document: Mapping[str, Any] | str | bytes) -> Snapshot:
    """Return the one snapshot of a document."""
    content = json.dumps(document) if isinstance(document, Mapping) else document
    data = content.encode() if isinstance(content, str) else content
    (found,) = snapshots_in(Document("a file", data))
    return found


def answer_to(document: Mapping[str, Any] | str | bytes) -> DriveCounters:
    """Return the answer to the one snapshot of a document."""
    return life_answer(snapshot_in(document))


def verdict(found: DriveCounters, name: str) -> str | None:
    """Return what came of a check by its name; None if it was not made."""
    return next((one.verdict for one in found.checks if one.name == name), None)


def text_of_ata(log: Mapping[str, Any], *, is_brief: bool = True, separator: str = ",") -> str:
    """Return the text that smartctl prints of an ATA drive where it prints this JSON.

    Args:
        log: its JSON.
        is_brief: print the table as -x does; as -a does otherwise.
        separator: of thousands.
    """
    known = "In" if log.get("model_family") else "Not in"
    lines = ["smartctl 7.4 2023-08-01 r5530 [x86_64-linux-6.1.0] (local build)", ""]
    lines += ["=== START OF INFORMATION SECTION ==="]
    lines += _field("Model Family", log.get("model_family"))
    lines += _field("Device Model", log.get("model_name"))
    lines += _field("Serial Number", log.get("serial_number"))
    lines += _field("Firmware Version", log.get("firmware_version"))
    capacity = (log.get("user_capacity") or {}).get("bytes")
    if capacity:
        lines += _field("User Capacity", f"{grouped(capacity, separator)} bytes [1.00 TB]")
    size = log.get("logical_block_size") or 512
    lines += _field("Sector Sizes", f"{size} bytes logical, 4096 bytes physical")
    rotation = log.get("rotation_rate")
    lines += _field("Rotation Rate", f"{rotation} rpm" if rotation else "Solid State Device")
    lines += _field("Device is", f"{known} smartctl database [for details use: -P show]")
    time = (log.get("local_time") or {}).get("time_t")
    if time:
        lines += _field("Local Time is", f"{datetime.fromtimestamp(time, UTC):%a %b %e %T %Y} UTC")
    lines += ["", "=== START OF READ SMART DATA SECTION ==="]
    lines += ["SMART overall-health self-assessment test result: PASSED", ""]
    lines += _brief(log) if is_brief else _old(log)
    return "\n".join([*lines, "", *_statistics(log), ""])


def grouped(number: int, separator: str) -> str:
    """Return a number with separated thousands."""
    return f"{number:,}".replace(",", separator)


def _field(key: str, value: Any) -> list[str]:
    return [f"{key + ':':17} {value}"] if value else []


def _rows(log: Mapping[str, Any]) -> list[tuple[int, str, int, str]]:
    return [
        (
            one["id"],
            one["name"],
            one.get("value") or 0,
            one["raw"].get("string") or str(one["raw"]["value"]),
        )
        for one in log["ata_smart_attributes"]["table"]
    ]


def _brief(log: Mapping[str, Any]) -> list[str]:
    head = "ID# ATTRIBUTE_NAME          FLAGS    VALUE WORST THRESH FAIL RAW_VALUE"
    rows = [
        f"{number:3} {name:23} -O--CK   {value:03}   {value:03}   ---    -    {raw}"
        for number, name, value, raw in _rows(log)
    ]
    return [head, *rows, f"{'':28}||||||_ K auto-keep", f"{'':28}|______ P prefailure warning"]


def _old(log: Mapping[str, Any]) -> list[str]:
    head = (
        "ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  "
        "WHEN_FAILED RAW_VALUE"
    )
    rows = [
        f"{number:3} {name:23} 0x0032   {value:03}   {value:03}   000    Old_age   Always       "
        f"-       {raw}"
        for number, name, value, raw in _rows(log)
    ]
    return [head, *rows]


def _statistics(log: Mapping[str, Any]) -> list[str]:
    lines = ["Device Statistics (GP Log 0x04)", "Page  Offset Size        Value Flags Description"]
    for page in (log.get("ata_device_statistics") or {}).get("pages") or []:
        for one in page.get("table") or []:
            valid = (one.get("flags") or {}).get("valid") is not False
            shown = one.get("value", "-") if valid else "-"
            lines.append(f"0x01  0x018  6 {shown:>15}  ---  {one['name']}")
    return lines
