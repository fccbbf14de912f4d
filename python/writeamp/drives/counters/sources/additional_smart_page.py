"""Additional SMART log (0xCA) as raw bytes: items of 12 bytes, of Intel's numbers."""

from __future__ import annotations

from collections.abc import Iterator

from writeamp.drives.counters.amounts import Counter, Side
from writeamp.drives.counters.document import Document
from writeamp.drives.counters.facts import Erases, Facts
from writeamp.drives.counters.source import Source
from writeamp.drives.counters.vendor_units import NAND_AND_HOST_BYTES

_NAME = "log 0xCA, 512 bytes"
_LABEL = "additional SMART log 0xCA"
_ITEM_BYTES = 12
_ITEMS = 13
_WEAR, _NAND, _HOST = 0xAD, 0xF4, 0xF5
_SIDES: tuple[tuple[Side, int, str], ...] = (
    ("host", _HOST, "host bytes written"),
    ("flash", _NAND, "nand bytes written"),
)
_RESET = frozenset((1 << bits) - 1 for bits in (16, 32, 48))


def _items(document: Document) -> dict[int, bytes]:
    content = document.content
    return {
        content[at]: content[at : at + _ITEM_BYTES]
        for at in range(0, _ITEMS * _ITEM_BYTES, _ITEM_BYTES)
    }


def _matches(document: Document) -> bool:
    if len(document.content) not in {512, 4096} or document.content[0] != 0xAB:
        return False
    return {_NAND, _HOST} <= _items(document).keys()


def _read(document: Document) -> Iterator[Facts]:
    items = _items(document)
    counters, notes = [], []
    for side, number, name in _SIDES:
        item = items[number]
        count, normalized = int.from_bytes(item[5:11], "little"), item[3]
        label = f"{_LABEL}, {name}"
        if count == 0 or count in _RESET:
            notes.append(f"{label} is {count:,} (normalized {normalized}): it is not kept")
        else:
            counters.append(
                Counter(side, count, None, label, _LABEL, rounding="down",
                        shared=NAND_AND_HOST_BYTES)
            )  # fmt: skip
    yield Facts(
        source=_NAME,
        counters=tuple(counters),
        erases=tuple(_erases(items.get(_WEAR))),
        notes=tuple(notes),
    )


def _erases(item: bytes | None) -> Iterator[Erases]:
    if item is None:
        return
    least, most, mean = (int.from_bytes(item[at : at + 2], "little") for at in (5, 7, 9))
    if mean and least <= mean <= most:
        yield Erases(mean, mean + 1, most, f"{_LABEL}, wear leveling")


SOURCE = Source(_NAME, _matches, _read, specificity=91)
