"""HPE's ssacli (hpssacli): remaining usage of drives behind a Smart Array controller."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from writeamp.drives.counters.document import Document, text_of
from writeamp.drives.counters.facts import ROTATES, CounterFacts, CounterSource
from writeamp.text import hashed_serial

_NAME = "ssacli"
_DRIVE = re.compile(r"^[ \t]*physicaldrive \S+[ \t]*$", re.MULTILINE)
_DETAIL = re.compile(r"^[ \t]*(?:Interface Type|Usage remaining|Drive Type):", re.MULTILINE)
_FIELD = re.compile(r"^[ \t]*(?P<key>[A-Z][A-Za-z ]{2,60}):[ \t]+(?P<value>\S.*)$", re.MULTILINE)
# Manufacturer, which the controller prints before the model.
_VENDOR = re.compile(r"^(?:ATA|HPE?|NVMe)\s+")
_SIZE = re.compile(r"(\d+(?:\.\d+)?) (GB|TB)")
_UNITS = {"GB": 10**9, "TB": 10**12}
_NOTE = (
    "ssacli does not print write counters. Use `smartctl -x -d cciss,N /dev/sgX`, which reads the "
    "drive behind the controller"
)


def _matches(document: Document) -> bool:
    return bool(_DRIVE.search(document.text) and _DETAIL.search(document.text))


def _read(document: Document) -> Iterator[CounterFacts]:
    text = document.text.replace("\r\n", "\n")
    starts = [match.end() for match in _DRIVE.finditer(text)]
    for first, last in pairwise([*starts, len(text)]):
        yield _facts(text[first:last])


def _facts(text: str) -> CounterFacts:
    fields: dict[str, str] = {}
    for match in _FIELD.finditer(text):
        fields.setdefault(match["key"], match["value"].strip())
    size = _SIZE.match(fields.get("Size", ""))
    rotates = fields.get("Rotational Speed", "").isdecimal()
    left = re.match(r"(\d{1,3}(?:\.\d+)?)%", fields.get("Usage remaining", ""))
    hours = re.match(r"\d{1,9}$", fields.get("Power On Hours", ""))
    used = 100 - float(left[1]) if left and not rotates else -1.0
    return CounterFacts(
        source=_NAME,
        model=text_of(_VENDOR.sub("", fields.get("Model", ""))),
        firmware=text_of(fields.get("Firmware Revision")),
        serial=hashed_serial(fields.get("Serial Number")),
        power_on_hours=float(hours[0]) if hours else None,
        capacity_bytes=round(float(size[1]) * _UNITS[size[2]]) if size else None,
        percentage_used=round(used, 2) if used >= 0 else None,
        used_label="100 - usage remaining",
        notes=(ROTATES if rotates else _NOTE,),
    )


SOURCE = CounterSource(_NAME, _matches, _read, specificity=70)
