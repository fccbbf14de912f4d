"""Samsung's log 0xCA of drives for data centres (PM9A3) as raw bytes.

Nothing in the page says whose it is, so that its counters stand only beside a model that has it:
`vendor_units` takes them away from others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from writeamp.drives.counters.amounts import Counter, Side
from writeamp.drives.counters.document import Document
from writeamp.drives.counters.facts import Facts
from writeamp.drives.counters.source import Source
from writeamp.drives.counters.vendor_units import SAMSUNG_PAGE
from writeamp.vssd.log_pages import boot, ocp

_NAME = "Samsung log 0xCA, 512 bytes"
_PAGE_BYTES = 512
_INTELS_FIRST = 0xAB
# More counts of any unit no drive has, and pages of others have other bytes there.
_MOST_BITS = 72
_LEAST = 1000


class _Field(NamedTuple):
    side: Side
    offset: int
    name: str


_FIELDS = (_Field("host", 264, "user data units"), _Field("flash", 280, "NAND data units"))


def _counts(document: Document) -> list[int]:
    return [
        int.from_bytes(document.content[one.offset : one.offset + 16], "little") for one in _FIELDS
    ]


def _matches(document: Document) -> bool:
    page = document.content
    if len(page) != _PAGE_BYTES or page[0] == _INTELS_FIRST:
        return False
    if int.from_bytes(page[-16:], "little") in {ocp.GUID, boot.GUID}:
        return False
    return all(_LEAST <= one < 1 << _MOST_BITS for one in _counts(document))


def _read(document: Document) -> Iterator[Facts]:
    yield Facts(
        source=_NAME,
        counters=tuple(
            Counter(
                one.side,
                count,
                None,
                f"Samsung log 0xCA, {one.name}",
                _NAME,
                shared=SAMSUNG_PAGE,
            )
            for one, count in zip(_FIELDS, _counts(document), strict=True)
        ),
    )


SOURCE = Source(_NAME, _matches, _read, specificity=90)
