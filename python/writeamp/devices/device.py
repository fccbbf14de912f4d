"""Devices: the shape of a drive, and how much of it the host sees."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, TypeAlias

from writeamp._engine import Geometry as EngineGeometry
from writeamp.devices import toml_text
from writeamp.devices.ratios import RATIOS, at_most_one, op_of
from writeamp.domains import OneOf, Whole, shown
from writeamp.errors import WriteampError, unknown

LAYOUTS = ("flat", "striped", "striped-per-lun", "static")

_GEOMETRY: dict[str, type] = {
    "channels": int,
    "chips_per_channel": int,
    "dies_per_chip": int,
    "planes_per_die": int,
    "blocks_per_plane": int,
    "pages_per_block": int,
    "page_bytes": int,
    "erase_unit": str,
}
_KIND_WORDS = {int: "a whole number", float: "a number", str: "text", dict: "a [table]"}
# What a profile need not say: a drive of one plane with 4 KiB pages.
_FLAT = {
    "channels": 1,
    "chips_per_channel": 1,
    "dies_per_chip": 1,
    "planes_per_die": 1,
    "page_bytes": 4096,
    "erase_unit": "block",
}
# What one erase clears: a block of one plane, those of one index in all planes of a die, or in all
# planes of the drive.
_ERASE_UNITS = ("block", "multi-plane", "superblock")
_COUNT_BITS = 32

# What blocks, pages and bytes of a page may be.
COUNT = Whole(1, 2**_COUNT_BITS - 1)

_SHIPPED = resources.files("writeamp.devices").joinpath("profiles")


@dataclass(frozen=True)
class Device:
    """A drive.

    `fill` is logical over physical pages, T and U being physical and logical size:
    op = (T−U)/U = 1/fill − 1 and spare_factor = (T−U)/T = 1 − fill. If `logical_pages` is set, it
    decides and `fill` follows. `layout` is "flat" (one pool, drive-wide collection), "striped"
    (a write frontier per LUN, drive-wide collection), "striped-per-lun" (each LUN collects) or
    "static" (each LUN collects, and holds the pages whose number modulo the LUNs is its own).
    """

    name: str
    channels: int
    chips_per_channel: int
    dies_per_chip: int
    planes_per_die: int
    blocks_per_plane: int
    pages_per_block: int
    page_bytes: int
    erase_unit: str
    layout: str
    logical_pages: int

    @property
    def geometry(self) -> EngineGeometry:
        """The engine's view of the shape; its block is the erase unit."""
        return _geometry(self)

    @property
    def physical_pages(self) -> int:
        """Pages that the flash holds."""
        return self.geometry.physical_pages

    @property
    def planes(self) -> int:
        """Planes in the drive."""
        return self.channels * self.chips_per_channel * self.dies_per_chip * self.planes_per_die

    @property
    def pages_per_erase_unit(self) -> int:
        """Pages that one erase clears: those of a block, of a die's planes, or of all planes."""
        planes = {"block": 1, "multi-plane": self.planes_per_die, "superblock": self.planes}
        return self.pages_per_block * planes[self.erase_unit]

    @property
    def fill(self) -> float:
        """U/T."""
        return self.logical_pages / self.physical_pages

    @property
    def op(self) -> float:
        """(T−U)/U."""
        return (self.physical_pages - self.logical_pages) / self.logical_pages

    @property
    def spare_factor(self) -> float:
        """(T−U)/T."""
        return (self.physical_pages - self.logical_pages) / self.physical_pages

    def facts(self) -> dict[str, Any]:
        """Return the sizes and ratios, as JSON types; a block is the erase unit."""
        return {
            "op": self.op,
            "fill": self.fill,
            "spare_factor": self.spare_factor,
            "pages_per_block": self.geometry.pages_per_block,
            "blocks": self.geometry.blocks,
            "physical_pages": self.physical_pages,
            "logical_pages": self.logical_pages,
            "page_bytes": self.page_bytes,
            "layout": self.layout,
        }

    def with_extra_blocks(self, blocks_per_plane: int) -> Device:
        """Return the drive with so many blocks more in each plane, and the same logical size."""
        return replace(self, blocks_per_plane=self.blocks_per_plane + blocks_per_plane)


DeviceLike: TypeAlias = str | Path | Device


@cache
def profile_names() -> tuple[str, ...]:
    """Return the names of the shipped profiles."""
    return tuple(sorted(f.name.removesuffix(".toml") for f in _SHIPPED.iterdir()))


def profile_summary(name: str) -> str:
    """Return the one-line summary of a shipped profile."""
    text = _SHIPPED.joinpath(f"{name}.toml").read_text("utf-8")
    return str(toml_text.parse(text, name)["summary"])


def device(
    base: DeviceLike = "generic",
    *,
    blocks: int | None = None,
    logical_blocks: int | None = None,
    logical_pages: int | None = None,
    pages_per_block: int | None = None,
    page_bytes: int | None = None,
    op: float | None = None,
    fill: float | None = None,
    spare_factor: float | None = None,
    layout: str | None = None,
) -> Device:
    """Build a device from a profile and what differs from it.

    Args:
        base: a profile's name, the path of a profile TOML, or a device.
        blocks: erase units in the drive.
        logical_blocks: size that the host sees, in erase units; the drive gets as many blocks as
            the over-provisioning asks for, rounded up: N = ceil(U·(1+op)).
        logical_pages: the same in pages.
        pages_per_block: pages of a flash block.
        page_bytes: size of a page.
        op: over-provisioning ratio (T−U)/U, above 0.
        fill: U/T, between 0 and 1.
        spare_factor: (T−U)/T, between 0 and 1.
        layout: "flat", "striped", "striped-per-lun" or "static".

    Raises:
        WriteampError: a value outside its domain, two sizes or two ratios at once, an unknown
            profile or key.

    >>> import writeamp as wa
    >>> drive = wa.device(blocks=1000, pages_per_block=64, op=0.25)
    >>> drive.physical_pages, drive.logical_pages, drive.op
    (64000, 51200, 0.25)
    """
    at_most_one(
        "size of the drive",
        blocks=blocks,
        logical_blocks=logical_blocks,
        logical_pages=logical_pages,
    )
    given_op = op_of(op=op, fill=fill, spare_factor=spare_factor)
    found = base if isinstance(base, Device) else _load(base)
    if pages_per_block is not None:
        found = replace(found, pages_per_block=COUNT.check("pages_per_block", pages_per_block))
    if page_bytes is not None:
        found = replace(found, page_bytes=COUNT.check("page_bytes", page_bytes))
    if layout is not None:
        found = replace(found, layout=_layout(layout))
    wanted_op = profile_op(base) if given_op is None else given_op
    if logical_blocks is not None:
        logical_pages = COUNT.check("logical_blocks", logical_blocks) * found.pages_per_erase_unit
    if logical_pages is not None:
        return _sized_by_host(found, COUNT.check("logical_pages", logical_pages), wanted_op)
    if blocks is not None:
        found = _with_blocks(found, COUNT.check("blocks", blocks))
    return _filled(found, wanted_op)


def profile_op(base: DeviceLike) -> float:
    """Return the op of a profile or a device."""
    # A profile states its ratio exactly; one counted back from whole pages would be a little off.
    return base.op if isinstance(base, Device) else _profile(*_profile_text(base))[1]


def _sized_by_host(shape: Device, logical_pages: int, op: float) -> Device:
    """Return the smallest drive of that shape with at least this op."""
    per_block_index = shape.planes * shape.pages_per_block
    if logical_pages * (1 + op) >= 2**_COUNT_BITS:
        raise WriteampError(
            f"{logical_pages} logical pages with op {op:.4g} need more than the "
            f"{2**_COUNT_BITS - 1} physical pages that a {_COUNT_BITS}-bit page number holds"
        )
    # 1000·1.1 is 1100.0000000000002 in floating point: a hair above a whole number is that number.
    blocks_per_plane = math.ceil(logical_pages * (1 + op) / per_block_index * (1 - 1e-12))
    return _checked(replace(shape, blocks_per_plane=blocks_per_plane, logical_pages=logical_pages))


def _with_blocks(shape: Device, blocks: int) -> Device:
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


def _filled(shape: Device, op: float) -> Device:
    physical_pages = shape.geometry.physical_pages
    return _checked(replace(shape, logical_pages=round(physical_pages / (1 + op))))


def _checked(found: Device) -> Device:
    physical_pages = found.geometry.physical_pages  # refuses shapes that do not fit
    if found.logical_pages < 1:
        raise WriteampError(
            f"fill {found.fill:.3g} of {physical_pages} physical pages leaves no logical page; "
            "use more blocks or a larger fill"
        )
    if found.logical_pages >= physical_pages:
        raise WriteampError(
            f"{found.logical_pages} logical pages on {physical_pages} physical pages leave no "
            "over-provisioning; use a larger op or more blocks"
        )
    return found


def _layout(name: str) -> str:
    return OneOf(LAYOUTS).check("layout", name)


def _load(base: str | Path) -> Device:
    return _filled(*_profile(*_profile_text(base)))


@cache
def _profile(name: str, text: str) -> tuple[Device, float]:
    """Parse a profile: its shape, whose `logical_pages` is still 0, and its op."""
    table = toml_text.parse(text, name)
    _known_keys(name, table, {"summary": str, "source": str, "geometry": dict, "management": dict})
    geometry, management = table.get("geometry", {}), table.get("management", {})
    _known_keys(f"{name}: [geometry]", geometry, _GEOMETRY)
    ratio_types: dict[str, Any] = dict.fromkeys(RATIOS, (int, float))
    _known_keys(f"{name}: [management]", management, ratio_types | {"layout": str})
    geometry = _FLAT | geometry
    missing = [key for key in _GEOMETRY if key not in geometry]
    if missing:
        raise WriteampError(f"{name}: [geometry] lacks {', '.join(missing)}")
    for key, kind in _GEOMETRY.items():
        if kind is int:
            COUNT.check(f"{name}: {key}", geometry[key])
    if geometry["erase_unit"] not in _ERASE_UNITS:
        raise unknown(f"erase_unit in {name}", geometry["erase_unit"], _ERASE_UNITS)
    ratios = {key: management[key] for key in RATIOS if key in management}
    if len(ratios) != 1:
        raise WriteampError(f"{name}: [management] needs exactly one of {', '.join(RATIOS)}")
    op = op_of(**ratios)
    assert op is not None
    layout = _layout(management.get("layout", "flat"))
    return Device(name=name, layout=layout, logical_pages=0, **geometry), op


def _profile_text(base: str | Path) -> tuple[str, str]:
    if not isinstance(base, str | os.PathLike):
        raise WriteampError(
            f"device is {shown(base)}; it must be a profile's name, the path of one, or a Device"
        )
    path = Path(base)
    if path.suffix != ".toml":
        if str(base) not in profile_names():
            raise unknown("device", str(base), (*profile_names(), "or the path of a .toml file"))
        path = Path(str(_SHIPPED.joinpath(f"{base}.toml")))
    return str(base), toml_text.read_text(path, "device profile")


def _known_keys(where: str, table: dict[str, Any], known: dict[str, Any]) -> None:
    for key, value in table.items():
        if key not in known:
            raise unknown(f"key in {where}", key, known)
        if not isinstance(value, known[key]) or isinstance(value, bool):
            kinds = known[key] if isinstance(known[key], tuple) else (known[key],)
            words = " or ".join(_KIND_WORDS[kind] for kind in kinds)
            raise WriteampError(f"{where}: {key} is {shown(value)}; it must be {words}")


def _geometry(shape: Device) -> EngineGeometry:
    return EngineGeometry(
        channels=shape.channels,
        chips_per_channel=shape.chips_per_channel,
        dies_per_chip=shape.dies_per_chip,
        planes_per_die=shape.planes_per_die,
        blocks_per_plane=_fits("blocks", shape.blocks_per_plane),
        pages_per_block=shape.pages_per_block,
        page_bytes=shape.page_bytes,
        erase_unit=shape.erase_unit,
    )


def _fits(name: str, value: int) -> int:
    if value >= 2**_COUNT_BITS:
        raise WriteampError(
            f"the drive would need {value} {name}, more than a {_COUNT_BITS}-bit page number holds"
        )
    return value
