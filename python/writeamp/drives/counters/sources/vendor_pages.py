"""Raw bytes of log 0xCA: Samsung's page (PM9A3), and Intel's additional SMART log.

Samsung's page does not identify its vendor. Its counters are used only with a matching model;
`with_vendor_units` removes them for other models.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from writeamp.drives.counters.amounts import Counter, Side
from writeamp.drives.counters.document import Document
from writeamp.drives.counters.facts import CounterFacts, CounterSource, Erases
from writeamp.drives.counters.snapshot import NAND_AND_HOST_BYTES, SAMSUNG_PAGE
from writeamp.vssd.log_pages import boot, ocp

_NAME = "Samsung log 0xCA, 512 bytes"
_PAGE_BYTES = 512
_INTELS_FIRST = 0xAB
# No drive has larger counts in any unit, so a larger one means that the page is of another vendor.
_MOST_BITS = 72
_LEAST = 1000
_SMART_NAME = "log 0xCA, 512 bytes"
_SMART_LABEL = "additional SMART log 0xCA"
_ITEM_BYTES = 12
_ITEMS = 13
_WEAR, _NAND, _HOST = 0xAD, 0xF4, 0xF5
_SIDES: tuple[tuple[Side, int, str], ...] = (
    ("host", _HOST, "host bytes written"),
    ("flash", _NAND, "nand bytes written"),
)
_RESET = frozenset((1 << bits) - 1 for bits in (16, 32, 48))


class _Field(NamedTuple):
    side: Side
    offset: int
    name: str


_FIELDS = (_Field("host", 264, "user data units"), _Field("flash", 280, "NAND data units"))


def _counts(document: Document) -> list[int]:
    return [
        int.from_bytes(document.content[field.offset : field.offset + 16], "little")
        for field in _FIELDS
    ]


def _matches(document: Document) -> bool:
    page = document.content
    if len(page) != _PAGE_BYTES or page[0] == _INTELS_FIRST:
        return False
    if int.from_bytes(page[-16:], "little") in {ocp.GUID, boot.GUID}:
        return False
    return all(_LEAST <= count < 1 << _MOST_BITS for count in _counts(document))


def _read(document: Document) -> Iterator[CounterFacts]:
    yield CounterFacts(
        source=_NAME,
        counters=tuple(
            Counter(
                field.side,
                count,
                None,
                f"Samsung log 0xCA, {field.name}",
                _NAME,
                shared=SAMSUNG_PAGE,
            )
            for field, count in zip(_FIELDS, _counts(document), strict=True)
        ),
    )


SAMSUNG = CounterSource(_NAME, _matches, _read, specificity=90)


def _smart_items(document: Document) -> dict[int, bytes]:
    content = document.content
    return {
        content[at]: content[at : at + _ITEM_BYTES]
        for at in range(0, _ITEMS * _ITEM_BYTES, _ITEM_BYTES)
    }


def _is_smart(document: Document) -> bool:
    if len(document.content) not in {512, 4096} or document.content[0] != 0xAB:
        return False
    return {_NAND, _HOST} <= _smart_items(document).keys()


def _read_smart(document: Document) -> Iterator[CounterFacts]:
    items = _smart_items(document)
    counters, notes = [], []
    for side, number, name in _SIDES:
        item = items[number]
        count, normalized = int.from_bytes(item[5:11], "little"), item[3]
        label = f"{_SMART_LABEL}, {name}"
        if count == 0 or count in _RESET:
            notes.append(
                f"{label} is {count:,} (normalized {normalized}): the drive does not maintain it"
            )
        else:
            counters.append(
                Counter(side, count, None, label, _SMART_LABEL, rounding="down",
                        shared=NAND_AND_HOST_BYTES)
            )  # fmt: skip
    yield CounterFacts(
        source=_SMART_NAME,
        counters=tuple(counters),
        erases=tuple(_smart_erases(items.get(_WEAR))),
        notes=tuple(notes),
    )


def _smart_erases(item: bytes | None) -> Iterator[Erases]:
    if item is None:
        return
    least, most, mean = (int.from_bytes(item[at : at + 2], "little") for at in (5, 7, 9))
    if mean and least <= mean <= most:
        yield Erases(mean, mean + 1, most, f"{_SMART_LABEL}, wear leveling")


ADDITIONAL_SMART = CounterSource(_SMART_NAME, _is_smart, _read_smart, specificity=91)
