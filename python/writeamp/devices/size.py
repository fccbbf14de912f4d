"""Sizing of drives: a profile's shape in another size.

The host sees more or less of the drive than the profile says.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

from writeamp.devices.drive import Device
from writeamp.devices.geometry import COUNT_BITS
from writeamp.devices.times import canonical, tables_of
from writeamp.errors import RefusedError, WriteampError
from writeamp.text import Detail
from writeamp.units.byte_sizes import shown_bytes
from writeamp.units.ratios import logical_of, physical_of

# What a timed profile shows its host unless it is asked for more: fills take seconds, not minutes.
DEFAULT_BYTES = 64 * 2**30

# With fewer, the open blocks of a LUN are no small part of it, and WA is another drive's.
_FEWEST_BLOCKS_PER_LUN = 32
# Whole blocks may move op by so much of itself before pages a block are trimmed to meet it.
_MATERIAL_ROUNDING = 0.01
_STATED_ROUNDING = 0.001
# Blocks give up at most about one in so many of their pages for that.
_MOST_TRIMMED = 4
# A write cache of more than this of the drive would absorb its workload.
_MOST_CACHED = 1 / 8

# In this order a drive gives up its parallelism, once its planes have as few blocks as they may.
_PARALLEL = ("dies_per_chip", "chips_per_channel", "channels")
_BY_SIZE = "(size says how much): "
# The caches that are made smaller with the drive, each with the key that says its size.
CACHES = {"write_cache": "bytes", "map_cache": "bytes", "slc": "static_bytes"}
_CACHE_WORDS = {
    "write_cache": "a write cache",
    "map_cache": "a map cache",
    "slc": "blocks of an SLC cache",
}
_WORDS = {
    "blocks_per_plane": "blocks a plane",
    "dies_per_chip": "dies a chip",
    "chips_per_channel": "chips a channel",
    "channels": "channels",
    "pages_per_block": "pages a block",
}


def sized(shape: Device, op: float, size_bytes: int, *, keep: Collection[str] = ()) -> Device:
    """Return the drive whose host sees `size_bytes`, rounded down to whole pages.

    A smaller one has fewer blocks a plane first, then fewer dies, chips and channels, then fewer
    pages a block; a larger one has more blocks a plane.

    Args:
        shape: the drive as its profile says it.
        op: over-provisioning to keep.
        size_bytes: what the host shall see.
        keep: "write_cache", "map_cache" and "slc", where they are to be as they are.

    Raises:
        WriteampError: it is less than a drive of that shape can be, or more pages than the engine
            counts.
    """
    full_bytes = max(1, round(logical_of(shape.physical_pages, op))) * shape.page_bytes
    pages = size_bytes // shape.page_bytes
    found = _of_blocks(_shaped(shape, pages, op, size_bytes), pages, op)
    sentences = _sentences(shape, found, op, full_bytes)
    return _with_caches(
        replace(found, shrunk=(*shape.shrunk, *sentences)), size_bytes / full_bytes, keep
    )


def _shaped(shape: Device, logical_pages: int, op: float, size_bytes: int) -> Device:
    """Return the shape whose planes have blocks enough when its host sees so many pages."""
    fewest, pages = _fewest_blocks(shape), needed_pages(logical_pages, op)
    if whole_units(pages, shape.planes * shape.pages_per_block) >= fewest:
        return shape
    for level in _PARALLEL:
        others = shape.planes // getattr(shape, level) * shape.pages_per_block * fewest
        most = max(1, math.floor(pages / others * (1 + 1e-12)))
        shape = replace(shape, **{level: min(getattr(shape, level), most)})
        if whole_units(pages, shape.planes * shape.pages_per_block) >= fewest:
            return shape
    grain = _grain(shape)
    per_block = math.floor(pages / (shape.planes * fewest) / grain) * grain
    fewest_pages = max(2, grain)
    if per_block < fewest_pages:
        least = logical_of(shape.planes * fewest * fewest_pages, op) * shape.page_bytes
        raise RefusedError(
            f"size is {shown_bytes(size_bytes)}; a drive like {shape.name} "
            f"shows its host at least {shown_bytes(math.ceil(least))}, with {fewest} blocks of "
            f"{fewest_pages} pages in each plane of one die"
        )
    return replace(shape, pages_per_block=per_block)


def _fewest_blocks(shape: Device) -> int:
    """Return the fewest blocks a plane, so that a LUN has enough erase units."""
    planes = shape.planes_per_die if shape.erase_unit == "block" else 1
    return min(math.ceil(_FEWEST_BLOCKS_PER_LUN / planes), shape.blocks_per_plane)


def _grain(shape: Device) -> int:
    """Return the factor of a block's pages: those of a plane in one program."""
    return shape.flash_page_bytes // shape.page_bytes * shape.pages_per_word_line


def _of_blocks(shape: Device, logical_pages: int, op: float) -> Device:
    """Return the drive of whole blocks that comes closest to this op.

    It has the fewest blocks, with the most pages, that make about this op. On a small drive a block
    more or less would make quite another, so that blocks give up a few pages; where that does not
    help, the closest is taken.
    """
    grain, pages = _grain(shape), needed_pages(logical_pages, op)
    whole = shape.pages_per_block // grain
    first = max(round(pages / (shape.planes * shape.pages_per_block)), _fewest_blocks(shape))
    closest: tuple[float, int, int] | None = None
    for blocks in range(first, first + first // _MOST_TRIMMED + 2):
        unit = shape.planes * blocks * grain
        grains = min(max(round(pages / unit), logical_pages // unit + 1), whole)
        if unit * grains <= logical_pages:
            continue
        error = abs((unit * grains / logical_pages - 1) / op - 1)
        if closest is None or error < closest[0]:
            closest = error, blocks, grains * grain
        if error <= _MATERIAL_ROUNDING:
            break
    assert closest is not None, "a block more than needed leaves spare pages"
    _, blocks, pages_per_block = closest
    return replace(
        shape,
        logical_pages=logical_pages,
        pages_per_block=pages_per_block,
        blocks_per_plane=blocks,
    )


def _with_caches(found: Device, share: float, keep: Collection[str]) -> Device:
    """Return the smaller drive with caches that suit it.

    A write cache keeps its size up to an eighth of the drive. A map cache keeps its share of the
    table, which decides how often it misses, and the blocks of an SLC cache theirs of the drive.
    """
    tables = tables_of(found.times_json)
    caches = {name: tables.get(name, {}).get(key, 0) for name, key in CACHES.items()}
    if share >= 1 or not any(caches.values()):
        return found
    page_bytes = found.page_bytes
    limits = {
        "write_cache": int(found.capacity_bytes * _MOST_CACHED),
        "map_cache": math.ceil(caches["map_cache"] * share / page_bytes) * page_bytes,
        "slc": math.ceil(caches["slc"] * share / page_bytes) * page_bytes,
    }
    sentences = list(found.shrunk)
    for name, size in caches.items():
        limit = max(limits[name], 2 * page_bytes)
        if size > limit and name not in keep:
            tables[name][CACHES[name]] = limit
            sentences.append(
                f"{found.name} has {_CACHE_WORDS[name]} of {shown_bytes(limit)} instead of "
                f"{shown_bytes(size)}, to suit its size"
            )
    return replace(found, times_json=canonical(tables, found.name), shrunk=tuple(sentences))


def is_of_blocks_only(sentence: str) -> bool:
    """Return whether a sentence of `Device.shrunk` says that only the number of blocks changed."""
    _, _, changes = sentence.partition(_BY_SIZE)
    return changes.startswith(_WORDS["blocks_per_plane"]) and "," not in changes


def _sentences(shape: Device, found: Device, op: float, full_bytes: int) -> tuple[str, ...]:
    changes = [
        f"{words} {getattr(shape, name)} → {getattr(found, name)}"
        for name, words in _WORDS.items()
        if getattr(shape, name) != getattr(found, name)
    ]
    if not changes:
        return ()
    first = (
        f"{shape.name} shows its host {shown_bytes(found.capacity_bytes)} instead of "
        f"{shown_bytes(full_bytes)} {_BY_SIZE}{', '.join(changes)}"
    )
    if shape.name == "generic":
        first = Detail(first)
    rounding = abs(found.op / op - 1)
    if rounding <= _STATED_ROUNDING:
        return (first,)
    second = f"whole blocks make op {found.op:.4g}, not the {op:.4g} of {shape.name}"
    return (first, Detail(second) if rounding <= _MATERIAL_ROUNDING else second)


def with_blocks(shape: Device, blocks: int) -> Device:
    """Return the drive with so many erase units, its host's size still to be said."""
    dies = shape.planes // shape.planes_per_die
    units, of_what = {
        "block": (shape.planes, "planes"),
        "multi-plane": (dies, "dies"),
        "superblock": (1, "drives"),
    }[shape.erase_unit]
    if blocks % units:
        raise WriteampError(
            f"blocks is {blocks}; it must be a multiple of {units}, the {of_what} of {shape.name}"
        )
    return replace(shape, blocks_per_plane=blocks // units)


def filled(shape: Device, op: float) -> Device:
    """Return the drive with the share of its pages that op leaves to the host."""
    physical_pages = shape.physical_pages
    logical_pages = round(logical_of(physical_pages, op))
    if logical_pages < 1:
        raise RefusedError(
            f"op {op:.3g} of {physical_pages} physical pages leaves no logical page; use more "
            "blocks or a smaller op"
        )
    return _with_spare_pages(replace(shape, logical_pages=logical_pages))


def sized_by_host(shape: Device, logical_pages: int, op: float) -> Device:
    """Return the smallest drive of that shape with at least this op."""
    per_block_index = shape.planes * shape.pages_per_block
    blocks_per_plane = whole_units(needed_pages(logical_pages, op), per_block_index)
    return _with_spare_pages(
        replace(shape, blocks_per_plane=blocks_per_plane, logical_pages=logical_pages)
    )


def needed_pages(logical_pages: int, op: float) -> float:
    """Return the physical pages that so many logical pages need, rounded nowhere.

    Raises:
        WriteampError: they are more than the engine counts.
    """
    found = physical_of(logical_pages, op)
    if found >= 2**COUNT_BITS:
        raise WriteampError(
            f"{logical_pages} logical pages with op {op:.4g} need more than the "
            f"{2**COUNT_BITS - 1} physical pages that a {COUNT_BITS}-bit page number holds"
        )
    return found


def whole_units(pages: float, unit: int) -> int:
    """Return the number of whole units that hold so many pages."""
    # 1000·1.1 is 1100.0000000000002 in floating point: a hair above a whole number is that number.
    return math.ceil(pages / unit * (1 - 1e-12))


def _with_spare_pages(found: Device) -> Device:
    if found.logical_pages >= found.physical_pages:
        raise RefusedError(
            f"{found.logical_pages} logical pages on {found.physical_pages} physical pages leave "
            "no over-provisioning; use a larger op or more blocks"
        )
    return found
