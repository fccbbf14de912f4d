"""Log 0xC0 of boot SSDs: writes to TLC and SLC in data units of 512,000 bytes."""

from __future__ import annotations

from collections.abc import Mapping

from writeamp.measure.counters.amounts import DATA_UNIT, Counter, Part
from writeamp.measure.counters.facts import Erases, Facts

_LABEL = "boot SSD log 0xC0, physical media units written, "
_PARTS: tuple[Part, ...] = ("tlc", "slc")


def boot_facts(values: Mapping[str, int], source: str, erases: tuple[Erases, ...] = ()) -> Facts:
    """Return the facts of a boot SSD's log by the keys of its fields."""
    counters = tuple(
        Counter(
            "flash",
            values[f"{part}_units_written"],
            DATA_UNIT,
            _LABEL + part.upper(),
            "boot SSD log 0xC0",
            part=part,
        )
        for part in _PARTS
        if values.get(f"{part}_units_written")
    )
    notes = () if counters else (f"{_LABEL}TLC is 0: not reported",)
    return Facts(source=source, counters=counters, notes=notes, erases=erases)
