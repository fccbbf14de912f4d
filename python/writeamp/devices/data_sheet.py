"""Data sheet of a product that a profile is held against, and the erases it is rated for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any

from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import Number, OneOf, Whole, shown

# Erases that a block may be rated for; no flash endures more.
RATED_ERASES = Whole(1, 10**7)

_STATES = ("sustained", "cached")
# As many requests as a device takes at once.
_DEPTH = Whole(1, 65_536)
_ABOVE_ZERO = Number("be a number above 0", lambda value: value > 0)
_NOT_NEGATIVE = Number("be a number, 0 or more", lambda value: value >= 0)
_KIB = 1024


@dataclass(frozen=True)
class DataSheet:
    """Promises of a data sheet: four corners, how they are measured, and writes of a life.

    `state` is that of the drive: "sustained" after long writes, as of drives for data centres, or
    "cached" if all that is written and read lies in the drive's SLC cache, as of client drives.
    Requests are so many bytes, so many at a time; random ones go to `span_bytes` of the drive.
    """

    product: str
    state: str
    sequential_read_mb_s: float
    sequential_write_mb_s: float
    random_read_iops: float
    random_write_iops: float
    sequential_read_depth: int
    sequential_write_depth: int
    random_read_depth: int
    random_write_depth: int
    sequential_bytes: int = 128 * _KIB
    random_read_bytes: int = 4 * _KIB
    random_write_bytes: int = 4 * _KIB
    span_bytes: int = 0
    """0 for the whole drive."""
    rated_tbw: float = 0.0
    """Terabytes (10¹²) that the host may write in a life; 0 if it does not say."""
    rated_dwpd: float = 0.0
    """Drive writes a day; 0 if it does not say."""

    @property
    def corners(self) -> dict[str, float]:
        """The four promised figures by name: two in 10⁶ bytes a second, two in requests."""
        return {name: getattr(self, name) for name in CORNERS}

    def to_dict(self) -> dict[str, Any]:
        """Return the fields."""
        return asdict(self)

    @staticmethod
    def from_table(name: str, table: Mapping[str, Any]) -> DataSheet:
        """Return what the table [data_sheet] of a profile says.

        Raises:
            WriteampError: an unknown or missing key, or a value outside its domain.
        """
        where = f"{name}: data_sheet"
        known = {one.name: one for one in fields(DataSheet)}
        for key in table:
            if key not in known:
                raise unknown(f"key in {name}: [data_sheet]", key, known)
        missing = [key for key, one in known.items() if one.default is MISSING and key not in table]
        if missing:
            raise WriteampError(f"{name}: [data_sheet] lacks {', '.join(missing)}")
        return DataSheet(**{key: _checked(where, key, value) for key, value in table.items()})


CORNERS = (
    "sequential_read_mb_s",
    "sequential_write_mb_s",
    "random_read_iops",
    "random_write_iops",
)
_OPTIONAL = ("span_bytes", "rated_tbw", "rated_dwpd")


def rated_erases_of(name: str, table: Mapping[str, Any]) -> int | None:
    """Return the erases that the table [wear] of a profile says a block is rated for.

    Raises:
        WriteampError: another key, or no such number.
    """
    for key in table:
        if key != "rated_erases":
            raise unknown(f"key in {name}: [wear]", key, ("rated_erases",))
    if not table:
        return None
    return RATED_ERASES.check(f"{name}: wear.rated_erases", table["rated_erases"])


def _checked(where: str, key: str, value: Any) -> Any:
    """Return a value of the table, or raise what is wrong with it."""
    at = f"{where}.{key}"
    if key == "product":
        if not isinstance(value, str) or not value.strip():
            raise WriteampError(f"{at} is {shown(value)}; it must be the product's name")
        return value
    if key == "state":
        return OneOf(_STATES).check(at, value)
    if key.endswith("_depth"):
        return _DEPTH.check(at, value)
    if key.endswith("_bytes"):
        return Whole(int(key not in _OPTIONAL)).check(at, value)
    return (_NOT_NEGATIVE if key in _OPTIONAL else _ABOVE_ZERO).check(at, value)
