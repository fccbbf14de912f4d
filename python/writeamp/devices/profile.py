"""Profiles: TOML files with shape, over-provisioning and times of a device, with sources."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from writeamp.devices import toml_text
from writeamp.devices.candidates import Candidates
from writeamp.devices.data_sheet import DataSheet, rated_erases_of
from writeamp.devices.drive import Device
from writeamp.devices.geometry import complete_geometry
from writeamp.devices.times import DISK_TABLES, FLASH_TABLES, Tables, canonical
from writeamp.errors import WriteampError, placed, unknown
from writeamp.fields.domains import Whole, shown
from writeamp.units.ratios import RATIOS, op_of

_KIND_WORDS = {
    int: "a whole number",
    float: "a number",
    str: "text",
    dict: "a [table]",
    bool: "true or false",
}
_OF_ALL = {"summary": str, "source": str, "timed": bool, "sources": dict}
_OF_FLASH = dict.fromkeys(
    ("geometry", "management", "twin", "data_sheet", "wear", *FLASH_TABLES), dict
)
_OF_DISK = dict.fromkeys(DISK_TABLES, dict)

# Valid capacities of a disk, up to 16 TiB.
_DISK_BYTES = Whole(2**20, 2**44)

_SHIPPED = Path(__file__).with_name("profiles")


@dataclass(frozen=True)
class Profile:
    """Content of a profile: a device in its full size, and the sources of its numbers.

    The shape of a flash drive has no logical pages yet; they follow from `op`, which is None for a
    disk. `sources` has texts by "table" or "table.key".
    """

    shape: Device
    op: float | None
    summary: str
    sources: Mapping[str, str]
    candidates: Candidates | None = None
    """Possible drives, if the profile was learnt from a real drive; otherwise None."""
    data_sheet: DataSheet | None = None
    """Data sheet of the product with which the profile is compared, or None."""


@cache
def profile_names() -> tuple[str, ...]:
    """Return the names of the shipped profiles."""
    return tuple(sorted(f.name.removesuffix(".toml") for f in _SHIPPED.iterdir()))


def profile(base: str | Path) -> Profile:
    """Return a shipped profile by name, or the profile in a file.

    Raises:
        WriteampError: an unknown name, a file that cannot be read, an unknown key, or an invalid
            value.
    """
    return _parsed(*_text(base))


def _text(base: str | Path) -> tuple[str, str]:
    if not isinstance(base, str | os.PathLike):
        raise WriteampError(
            f"device is {shown(base)}; it must be a profile's name, a profile's path, or a Device"
        )
    path = Path(base)
    if path.suffix != ".toml":
        if str(base) not in profile_names():
            more = ("raid0:A,B", "or the path of a .toml file")
            raise unknown("device", str(base), (*profile_names(), *more))
        path = _SHIPPED / f"{base}.toml"
    return str(base), toml_text.read_text(path, "device profile")


@cache
def _parsed(name: str, text: str) -> Profile:
    table = toml_text.parse(text, name)
    is_disk = "disk" in table
    _known_keys(name, table, _OF_ALL | (_OF_DISK if is_disk else _OF_FLASH))
    tables = {key: table[key] for key in (DISK_TABLES if is_disk else FLASH_TABLES) if key in table}
    more = {
        "times_json": canonical(tables, name),
        "is_timed_by_default": table.get("timed", False),
    }
    shape, op = _disk(name, tables, more) if is_disk else _flash(name, table, more)
    sources = dict(_sources(name, table.get("sources", {}), table))
    twin, sheet = table.get("twin"), table.get("data_sheet")
    return Profile(
        shape,
        op,
        table.get("summary", ""),
        MappingProxyType(sources),
        None if twin is None else Candidates.from_table(name, twin),
        None if sheet is None else DataSheet.from_table(name, sheet),
    )


def _flash(name: str, table: dict[str, Any], more: dict[str, Any]) -> tuple[Device, float]:
    more |= complete_geometry(name, table.get("geometry", {}))
    management = table.get("management", {})
    ratio_types: dict[str, Any] = dict.fromkeys(RATIOS, (int, float))
    _known_keys(f"{name}: [management]", management, ratio_types | {"layout": str})
    ratios = {key: management[key] for key in RATIOS if key in management}
    if len(ratios) != 1:
        raise WriteampError(f"{name}: [management] needs exactly one of {', '.join(RATIOS)}")
    more |= {"rated_erases": rated_erases_of(name, table.get("wear", {}))}
    try:
        op = op_of(**ratios)
        assert op is not None
        layout = management.get("layout", "flat")
        return Device(name=name, layout=layout, logical_pages=0, **more), op
    except WriteampError as error:
        raise placed(name, error) from None


def _disk(name: str, tables: Tables, more: dict[str, Any]) -> tuple[Device, None]:
    capacity_bytes = disk_bytes(name, tables)
    try:
        return Device.without_flash(name, "disk", capacity_bytes, **more), None
    except WriteampError as error:
        raise placed(name, error) from None


def disk_bytes(name: str, tables: Tables) -> int:
    """Return the capacity of a disk from its tables, in bytes.

    Raises:
        WriteampError: a missing or invalid capacity.
    """
    return _DISK_BYTES.check(f"{name}: disk.capacity_bytes", tables["disk"].get("capacity_bytes"))


def _sources(
    name: str, sources: dict[str, Any], table: dict[str, Any]
) -> Iterator[tuple[str, str]]:
    for key, source in sources.items():
        title, _, own = key.partition(".")
        has_key = isinstance(table.get(title), dict) and (not own or own in table[title])
        if not has_key or not isinstance(source, str):
            raise WriteampError(
                f"{name}: [sources] has {key} = {shown(source)}; it must be text for a table of "
                'the profile, or for a key of one in quotes ("timing.read_us")'
            )
        yield key, source


def _known_keys(where: str, table: dict[str, Any], types: dict[str, Any]) -> None:
    for key, value in table.items():
        if key not in types:
            raise unknown(f"key in {where}", key, types)
        kinds = types[key] if isinstance(types[key], tuple) else (types[key],)
        # In Python, True is an integer, so booleans are rejected first.
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            words = " or ".join(_KIND_WORDS[kind] for kind in kinds)
            raise WriteampError(f"{where}: {key} is {shown(value)}; it must be {words}")
