"""smartctl's text (`smartctl -x`, `-a` or `-A`): ATA, NVMe and SCSI drives."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from writeamp.drives.counters.document import Document, whole
from writeamp.drives.counters.facts import CounterFacts, CounterSource
from writeamp.drives.counters.sources.smartctl_json import facts_of
from writeamp.errors import WriteampError

_NAME = "smartctl -x"
# Attribute row, in the layouts of `smartctl -A` and `smartctl -x`; with `-f hex`, numbers begin
# with 0x.
ROW = re.compile(
    r"^[ \t]*(?P<id>0x[0-9a-f]{2}|\d{1,3})[ \t]+(?P<name>\S+)[ \t]+"
    r"(?:0x[0-9a-f]{4}|[POSRCK+-]{6,8})[ \t]+(?P<value>0x[0-9a-f]{2}|\d{1,3}|---)[ \t]+"
    r"(?:0x[0-9a-f]{2}|\d{1,3}|---)[ \t]+(?:0x[0-9a-f]{2}|\d{1,3}|---)[ \t]+"
    r"(?:(?:Pre-fail|Old_age)[ \t]+(?:Always|Offline)[ \t]+)?"
    r"(?:-|NOW|Past|FAILING_NOW|In_the_past)[ \t]+(?P<raw>\S.*)$",
    re.MULTILINE,
)
# Row of device statistics: page, offset, size, value, flags (none in old versions).
_STATISTIC = re.compile(
    r"^[ \t]*(?:0x[0-9a-f]{2}|\d{1,2})[ \t]+0x[0-9a-f]{3}[ \t]+\d[ \t]+(?P<value>\d+)~?[ \t]+"
    r"(?:[A-Z-]{3,5}[ \t]+)?(?P<name>Logical Sectors Written|Percentage Used Endurance Indicator|"
    r"Power-on Hours)"
    r"[ \t]*$",
    re.MULTILINE,
)
_FIELD = re.compile(
    r"^[ \t]*(?P<key>[A-Z][A-Za-z0-9 /_,.#-]{2,60}):[ \t]+(?P<value>\S.*)$", re.MULTILINE
)
_START = re.compile(r"^[ \t]*(?P<head>smartctl \d|=== START OF INFORMATION SECTION)", re.MULTILINE)
_HEALTH = re.compile(r"^[ \t]*(?:Data Units Written:[ \t]|SMART/Health Information)", re.MULTILINE)
_HEALTH_FIELD = re.compile(r"^[ \t]*(?:Percentage Used|Model Number):", re.MULTILINE)
_INFORMATION = re.compile(r"^[ \t]*=== START OF INFORMATION SECTION ===", re.MULTILINE)
_SCSI_WRITES = re.compile(
    r"^[ \t]*write:(?:[ \t]+\d+){5}[ \t]+(?P<gigabytes>\d+[.,]\d+)[ \t]+\d+", re.MULTILINE
)
_SCSI_HOURS = re.compile(
    r"^[ \t]*(?:Accumulated power on time, hours:minutes|number of hours powered up =)[ \t]+(\d+)",
    re.MULTILINE,
)
# Thousands separators depend on the user's locale; U+FFFD and "?" are separators lost by a wrong
# encoding.
_GROUPED = re.compile(r"\d{1,3}(?P<by>[,.'’_ ?\u00a0\u2009\u202f\ufffd])(?:\d{2,3}(?P=by))*\d{3}")
_HOURS_ID = 9
# Above the lower 24 bits of the hours, some drives pack milliseconds, so only these bits are used.
_HOURS_END = 1 << 24


def _text(document: Document) -> str:
    return document.text.replace("\r\n", "\n")


def _matches(document: Document) -> bool:
    text = _text(document)
    return bool(
        ROW.search(text)
        or _SCSI_WRITES.search(text)
        or (_HEALTH.search(text) and _HEALTH_FIELD.search(text))
        or _INFORMATION.search(text)
    )


def _read(document: Document) -> Iterator[CounterFacts]:
    for section in _parts(_text(document)):
        yield facts_of(_log(section, document.name), _NAME, document)


def _parts(text: str) -> list[str]:
    """Return the text of each drive."""
    starts = [match.start("head") for match in _START.finditer(text)]
    heads = [
        start
        for start, previous in zip(starts, [None, *starts], strict=False)
        # smartctl's first line and the information section after it belong to the same drive.
        if previous is None
        or text.startswith("smartctl", start)
        or not text.startswith("smartctl", previous)
    ]
    return [text[first:last] for first, last in pairwise([0, *heads[1:], len(text)])]


def _log(text: str, name: str) -> dict[str, Any]:
    """Return a drive's text in the form of smartctl's JSON."""
    fields = _fields(text, name)
    log: dict[str, Any] = {
        "model_family": fields.get("Model Family"),
        "model_name": fields.get("Device Model") or fields.get("Model Number"),
        "firmware_version": fields.get("Firmware Version"),
        "serial_number": fields.get("Serial Number") or fields.get("Serial number"),
        "user_capacity": {"bytes": _before(fields.get("User Capacity"), " bytes")},
        "local_time": {"asctime": fields.get("Local Time is")},
        "rotation_rate": _whole(re.match(r"(\d+) rpm", fields.get("Rotation Rate", ""))),
        "logical_block_size": _whole(
            re.match(r"(\d+) bytes", fields.get("Sector Size") or fields.get("Sector Sizes") or "")
        ),
    }
    writes = _SCSI_WRITES.search(text)
    if _HEALTH.search(text):
        return log | _nvme(fields)
    if writes or "Vendor" in fields or fields.get("Transport protocol"):
        return log | _scsi(text, fields, writes)
    rows = list(ROW.finditer(text))
    return log | _ata(text, rows) if rows or _STATISTIC.search(text) else log


def _fields(text: str, name: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    for match in _FIELD.finditer(text):
        key, value = match["key"].strip(), match["value"].strip()
        is_drive = key in {"Device Model", "Model Number", "Data Units Written", "User Capacity"}
        if fields.setdefault(key, value) != value and is_drive:
            raise WriteampError(
                f"{name}: {key!r} appears twice, as {fields[key]!r} and {value!r}. A snapshot must "
                "be of one drive"
            )
    return fields


def _ata(text: str, rows: list[re.Match[str]]) -> dict[str, Any]:
    table = [
        {
            "id": whole(row["id"]),
            "name": row["name"],
            "value": None if row["value"] == "---" else whole(row["value"]),
            "raw": {"value": raw_value(row["raw"])},
        }
        for row in rows
    ]
    statistics = [
        {"name": match["name"], "value": whole(match["value"])}
        for match in _STATISTIC.finditer(text)
    ]
    hour_values = [raw_value(row["raw"]) for row in rows if whole(row["id"]) == _HOURS_ID]
    hour_values += [
        whole(statistic["value"])
        for statistic in statistics
        if statistic["name"] == "Power-on Hours"
    ]
    hours = next(iter(hour_values), None)
    return {
        "ata_smart_attributes": {"table": table},
        "ata_device_statistics": {"pages": [{"table": statistics}]},
        "power_on_time": {"hours": hours % _HOURS_END if hours is not None else None},
    }


def _nvme(fields: dict[str, str]) -> dict[str, Any]:
    return {
        "nvme_total_capacity": _grouped(fields.get("Total NVM Capacity")),
        "user_capacity": {"bytes": _grouped(fields.get("Namespace 1 Size/Capacity"))},
        "nvme_smart_health_information_log": {
            "data_units_written": fields.get("Data Units Written"),
            "percentage_used": _whole(re.match(r"(\d+)%", fields.get("Percentage Used", ""))),
            "power_on_hours": _grouped(fields.get("Power On Hours")),
            "power_cycles": fields.get("Power Cycles"),
            "available_spare": fields.get("Available Spare"),
        },
    }


def _scsi(text: str, fields: dict[str, str], writes: re.Match[str] | None) -> dict[str, Any]:
    vendor, product = fields.get("Vendor"), fields.get("Product")
    used = re.match(r"(\d+)%", fields.get("Percentage used endurance indicator", ""))
    gigabytes = writes["gigabytes"].replace(",", ".") if writes else None
    return {
        "device": {"protocol": "SCSI"},
        "model_name": " ".join(text for text in (vendor, product) if text) or None,
        "firmware_version": fields.get("Revision"),
        "scsi_error_counter_log": {"write": {"gigabytes_processed": gigabytes}},
        "scsi_percentage_used_endurance_indicator": _whole(used),
        "power_on_time": {"hours": _whole(_SCSI_HOURS.search(text))},
    }


# Patterns of raw values that smartctl prints in parts, and functions that rebuild the raw value.
_PACKED: tuple[tuple[re.Pattern[str], Callable[[list[int]], int]], ...] = (
    # Two values of 16 bits: the maximum, and the mean above it.
    (re.compile(r"(\d+) \(Average (\d+)\)$"), lambda words: words[1] << 16 | words[0]),
    # The lower 24 bits, and three bytes above them.
    (
        re.compile(r"(\d+) \((\d+) (\d+) (\d+)\)$"),
        lambda words: words[1] << 40 | words[2] << 32 | words[3] << 24 | words[0],
    ),
    # Three words of 16 bits.
    (
        re.compile(r"(\d+) \((\d+) (\d+)\)$"),
        lambda words: words[1] << 32 | words[2] << 16 | words[0],
    ),
)


def raw_value(text: str) -> int | None:
    """Return a raw value as in smartctl's JSON; None if the text does not contain it.

    >>> [raw_value(one) for one in ("50 (Average 17)", "914442h+55m+18.550s", "36 (Min/Max 20/46)")]
    [1114162, 914442, 36]
    """
    text = text.strip()
    for pattern, packed in _PACKED:
        if match := pattern.match(text):
            words = [whole(group) for group in match.groups()]
            return None if None in words else packed([word for word in words if word is not None])
    if match := re.match(r"0x[0-9a-fA-F]+$", text):
        return whole(match[0])
    # Three words of 16 bits, or one number with spaces as thousands separators.
    if re.match(r"\d{1,3}(?: \d{3})+$", text):
        return None
    number = text.partition(" (")[0]
    # Digits after a single separator may be decimals, so at least two separators are required.
    if " " not in number and _GROUPED.fullmatch(number) and len(re.split(r"\D", number)) > 2:
        return _grouped(number)
    return _whole(re.match(r"(\d+)(?=$|[ h/])", text))


def _before(text: str | None, end: str) -> int | None:
    return _grouped(text.partition(end)[0]) if text and end in text else None


def _grouped(text: str | None) -> int | None:
    """Return a whole number, possibly with thousands separators; None for other text."""
    digits = (text or "").partition("[")[0].strip()
    if digits.isascii() and digits.isdigit():
        return whole(digits)
    if not _GROUPED.fullmatch(digits):
        return None
    return whole("".join(digit for digit in digits if digit.isdigit()))


def _whole(match: re.Match[str] | None) -> int | None:
    return whole(match[1]) if match else None


SOURCE = CounterSource(_NAME, _matches, _read, specificity=80)
