"""Log 0xC0 as raw bytes, by the GUID at its end: OCP's layout, and that of boot SSDs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from writeamp.drives.counters.amounts import DATA_UNIT, Counter, Part
from writeamp.drives.counters.document import Document
from writeamp.drives.counters.facts import Erases, Facts
from writeamp.drives.counters.source import Source
from writeamp.drives.counters.sources.ocp import ocp_facts
from writeamp.vssd.log_pages import boot, ocp

_NAME = "log 0xC0, 512 bytes"
_BOOT_LABEL = "boot SSD log 0xC0, physical media units written, "
_ERASES_LABEL = "boot SSD log 0xC0, user data erase counts, "
_WORN = ("least", "most", "mean")
_PARTS: tuple[Part, ...] = ("tlc", "slc")


def _guid(document: Document) -> int:
    return int.from_bytes(document.content[ocp.PAGE_BYTES - 16 : ocp.PAGE_BYTES], "little")


def _matches(document: Document) -> bool:
    return len(document.content) == ocp.PAGE_BYTES and _guid(document) in {ocp.GUID, boot.GUID}


def _read(document: Document) -> Iterator[Facts]:
    if _guid(document) == boot.GUID:
        yield _boot_facts(boot.decoded_page(document.content), _NAME)
    else:
        yield ocp_facts(ocp.decoded_page(document.content), _NAME)


def _boot_facts(values: Mapping[str, int], source: str) -> Facts:
    counters = tuple(
        Counter(
            "flash",
            values[f"{part}_units_written"],
            DATA_UNIT,
            _BOOT_LABEL + part.upper(),
            "boot SSD log 0xC0",
            part=part,
        )
        for part in _PARTS
        if values.get(f"{part}_units_written")
    )
    notes = () if counters else (f"{_BOOT_LABEL}TLC is 0: not reported",)
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


SOURCE = Source(_NAME, _matches, _read, specificity=92)
