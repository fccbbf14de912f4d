"""Backblaze's daily CSV: one row per drive and day, with the attributes."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache

from writeamp.drives.counters.ata import ata_facts
from writeamp.drives.counters.ata_drive import AtaDrive, Attribute
from writeamp.drives.counters.document import Document, text_of, whole
from writeamp.drives.counters.facts import CounterFacts, CounterSource
from writeamp.drives.counters.families import Stated
from writeamp.errors import WriteampError

_NAME = "Backblaze's daily CSV"
_KEYS = ("date", "serial_number", "model", "capacity_bytes")
_RAW = re.compile(r"smart_(\d{1,3})_raw")
_HEAD_BYTES = 1 << 16
_ATTRIBUTES = 256
_SHORT = 20
_SPIN_UP, _SPIN_RETRY, _HOURS = 3, 10, 9
# Attributes of hard disks: spin-up time, seek error rate, spin retries. An SSD may use some of
# these numbers for other values, but no SSD has all three.
_ROTATING = (_SPIN_UP, 7, _SPIN_RETRY)


def _head(document: Document) -> list[str]:
    # Read the first line only: files have hundreds of megabytes.
    first = document.content[:_HEAD_BYTES].decode("utf-8-sig", errors="replace").split("\n", 1)[0]
    return [name.strip().strip('"') for name in first.split(",")]


def _matches(document: Document) -> bool:
    head = _head(document)
    return set(_KEYS) <= set(head) and any(_RAW.fullmatch(name) for name in head)


def _read(document: Document) -> Iterator[CounterFacts]:
    head = _head(document)
    places = {name: place for place, name in enumerate(head)}
    columns = [
        (int(match[1]), place, places.get(f"smart_{match[1]}_normalized"))
        for name, place in places.items()
        if (match := _RAW.fullmatch(name)) and int(match[1]) < _ATTRIBUTES
    ]
    rows = csv.reader(io.StringIO(document.text))
    try:
        next(rows, None)
        for row in rows:
            if len(row) == len(head):
                yield _facts(row, places, columns, document.stated)
    except csv.Error as error:
        raise WriteampError(
            f"{document.name}: line {rows.line_num} is not valid CSV: {error}"
        ) from None


def _facts(
    row: list[str],
    places: dict[str, int],
    columns: list[tuple[int, int, int | None]],
    stated: Stated,
) -> CounterFacts:
    date, serial, model, capacity = (row[places[key]] for key in _KEYS)
    attributes = {
        identity: Attribute(raw, None if normal is None else _integer(row[normal]), "")
        for identity, place, normal in columns
        if row[place] and (raw := _integer(row[place])) is not None
    }
    hours = attributes.get(_HOURS)
    return ata_facts(
        AtaDrive(
            source=_NAME,
            model=text_of(model),
            serial=text_of(serial),
            attributes=attributes,
            capacity_bytes=whole(capacity) or None,
            taken_at=_midnight(date),
            power_on_hours=None if hours is None else float(hours.raw),
            is_rotating=all(word in attributes for word in _ROTATING),
        ),
        stated,
    )


def _integer(text: str) -> int | None:
    # Nearly all of the hundreds of millions of cells are short decimal numbers, so a fast
    # conversion is tried first.
    if text.isdecimal() and len(text) < _SHORT:
        return int(text)
    return whole(text)


@lru_cache(maxsize=4096)
def _midnight(date: str) -> float | None:
    try:
        return datetime.strptime(date.strip(), "%Y-%m-%d").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


SOURCE = CounterSource(_NAME, _matches, _read, specificity=90)
