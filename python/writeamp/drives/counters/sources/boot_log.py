"""Log 0xC0 of boot SSDs: writes to TLC and SLC in data units of 512,000 bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from writeamp.drives.counters.amounts import DATA_UNIT, Counter, Part
from writeamp.drives.counters.facts import Erases, Facts

_LABEL = "boot SSD log 0xC0, physical media units written, "
_ERASES_LABEL = "boot SSD log 0xC0, user data erase counts, "
_WORN = ("least", "most", "mean")
_PARTS: tuple[Part, ...] = ("tlc", "slc")


def boot_facts(values: Mapping[str, int], source: str) -> Facts:
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
    return Facts(source=source, counters=counters, notes=notes, erases=tuple(_erases(values)))


def _erases(values: Mapping[str, int]) -> Iterator[Erases]:
    # Nearly all blocks hold three bits a cell, so that theirs stand for the drive's.
    parts: tuple[tuple[str, Part], ...] = (("tlc", "tlc"), ("slc", "slc"), ("tlc", "all"))
    for kind, part in parts:
        least, most, mean = (values.get(f"{kind}_{one}_erases", 0) for one in _WORN)
        if mean and least <= mean <= most:
            yield Erases(mean, mean + 1, most, _ERASES_LABEL + kind.upper(), part)
        elif most and least <= most:
            yield Erases(least, most, most, _ERASES_LABEL + kind.upper(), part)
