"""Serial numbers in a report: hashed wherever they stand, so that a page may be shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from writeamp.reports.report import Report
from writeamp.text import hashed_serial

_KEYS = ("serial", "serial_number")
# A shorter one would be found in words that are none.
_FEWEST_CHARACTERS = 4


def without_serials(report: Report) -> Report:
    """Return the report with a hash for each serial number, also in names of files and texts."""
    hashes = {
        serial: hashed
        for serial in _serials(report.document)
        if (hashed := hashed_serial(serial)) and hashed != serial
    }
    if not hashes:
        return report
    return replace(
        report,
        command=tuple(_hashed(one, hashes) for one in report.command),
        document=_hashed(report.document, hashes),
    )


def _serials(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, one in value.items():
            if key in _KEYS and isinstance(one, str) and len(one.strip()) >= _FEWEST_CHARACTERS:
                yield one.strip()
            yield from _serials(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _serials(one)


def _hashed(value: Any, hashes: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for serial, hashed in hashes.items():
            value = value.replace(serial, hashed)
        return value
    if isinstance(value, Mapping):
        return {_hashed(key, hashes): _hashed(one, hashes) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_hashed(one, hashes) for one in value]
    return value
