"""Devices from a profile, or an array of them, and what differs from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from writeamp.devices.byte_sizes import ByteSize
from writeamp.devices.drive import SECTOR_BYTES, Device
from writeamp.devices.profile import disk_bytes, profile
from writeamp.devices.raid import ArraySpec, is_array, parse_array
from writeamp.devices.ratios import at_most_one, op_of
from writeamp.devices.shape import (
    COUNT,
    GEOMETRY,
    checked_geometry,
    checked_layout,
    filled,
    sized_by_host,
    with_blocks,
)
from writeamp.devices.size import DEFAULT_BYTES, sized
from writeamp.devices.times import (
    DISK_TABLES,
    FLASH_TABLES,
    Changes,
    ChangesLike,
    canonical,
    changed,
    tables_of,
)
from writeamp.errors import WriteampError

__all__ = ["SIZE", "Device", "DeviceLike", "device", "profile_op"]

DeviceLike: TypeAlias = str | Path | Device
SizeLike: TypeAlias = int | str

# What size, write_cache and map_cache may be.
SIZE = ByteSize()
WRITE_CACHE = ByteSize("off")
MAP_CACHE = ByteSize("all")


def device(
    base: DeviceLike = "generic",
    *,
    size: SizeLike | None = None,
    blocks: int | None = None,
    logical_blocks: int | None = None,
    logical_pages: int | None = None,
    pages_per_block: int | None = None,
    page_bytes: int | None = None,
    op: float | None = None,
    fill: float | None = None,
    spare_factor: float | None = None,
    layout: str | None = None,
    write_cache: SizeLike | None = None,
    map_cache: SizeLike | None = None,
    set: ChangesLike | None = None,
) -> Device:
    """Build a device from a profile and what differs from it.

    Args:
        base: a profile's name, the path of a profile TOML, a device, or an array of profiles such
            as "raid0:x25-m,x25-m" or "raid0:x25-m,mine.toml,stripe=128k", whose members all differ
            by what follows.
        size: what the host sees, in bytes or as "64GiB", "500GB" or "64k". A smaller drive than the
            profile's has fewer blocks a plane, then fewer dies, chips and channels, then fewer
            pages a block, at the same op (docs/devices.md); `Device.shrunk` says which. Without a
            size, a profile that is timed shows at most 64 GiB.
        blocks: erase units in the drive.
        logical_blocks: size that the host sees, in erase units; the drive gets as many blocks as
            the over-provisioning asks for, rounded up: N = ceil(U·(1+op)).
        logical_pages: the same in pages.
        pages_per_block: pages of a flash block.
        page_bytes: size of a page.
        op: over-provisioning ratio (T−U)/U, above 0.
        fill: U/T, between 0 and 1.
        spare_factor: (T−U)/T, between 0 and 1.
        layout: "flat", "striped" or "striped-per-lun".
        write_cache: memory that writes are answered from, as a size, or "off".
        map_cache: memory for the mapping table, as a size, or "all" for the whole table.
        set: values of the profile's tables, such as {"timing.read_us": 50} or
            ["bus.channel_mb_s=400", "timing.program_us=[300, 1500]"].

    Raises:
        WriteampError: a value outside its domain, two sizes or two ratios at once, an unknown
            profile, table or key.

    >>> import writeamp as wa
    >>> drive = wa.device(blocks=1000, pages_per_block=64, op=0.25)
    >>> drive.physical_pages, drive.logical_pages, drive.op
    (64000, 51200, 0.25)
    >>> wa.device("ssd-v", size="1GiB", set=["timing.read_us=60"]).times["timing"]["read_us"]
    60
    """
    counts = {"blocks": blocks, "logical_blocks": logical_blocks, "logical_pages": logical_pages}
    ratios = {"op": op, "fill": fill, "spare_factor": spare_factor}
    page = {"pages_per_block": pages_per_block, "page_bytes": page_bytes}
    at_most_one("size of the drive", size=None if size is None else 1, **counts)
    size_bytes = None if size is None else _whole(SIZE.check("size", size))
    changes = _changes(write_cache, map_cache, set)
    if is_array(base):
        _refuse(f"the array {base}", counts)
        more = ratios | page | {"layout": layout, "set": changes}
        return _array(str(base), parse_array(str(base)), size_bytes, more)
    is_built = isinstance(base, Device)
    found = base if isinstance(base, Device) else profile(base).shape
    if found.kind == "raid0":
        asked = {"size": size, "layout": layout, "set": changes or None}
        _refuse(f"the array {found.name}, which is built", counts | ratios | page | asked)
        return found
    found = _with_changes(found, changes)
    if found.kind == "disk":
        _refuse(f"the disk {found.name}", counts | ratios | page | {"layout": layout})
        return found if size_bytes is None else _with_bytes(found, size_bytes)
    found = _with_page(found, pages_per_block, page_bytes)
    if layout is not None:
        found = replace(found, layout=checked_layout(layout))
    given_op = op_of(**ratios)
    wanted_op = profile_op(base) if given_op is None else given_op
    if size_bytes is not None:
        return sized(found, wanted_op, size_bytes)
    if logical_blocks is not None:
        logical_pages = COUNT.check("logical_blocks", logical_blocks) * found.pages_per_erase_unit
    if logical_pages is not None:
        return sized_by_host(found, COUNT.check("logical_pages", logical_pages), wanted_op)
    if blocks is not None:
        return filled(with_blocks(found, COUNT.check("blocks", blocks)), wanted_op)
    whole = filled(found, wanted_op)
    if is_built or not whole.is_timed_by_default or whole.capacity_bytes <= DEFAULT_BYTES:
        return whole
    return sized(found, wanted_op, DEFAULT_BYTES)


def profile_op(base: DeviceLike) -> float:
    """Return the op of a profile or a device of flash."""
    # A profile states its ratio exactly; one counted back from whole pages would be a little off.
    op = base.op if isinstance(base, Device) else profile(base).op
    assert op is not None
    return op


def _changes(
    write_cache: SizeLike | None, map_cache: SizeLike | None, values: ChangesLike | None
) -> tuple[str, ...]:
    """Return what differs in the tables of times, as texts."""
    found = () if values is None else Changes().check("set", values)
    if write_cache is not None:
        found += (f"write_cache.bytes={_whole(WRITE_CACHE.check('write_cache', write_cache))}",)
    if map_cache is not None:
        found += (f"map_cache.bytes={_whole(MAP_CACHE.check('map_cache', map_cache))}",)
    return found


def _whole(size: int | str) -> int:
    """Return bytes; a cache that is off, or that holds the whole table, has 0 of its own."""
    return 0 if isinstance(size, str) else size


def _with_changes(found: Device, changes: tuple[str, ...]) -> Device:
    """Return the device with values of its geometry and its times replaced."""
    if not changes:
        return found
    tables = tables_of(found.times_json)
    is_disk = found.kind == "disk"
    if not is_disk:
        tables["geometry"] = {key: getattr(found, key) for key in GEOMETRY}
    known = DISK_TABLES if is_disk else ("geometry", *FLASH_TABLES)
    tables = changed(tables, changes, known, found.name)
    geometry = checked_geometry("set", tables.pop("geometry")) if not is_disk else {}
    found = replace(found, times_json=canonical(tables, "set"), **geometry)
    return _with_bytes(found, disk_bytes("set", tables)) if is_disk else found


def _with_bytes(disk: Device, size_bytes: int) -> Device:
    """Return the disk of another capacity."""
    tables = tables_of(disk.times_json)
    tables["disk"]["capacity_bytes"] = size_bytes
    return replace(
        disk,
        times_json=canonical(tables, disk.name),
        logical_pages=disk_bytes("size", tables) // SECTOR_BYTES,
    )


def _with_page(found: Device, pages_per_block: int | None, page_bytes: int | None) -> Device:
    if pages_per_block is not None:
        found = replace(found, pages_per_block=COUNT.check("pages_per_block", pages_per_block))
    if page_bytes is not None:
        found = replace(found, page_bytes=COUNT.check("page_bytes", page_bytes))
    return found


def _array(name: str, spec: ArraySpec, size_bytes: int | None, more: dict[str, Any]) -> Device:
    """Return the array, whose members divide its size, each with what differs from its profile."""
    count = len(spec.members)
    members = []
    for base in spec.members:
        is_disk = profile(base).shape.kind == "disk"
        own = {key: more[key] for key in more if more[key]} if is_disk else more
        share = None if size_bytes is None else size_bytes // count
        member = device(base, size=share, **own)
        if share is None and not is_disk and member.capacity_bytes > DEFAULT_BYTES // count:
            member = device(base, size=DEFAULT_BYTES // count, **own)
        members.append(member)
    stripes = min(one.capacity_bytes for one in members) // spec.stripe_bytes
    if stripes == 0:
        raise WriteampError(
            f"{name} has a member that is smaller than a stripe of {spec.stripe_bytes} bytes"
        )
    return Device.without_flash(
        name,
        "raid0",
        stripes * spec.stripe_bytes * count,
        is_timed_by_default=True,
        shrunk=tuple(dict.fromkeys(sentence for one in members for sentence in one.shrunk)),
        members=tuple(members),
        stripe_bytes=spec.stripe_bytes,
    )


def _refuse(whose: str, options: dict[str, Any]) -> None:
    """Refuse options that a device has no use for."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise WriteampError(
            f"{whose} takes no {', '.join(given)}; its size is what may differ, by size, and its "
            "times, by set"
        )
