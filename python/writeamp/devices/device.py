"""Build devices from a profile, or an array of profiles, with values replaced."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from writeamp.devices.drive import SECTOR_BYTES, Device
from writeamp.devices.geometry import COUNT, GEOMETRY, PAGE_BYTES, complete_geometry
from writeamp.devices.profile import disk_bytes, profile
from writeamp.devices.raid import is_array, parse_array
from writeamp.devices.size import (
    DEFAULT_BYTES,
    PAGES_PER_BLOCK,
    filled,
    sized,
    sized_by_host,
    with_blocks,
)
from writeamp.devices.times import (
    DISK_TABLES,
    FLASH_TABLES,
    Changes,
    ChangesLike,
    canonical,
    changed,
    split_change,
    tables_of,
)
from writeamp.errors import WriteampError
from writeamp.fields.domains import shown
from writeamp.units.byte_sizes import ByteSize
from writeamp.units.ratios import RatioLike, at_most_one, op_of

__all__ = ["MAP_CACHE", "SIZE", "WRITE_CACHE", "Device", "DeviceLike", "device", "profile_op"]

DeviceLike: TypeAlias = str | Path | Device
SizeLike: TypeAlias = int | str

# Domains (valid values) of size, write_cache and map_cache.
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
    page_bytes: SizeLike | None = None,
    mapping_unit: SizeLike | None = None,
    op: RatioLike | None = None,
    fill: RatioLike | None = None,
    spare_factor: RatioLike | None = None,
    layout: str | None = None,
    write_cache: SizeLike | None = None,
    map_cache: SizeLike | None = None,
    set: ChangesLike | None = None,
) -> Device:
    """Build a device from a profile and changed values.

    Args:
        base: a profile's name, the path of a profile TOML, a device, or an array of profiles such
            as "raid0:x25-m,x25-m" or "raid0:x25-m,mine.toml,stripe=128k". The other arguments apply
            to all members of an array.
        size: logical size, in bytes or as "64GiB", "500GB" or "64k". If it is smaller than the
            profile's, the drive has fewer blocks, then fewer pages per block, then fewer dies,
            chips and channels, at the same op (docs/devices.md); `Device.shrunk` has sentences on
            the changes. Without a size, a timed profile has at most 64 GiB.
        blocks: erase units in the drive.
        logical_blocks: logical size in erase units; the number of blocks follows from op, rounded
            up: N = ceil(U·(1+op)).
        logical_pages: logical size in pages.
        pages_per_block: pages of a flash block.
        page_bytes: size of a page, such as 4096 or "4k".
        mapping_unit: size of a unit of the map, such as "16KiB", a multiple of the page. The
            drive's pages are then these units; the other arguments count pages of `page_bytes`.
        op: over-provisioning ratio (T−U)/U, above 0: 0.15 or "15%".
        fill: U/T, between 0 and 1.
        spare_factor: (T−U)/T, between 0 and 1.
        layout: "flat", "striped" or "striped-per-lun".
        write_cache: size of the write cache, or "off".
        map_cache: memory for the mapping table, as a size, or "all" for the whole table.
        set: changed values of the profile's tables, such as {"timing.read_us": 50} or
            ["bus.channel_mb_s=400", "timing.program_us=[300, 1500]"].

    Returns:
        `Device`: `op`, `logical_pages`, `capacity_bytes`, `geometry`, `layout`; `facts()` has all.

    Raises:
        WriteampError: an invalid value, two sizes or two ratios at once, or an unknown profile,
            table or key.

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
    of_flash = ratios | page | {"mapping_unit": mapping_unit, "layout": layout}
    if is_array(base):
        _refuse(f"the array {base}", counts)
        return _array(str(base), size_bytes, of_flash | {"set": changes})
    shape = base if isinstance(base, Device) else profile(base).shape
    if shape.kind != "flash":
        _refuse(f"the {shape.kind} {shape.name}", counts | of_flash)
        return _without_flash(shape, size_bytes, changes)
    if shape.host_page_bytes and (page_bytes, mapping_unit) != (None, None):
        raise WriteampError(
            f"{shape.name} has mapping units of {shape.page_bytes} bytes; give page_bytes and "
            "mapping_unit to the device without them"
        )
    given_op = op_of(**ratios)
    wanted_op = profile_op(base) if given_op is None else given_op
    shape = _reshaped(shape, changes, {key: of_flash[key] for key in (*page, "layout")})
    if mapping_unit is not None:
        shape = _in_units(shape, mapping_unit)
        counts["logical_pages"] = _units_of(logical_pages, shape)
    is_profile = not isinstance(base, Device)
    if size_bytes is None and is_profile and _is_default_sized(shape, wanted_op, counts):
        size_bytes = DEFAULT_BYTES
    if size_bytes is not None:
        keep = {".".join(split_change(change)[:2]) for change in changes}
        if pages_per_block is not None:
            keep.add(PAGES_PER_BLOCK)
        return sized(shape, wanted_op, size_bytes, keep=keep)
    return _of_count(shape, wanted_op, **counts)


def _in_units(shape: Device, unit: SizeLike) -> Device:
    """Return the shape with mapping units as its pages, in blocks of the same size."""
    unit_bytes, page_bytes = _whole(PAGE_BYTES.check("mapping_unit", unit)), shape.page_bytes
    block_bytes = shape.pages_per_block * page_bytes
    if unit_bytes % page_bytes or block_bytes % unit_bytes or block_bytes < 2 * unit_bytes:
        raise WriteampError(
            f"mapping_unit is {unit_bytes} bytes; it must be a multiple of the page, {page_bytes} "
            f"bytes, and a block of {block_bytes} bytes must hold a whole number of units, at "
            "least two"
        )
    # Without `flash_page_bytes`, a flash page is a unit.
    if shape.states_flash_page and shape.flash_page_bytes % unit_bytes:
        raise WriteampError(
            f"mapping_unit is {unit_bytes} bytes; on {shape.name} it must divide a flash page, "
            f"{shape.flash_page_bytes} bytes"
        )
    return replace(
        shape,
        pages_per_block=block_bytes // unit_bytes,
        page_bytes=unit_bytes,
        host_page_bytes=page_bytes,
    )


def _units_of(pages: int | None, shape: Device) -> int | None:
    """Return the mapping units of a number of pages, or None without one."""
    if pages is None:
        return None
    units, rest = divmod(COUNT.check("logical_pages", pages), shape.pages_per_unit)
    if rest or not units:
        raise WriteampError(
            f"logical_pages is {pages}; it must be a multiple of the {shape.pages_per_unit} pages "
            "of a mapping unit"
        )
    return units


def _is_default_sized(shape: Device, op: float, counts: dict[str, int | None]) -> bool:
    """Return whether to limit the size of a timed drive, because no size was given."""
    is_counted = any(count is not None for count in counts.values())
    if is_counted or not shape.is_timed_by_default:
        return False
    return filled(shape, op).capacity_bytes > DEFAULT_BYTES


def _of_count(
    shape: Device,
    op: float,
    *,
    blocks: int | None,
    logical_blocks: int | None,
    logical_pages: int | None,
) -> Device:
    """Return the flash drive with a number of blocks or pages, or with the profile's own."""
    if logical_blocks is not None:
        logical_pages = COUNT.check("logical_blocks", logical_blocks) * shape.pages_per_erase_unit
    if logical_pages is not None:
        return sized_by_host(shape, COUNT.check("logical_pages", logical_pages), op)
    if blocks is not None:
        shape = with_blocks(shape, COUNT.check("blocks", blocks))
    return filled(shape, op)


def profile_op(base: DeviceLike) -> float:
    """Return the op of a profile or of a flash device."""
    # A profile states the exact op; an op computed from whole pages would be rounded.
    if isinstance(base, Device):
        if not 0 < base.logical_pages < base.physical_pages:
            raise WriteampError(
                f"the device {shown(base.name)} has {base.logical_pages} logical pages; valid: 1 "
                f"to {base.physical_pages - 1}, one less than its physical pages"
            )
        return base.op
    op = profile(base).op
    assert op is not None
    return op


def _changes(
    write_cache: SizeLike | None, map_cache: SizeLike | None, values: ChangesLike | None
) -> tuple[str, ...]:
    """Return the changed values of the tables of times, as texts TABLE.KEY=VALUE."""
    changes = () if values is None else Changes().check("set", values)
    if write_cache is not None:
        changes += (f"write_cache.bytes={_whole(WRITE_CACHE.check('write_cache', write_cache))}",)
    if map_cache is not None:
        changes += (f"map_cache.bytes={_whole(MAP_CACHE.check('map_cache', map_cache))}",)
    return changes


def _whole(size: int | str) -> int:
    """Return a size in bytes; 0 for a cache that is "off" or "all"."""
    return 0 if isinstance(size, str) else size


def _reshaped(drive: Device, changes: tuple[str, ...], options: dict[str, Any]) -> Device:
    """Return the flash drive with changed values, with its logical size still undetermined.

    All values are replaced at once, because they are checked together.
    """
    tables = tables_of(drive.times_json) | {
        "geometry": {key: getattr(drive, key) for key in GEOMETRY}
    }
    tables = changed(tables, changes, ("geometry", *FLASH_TABLES), drive.name)
    shape = complete_geometry("set", tables.pop("geometry"))
    shape |= {key: value for key, value in options.items() if value is not None}
    return replace(drive, times_json=canonical(tables, "set"), logical_pages=0, **shape)


def _without_flash(shape: Device, size_bytes: int | None, changes: tuple[str, ...]) -> Device:
    """Return a disk with a size and changed values; an array is returned unchanged."""
    if shape.kind == "raid0":
        _refuse(f"the built array {shape.name}", {"size": size_bytes, "set": changes or None})
        return shape
    tables = changed(tables_of(shape.times_json), changes, DISK_TABLES, shape.name)
    if size_bytes is not None:
        tables["disk"]["capacity_bytes"] = size_bytes
    pages = disk_bytes("set", tables) // SECTOR_BYTES
    return replace(shape, times_json=canonical(tables, "set"), logical_pages=pages)


def _array(name: str, size_bytes: int | None, more: dict[str, Any]) -> Device:
    """Return an array; its members share the size and all get the changed values."""
    spec = parse_array(name)
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
    stripes = min(member.capacity_bytes for member in members) // spec.stripe_bytes
    if stripes == 0:
        raise WriteampError(
            f"{name} has a member that is smaller than a stripe of {spec.stripe_bytes} bytes; "
            "use a smaller stripe"
        )
    return Device.without_flash(
        name,
        "raid0",
        stripes * spec.stripe_bytes * count,
        is_timed_by_default=True,
        shrunk=tuple(dict.fromkeys(sentence for member in members for sentence in member.shrunk)),
        members=tuple(members),
        stripe_bytes=spec.stripe_bytes,
    )


def _refuse(owner: str, options: dict[str, Any]) -> None:
    """Reject options that a device does not support."""
    options_given = [name for name, value in options.items() if value is not None]
    if options_given:
        raise WriteampError(
            f"{owner} does not support {', '.join(options_given)}; only flash drives and their "
            "profiles do"
        )
