"""Data sheet with which a profile is compared, and rated erase cycles of its blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any

from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import Number, OneOf, Whole, shown

# Valid rated erases of a block.
RATED_ERASES = Whole(1, 10**7)

_STATES = ("sustained", "cached")
# Valid queue depths.
_DEPTH = Whole(1, 65_536)
_ABOVE_ZERO = Number("be a number above 0", lambda value: value > 0)
_NOT_NEGATIVE = Number("be a number, 0 or more", lambda value: value >= 0)
_KIB = 1024


@dataclass(frozen=True)
class DataSheet:
    """Specifications of a data sheet: performance, measuring conditions, and rated writes.

    `state` is the state of the drive: "sustained" after long writes, as for datacenter drives, or
    "cached" with all data in the SLC cache, as for client drives. `*_bytes` are request sizes in
    bytes, and `*_depth` are queue depths. Random requests go to the first `span_bytes`.
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
    """Rated host writes in terabytes (10¹² bytes); 0 if not specified."""
    rated_dwpd: float = 0.0
    """Rated drive writes per day; 0 if not specified."""

    @property
    def corners(self) -> dict[str, float]:
        """The four performance figures by name: two in 10⁶ bytes/s, two in requests/s."""
        return {name: getattr(self, name) for name in CORNERS}

    def to_dict(self) -> dict[str, Any]:
        """Return the fields."""
        return asdict(self)

    @staticmethod
    def from_table(name: str, table: Mapping[str, Any]) -> DataSheet:
        """Return the data sheet in the table [data_sheet] of a profile.

        Raises:
            WriteampError: an unknown or missing key, or an invalid value.
        """
        where = f"{name}: data_sheet"
        fields_by_key = {field.name: field for field in fields(DataSheet)}
        for key in table:
            if key not in fields_by_key:
                raise unknown(f"key in {name}: [data_sheet]", key, fields_by_key)
        missing = [
            key
            for key, field in fields_by_key.items()
            if field.default is MISSING and key not in table
        ]
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
    """Return the rated erases of a block from the table [wear] of a profile, or None.

    Raises:
        WriteampError: an unknown key or an invalid value.
    """
    for key in table:
        if key != "rated_erases":
            raise unknown(f"key in {name}: [wear]", key, ("rated_erases",))
    if not table:
        return None
    return RATED_ERASES.check(f"{name}: wear.rated_erases", table["rated_erases"])


def _checked(where: str, key: str, value: Any) -> Any:
    """Return a valid value of the table, or raise a `WriteampError`."""
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
