"""Drives of a requested logical size: changes of a profile's shape that keep its op."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

from writeamp.devices.drive import Device
from writeamp.devices.geometry import COUNT_BITS
from writeamp.devices.times import canonical, tables_of
from writeamp.errors import RefusedError, WriteampError
from writeamp.text import Caution, Detail
from writeamp.units.byte_sizes import shown_bytes
from writeamp.units.ratios import logical_of, physical_of

# Default limit of a timed profile's logical size, so that fills take seconds, not minutes.
DEFAULT_BYTES = 64 * 2**30

# A smaller drive keeps its dies as long as each has this many erase units, and one die at least the
# second number. Below 64, the open and reserved blocks of a die would change WA by several percent.
_BLOCKS_PER_DIE = 64
_FEWEST_BLOCKS = 32
# Pages that erase units keep as long as a die can be left out instead: with 64 pages, greedy
# collection has about 5% less WA than with many at a spare factor of 0.15.
_PAGES_PER_UNIT = 64
# Open blocks and the reserve of background collection take up to this many spare blocks of a pool,
# so a drive with fewer has a much higher WA than its profile.
_FEWEST_SPARE_BLOCKS = 4
# Relative errors of op caused by rounding to whole blocks. If the error is above the first,
# `_of_blocks` also tries more blocks of fewer pages. If the error that remains is above the second,
# a sentence in `Device.shrunk` states the op; up to the first, it is a `Detail`.
_MATERIAL_ROUNDING = 0.01
_STATED_ROUNDING = 0.001
# Blocks lose at most about 1 in this many of their pages.
_MOST_TRIMMED = 4
# Smallest stated effect of shorter blocks on WA.
_STATED_EFFECT = 0.01
# Layouts in which each LUN collects its own blocks.
_POOLS_OF_LUNS = ("striped-per-lun", "static")
# Largest write cache as a share of the drive; a larger one would absorb the workload.
_MOST_CACHED = 1 / 8

# Order in which dies, chips and channels are reduced, once blocks have the minimum of pages.
_PARALLEL = ("dies_per_chip", "chips_per_channel", "channels")
_BY_SIZE = "(set it with size): "
# Caches that shrink with the drive, by name of their table, with the key of their size.
_CACHES = {"write_cache": "bytes", "map_cache": "bytes", "slc": "static_bytes"}
# Values of one block. They shrink with its pages, so that erases take the same share of the time
# and refreshes cause the same WA.
_OF_A_BLOCK = {"timing": "erase_us", "slc": "erase_us", "refresh": "reads_per_block"}
PAGES_PER_BLOCK = "geometry.pages_per_block"
_CACHE_WORDS = {
    "write_cache": "a write cache",
    "map_cache": "a map cache",
    "slc": "blocks of an SLC cache",
}
_WORDS = {
    "blocks_per_plane": "blocks per plane",
    "dies_per_chip": "dies per chip",
    "chips_per_channel": "chips per channel",
    "channels": "channels",
    "pages_per_block": "pages per block",
}


def sized(shape: Device, op: float, size_bytes: int, *, keep: Collection[str] = ()) -> Device:
    """Return the drive with a logical size of `size_bytes`, rounded down to whole pages.

    A smaller drive first has fewer blocks, down to 64 per die, then fewer pages per block, then
    fewer dies, chips and channels, then fewer blocks, down to 32. A larger drive has more blocks.

    Args:
        shape: the drive of the profile.
        op: over-provisioning to keep.
        size_bytes: logical size.
        keep: values to keep, as "table.key": sizes of caches, values of a block, and
            "geometry.pages_per_block", which is then reduced last; dies have at least 32 blocks.

    Raises:
        WriteampError: the size is too small for the shape, or has too many pages for the engine.
    """
    full_bytes = max(1, round(logical_of(shape.physical_pages, op))) * shape.page_bytes
    pages = size_bytes // shape.page_bytes
    shaped = _shaped(shape, pages, op, size_bytes, keeps_pages=PAGES_PER_BLOCK in keep)
    drive = _with_shorter_times(_of_blocks(shaped, pages, op), shape, shaped, keep)
    sentences = _sentences(shape, drive, op, full_bytes)
    return _with_caches(
        replace(drive, shrunk=(*shape.shrunk, *sentences)), size_bytes / full_bytes, keep
    )


def _shaped(
    shape: Device, logical_pages: int, op: float, size_bytes: int, *, keeps_pages: bool
) -> Device:
    """Return a shape with enough blocks per plane at this number of logical pages."""
    pages, grain = needed_pages(logical_pages, op), _grain(shape)
    least = shape.pages_per_block if keeps_pages else _least_pages(shape)

    def fits(candidate: Device, blocks: int, pages_per_block: int) -> bool:
        fewest = _blocks_per_plane(candidate, blocks)
        return whole_units(pages, candidate.planes * pages_per_block) >= fewest

    enough = _FEWEST_BLOCKS if keeps_pages else _BLOCKS_PER_DIE
    for level in _PARALLEL:
        if fits(shape, enough, least):
            break
        fewest = _blocks_per_plane(shape, enough)
        others = shape.planes // getattr(shape, level) * least * fewest
        most = max(1, math.floor(pages / others * (1 + 1e-12)))
        shape = replace(shape, **{level: min(getattr(shape, level), most)})
    blocks = enough if fits(shape, enough, least) else _FEWEST_BLOCKS
    if fits(shape, blocks, shape.pages_per_block):
        return shape
    fewest = _blocks_per_plane(shape, blocks)
    per_block = math.floor(pages / (shape.planes * fewest) / grain) * grain
    fewest_pages = max(2, grain)
    if per_block < fewest_pages:
        smallest = logical_of(shape.planes * fewest * fewest_pages, op) * shape.page_bytes
        raise RefusedError(
            f"size is {shown_bytes(size_bytes)}; it must be at least "
            f"{shown_bytes(math.ceil(smallest))} for {shape.name}, with {fewest} blocks of "
            f"{fewest_pages} pages in each plane of one die"
        )
    return replace(shape, pages_per_block=per_block)


def _blocks_per_plane(shape: Device, per_die: int) -> int:
    """Return the blocks per plane with which a die has enough erase units, at most its own."""
    planes = shape.planes_per_die if shape.erase_unit == "block" else 1
    return min(math.ceil(per_die / planes), shape.blocks_per_plane)


def _least_pages(shape: Device) -> int:
    """Return the pages per block with which erase units still have enough pages."""
    grain, per_plane = _grain(shape), shape.pages_per_erase_unit // shape.pages_per_block
    return min(math.ceil(_PAGES_PER_UNIT / per_plane / grain) * grain, shape.pages_per_block)


def _with_shorter_times(
    drive: Device, profile: Device, shaped: Device, keep: Collection[str]
) -> Device:
    """Return the drive with the values of a block in proportion to its pages.

    Blocks that lost a few pages only because of rounding keep these values.
    """
    share = shaped.pages_per_block / profile.pages_per_block
    tables = tables_of(drive.times_json)
    if share == 1 or not tables:
        return drive
    for name, key in _OF_A_BLOCK.items():
        value = tables.get(name, {}).get(key, 0)
        if value and f"{name}.{key}" not in keep:
            smaller = value * share
            tables[name][key] = max(1, round(smaller)) if name == "refresh" else smaller
    return replace(drive, times_json=canonical(tables, drive.name))


def _grain(shape: Device) -> int:
    """Return the step of the pages per block: pages of a plane in one program operation."""
    return shape.flash_page_bytes // shape.page_bytes * shape.pages_per_word_line


def _of_blocks(shape: Device, logical_pages: int, op: float) -> Device:
    """Return the drive of whole blocks with the closest op.

    It has the fewest and largest blocks that give about this op. On a small drive, one block more
    or less would change op much, so blocks may have a few pages less than the profile's.
    """
    grain, pages = _grain(shape), needed_pages(logical_pages, op)
    whole = shape.pages_per_block // grain
    fewest = _blocks_per_plane(shape, _FEWEST_BLOCKS)
    first = max(round(pages / (shape.planes * shape.pages_per_block)), fewest)
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
    assert closest is not None, "at least the largest number of blocks leaves spare pages"
    _, blocks, pages_per_block = closest
    return replace(
        shape,
        logical_pages=logical_pages,
        pages_per_block=pages_per_block,
        blocks_per_plane=blocks,
    )


def _with_caches(drive: Device, share: float, keep: Collection[str]) -> Device:
    """Return the smaller drive with smaller caches.

    A write cache keeps its size up to 1/8 of the drive. A map cache keeps its share of the table,
    which determines its miss rate. An SLC cache keeps its share of the drive.
    """
    tables = tables_of(drive.times_json)
    caches = {name: tables.get(name, {}).get(key, 0) for name, key in _CACHES.items()}
    if share >= 1 or not any(caches.values()):
        return drive
    page_bytes = drive.page_bytes
    limits = {
        "write_cache": int(drive.capacity_bytes * _MOST_CACHED),
        "map_cache": math.ceil(caches["map_cache"] * share / page_bytes) * page_bytes,
        "slc": math.ceil(caches["slc"] * share / page_bytes) * page_bytes,
    }
    sentences = list(drive.shrunk)
    for name, size in caches.items():
        limit = max(limits[name], 2 * page_bytes)
        if size > limit and f"{name}.{_CACHES[name]}" not in keep:
            tables[name][_CACHES[name]] = limit
            sentences.append(
                f"{drive.name} has {_CACHE_WORDS[name]} of {shown_bytes(limit)} instead of "
                f"{shown_bytes(size)}, because the drive is smaller than its profile"
            )
    return replace(drive, times_json=canonical(tables, drive.name), shrunk=tuple(sentences))


def is_of_blocks_only(sentence: str) -> bool:
    """Return whether a sentence of `Device.shrunk` states a change of the block count only."""
    _, _, changes = sentence.partition(_BY_SIZE)
    return changes.startswith(_WORDS["blocks_per_plane"]) and "," not in changes


def _sentences(shape: Device, drive: Device, op: float, full_bytes: int) -> tuple[str, ...]:
    changes = [
        f"{words} {getattr(shape, name)} → {getattr(drive, name)}"
        for name, words in _WORDS.items()
        if getattr(shape, name) != getattr(drive, name)
    ]
    if not changes:
        return ()
    first = (
        f"{shape.name} has {shown_bytes(drive.capacity_bytes)} instead of "
        f"{shown_bytes(full_bytes)} {_BY_SIZE}{', '.join(changes)}{_effect(shape, drive)}"
    )
    if shape.name == "generic":
        first = Detail(first)
    sentences = (*_cautions(shape, drive), first)
    rounding = abs(drive.op / op - 1)
    if rounding <= _STATED_ROUNDING:
        return sentences
    second = f"op is {drive.op:.4g} instead of {op:.4g}, because {shape.name} has whole blocks"
    return (*sentences, Detail(second) if rounding <= _MATERIAL_ROUNDING else second)


def _effect(shape: Device, drive: Device) -> str:
    """Return what shorter blocks change, or "" if blocks lost a few pages by rounding only."""
    if drive.pages_per_block >= shape.pages_per_block * (1 - 1 / _MOST_TRIMMED):
        return ""
    # WA is as of half a page more spare space per block: Park et al. 2017, eqs. 6-7, at a low op.
    spare, full = (drive.spare_factor + 0.5 / each.pages_per_erase_unit for each in (drive, shape))
    lower = 1 - full / spare
    by = f"about {lower:.0%}" if lower >= _STATED_EFFECT else f"less than {_STATED_EFFECT:.0%}"
    shorter = "; erase times are shorter in proportion" if drive.times_json else ""
    return f", which lowers WA by {by} (greedy collection, uniform writes){shorter}"


def _cautions(shape: Device, drive: Device) -> tuple[str, ...]:
    """Return a warning if the drive has fewer dies than its profile, or few spare blocks."""
    pools = drive.geometry.luns if drive.layout in _POOLS_OF_LUNS else 1
    spare_pages = drive.physical_pages - drive.logical_pages
    spare = spare_pages / drive.pages_per_erase_unit / pools
    blocks = f"{spare:.2g} spare blocks{' per die' if pools > 1 else ''}"
    size = f"--size {shown_bytes(drive.capacity_bytes).replace(' ', '')} leaves"
    if drive.dies < shape.dies and drive.times_json:
        dies = f"{drive.dies} {'die' if drive.dies == 1 else 'dies'} of {shape.dies}"
        return (
            Caution(
                f"{size} {dies}: bandwidth and latency are not those of {shape.name}; WA has "
                f"{blocks}"
            ),
        )
    if spare < _FEWEST_SPARE_BLOCKS and drive.blocks_per_plane < shape.blocks_per_plane:
        return (Caution(f"{size} {blocks}, so WA is not that of {shape.name}"),)
    return ()


def with_blocks(shape: Device, blocks: int) -> Device:
    """Return the drive with `blocks` erase units; its logical size stays undetermined."""
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
    """Return the drive with the number of logical pages that follows from op."""
    physical_pages = shape.physical_pages
    logical_pages = round(logical_of(physical_pages, op))
    if logical_pages < 1:
        raise RefusedError(
            f"op {op:.3g} with {physical_pages} physical pages leaves no logical pages; use more "
            "blocks or a smaller op"
        )
    return _with_spare_pages(replace(shape, logical_pages=logical_pages))


def sized_by_host(shape: Device, logical_pages: int, op: float) -> Device:
    """Return the smallest drive of the shape with these logical pages and at least this op."""
    per_block_index = shape.planes * shape.pages_per_block
    blocks_per_plane = whole_units(needed_pages(logical_pages, op), per_block_index)
    return _with_spare_pages(
        replace(shape, blocks_per_plane=blocks_per_plane, logical_pages=logical_pages)
    )


def needed_pages(logical_pages: int, op: float) -> float:
    """Return the physical pages for a number of logical pages, without rounding.

    Raises:
        WriteampError: more pages than the engine supports.
    """
    physical_pages = physical_of(logical_pages, op)
    if physical_pages >= 2**COUNT_BITS:
        raise WriteampError(
            f"{logical_pages} logical pages with op {op:.4g} need more than {2**COUNT_BITS - 1} "
            f"physical pages, the limit of {COUNT_BITS}-bit page numbers; use a smaller drive"
        )
    return physical_pages


def whole_units(pages: float, unit: int) -> int:
    """Return the number of units, rounded up, that hold a number of pages."""
    # 1000·1.1 is 1100.0000000000002 in floating point, so tiny excesses are ignored.
    return math.ceil(pages / unit * (1 - 1e-12))


def _with_spare_pages(drive: Device) -> Device:
    if drive.logical_pages >= drive.physical_pages:
        raise RefusedError(
            f"{drive.logical_pages} logical pages on {drive.physical_pages} physical pages leave "
            "no over-provisioning; use a larger op or more blocks"
        )
    return drive
