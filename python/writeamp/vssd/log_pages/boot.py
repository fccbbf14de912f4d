"""Hyperscale Boot SSD log (0xC0): the fields of writes and erases.

Its page has another GUID than OCP's. It counts data units of 512,000 bytes, although tools print
"(Bytes)". A drive of 512 GB with blocks erased 433 to 484 times reports 484,533,969. As data units
these are 484.5 writes of the whole drive, which fits the erases; as bytes it would be 0.001.
"""

from __future__ import annotations

from typing import NamedTuple

GUID = 0x65438878ACD878A166421E0F92D76DC4


class BootField(NamedTuple):
    """Offset and length of a number in the log page, in bytes, and its key here."""

    offset: int
    length: int
    key: str


FIELDS = (
    BootField(0, 16, "tlc_units_written"),
    BootField(16, 16, "slc_units_written"),
    BootField(84, 8, "tlc_least_erases"),
    BootField(92, 8, "tlc_most_erases"),
    BootField(100, 8, "tlc_mean_erases"),
    BootField(108, 8, "slc_least_erases"),
    BootField(116, 8, "slc_most_erases"),
    BootField(124, 8, "slc_mean_erases"),
)


def decoded_page(page: bytes) -> dict[str, int]:
    """Return the numbers of a raw page of 512 bytes."""
    return {
        field.key: int.from_bytes(page[field.offset : field.offset + field.length], "little")
        for field in FIELDS
    }
