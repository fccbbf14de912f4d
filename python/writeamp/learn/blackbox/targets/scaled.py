"""Scaled-down device of a profile: less flash on each die, but as fast as the whole.

It is quickly restored to its saved state.
"""

from __future__ import annotations

from dataclasses import replace

from writeamp.devices.device import Device, device, profile_op
from writeamp.devices.profile import profile
from writeamp.devices.raid import is_array, parse_array
from writeamp.units.ratios import logical_of

# Large enough that few patterns come to their own pages again within a minute, small enough that a
# state is restored in hundredths of a second.
DEFAULT_BYTES = 8 << 30

# A cache that holds less of a drive than this is hit so rarely that its size does not matter.
_HARDLY_CACHED = 0.01


def scaled(name: str) -> Device:
    """Return the device of a profile, or an array, whose drives show their host at most 8 GiB.

    A drive keeps its dies, which make its speed: it has fewer blocks, and smaller ones where these
    would be too few. A write cache keeps its size up to a hundredth of the drive, or else its share
    of it. A disk is as large as it is.
    """
    found = device(name)
    members = parse_array(name).members if is_array(name) else (name,)
    most_bytes = DEFAULT_BYTES * len(members)
    if found.kind == "disk" or found.capacity_bytes <= most_bytes:
        return found
    if len(set(members)) > 1:
        return device(name, size=most_bytes)
    pages = pages_per_block(members[0], DEFAULT_BYTES)
    whole = profile(members[0]).shape.pages_per_block
    small = device(
        name, size=most_bytes, pages_per_block=pages, write_cache=_write_cache_bytes(members[0])
    )
    if pages == whole:
        return small
    sentence = f"blocks have {pages} pages, not the {whole} of {members[0]}, to keep all its dies"
    return replace(small, shrunk=(*small.shrunk, sentence))


def pages_per_block(name: str, most_bytes: int) -> int:
    """Return the most pages a block, by halves, with which a drive of a size keeps all dies."""
    shape = profile(name).shape
    pages = shape.pages_per_block
    grain = 2 * (shape.pages_per_program // shape.planes_per_program)
    while device(name, size=most_bytes, pages_per_block=pages).dies < shape.dies:
        if pages % grain:
            break
        pages //= 2
    return pages


def _write_cache_bytes(name: str) -> int | None:
    """Return the cache of the small drive; None for that of the profile."""
    shape = profile(name).shape
    cache_bytes = (shape.times or {}).get("write_cache", {}).get("bytes", 0)
    full_bytes = logical_of(shape.physical_pages, profile_op(name)) * shape.page_bytes
    share = max(cache_bytes / full_bytes, _HARDLY_CACHED)
    most_bytes = int(share * DEFAULT_BYTES) // shape.page_bytes * shape.page_bytes
    return most_bytes if cache_bytes > most_bytes else None
