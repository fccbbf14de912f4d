"""Devices as values: kind, shape, logical size and times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from writeamp._engine import Geometry as EngineGeometry
from writeamp._engine import check_times
from writeamp.devices.data_sheet import RATED_ERASES
from writeamp.devices.geometry import COUNT, GEOMETRY, LAYOUTS
from writeamp.devices.times import tables_of
from writeamp.errors import WriteampError
from writeamp.fields.domains import Domain, Flag, OneOf, Text, Whole, shown
from writeamp.results.card import Card, Presented

Kind = Literal["flash", "disk", "raid0"]

# Page size in bytes of disks, and of arrays, because the page sizes of members may differ.
SECTOR_BYTES = 512


@dataclass(frozen=True)
class Device(Presented):
    """A drive: its kind, shape, logical size and times.

    With T physical and U logical pages, `fill` = U/T, op = (T−U)/U = 1/fill − 1 and
    spare_factor = (T−U)/T = 1 − fill. `layout` is "flat" (one pool,
    drive-wide collection), "striped" (a write frontier per LUN, drive-wide collection) or
    "striped-per-lun" (each LUN collects).

    `kind` is "flash", "disk" or "raid0". Only flash has a shape; otherwise all counts are 0 and
    pages are sectors of 512 bytes. A "raid0" stripes data over its `members` by `stripe_bytes`.
    `host_page_bytes` is the size of the host's pages if pages are larger mapping units, else 0.
    `times_json` has the tables that `times` returns. `shrunk` has sentences on how `size` changed
    the profile's shape. `rated_erases` is the rated number of erases of a block, or None.

    The `logical_pages` of a flash drive are 0 as long as its size is undetermined, as in a profile.

    Raises:
        WriteampError: an invalid value, or values that contradict each other.
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
    kind: Kind = "flash"
    times_json: str = ""
    is_timed_by_default: bool = False
    shrunk: tuple[str, ...] = ()
    members: tuple[Device, ...] = ()
    stripe_bytes: int = 0
    rated_erases: int | None = None
    host_page_bytes: int = 0

    def __post_init__(self) -> None:
        """Check all values, individually and together."""
        for name, domain in _DOMAINS.items():
            object.__setattr__(self, name, domain.check(name, getattr(self, name)))
        if self.rated_erases is not None:
            RATED_ERASES.check("rated_erases", self.rated_erases)
        if self.kind == "flash":
            self._check_flash()
        elif self.kind == "disk":
            check_times(self.times_json, None)
        else:
            self._check_array()

    def _check_flash(self) -> None:
        for name, domain in GEOMETRY.items():
            object.__setattr__(self, name, domain.check(name, getattr(self, name)))
        Whole(0, COUNT.most).check("logical_pages", self.logical_pages)
        if self.host_page_bytes and self.page_bytes % self.host_page_bytes:
            raise WriteampError(
                f"page_bytes is {self.page_bytes}; it must be a multiple of the host's pages, "
                f"{self.host_page_bytes} bytes"
            )
        # If the size is undetermined, check the shape with one block per plane.
        blocks = self.blocks_per_plane if self.logical_pages else 1
        shape = {name: getattr(self, name) for name in GEOMETRY} | {"blocks_per_plane": blocks}
        geometry = EngineGeometry(**shape)
        if self.times_json:
            check_times(self.times_json, geometry)

    def _check_array(self) -> None:
        are_drives = all(
            isinstance(member, Device) and not member.members for member in self.members
        )
        if len(self.members) < 2 or not are_drives:
            raise WriteampError(
                f"the array {shown(self.name)} has {len(self.members)} members; it must have at "
                "least two, which are flash drives or disks"
            )
        if self.stripe_bytes == 0 or self.stripe_bytes % SECTOR_BYTES:
            raise WriteampError(
                f"stripe_bytes is {self.stripe_bytes}; it must be a multiple of {SECTOR_BYTES}"
            )

    @staticmethod
    def without_flash(name: str, kind: Kind, capacity_bytes: int, **more: Any) -> Device:
        """Return a device without a flash shape, such as a disk."""
        shape: dict[str, Any] = dict.fromkeys(GEOMETRY, 0)
        shape |= {"page_bytes": SECTOR_BYTES, "erase_unit": "block", "layout": "flat"}
        pages = capacity_bytes // SECTOR_BYTES
        return Device(name=name, logical_pages=pages, kind=kind, **shape, **more)

    @staticmethod
    def from_dict(table: Mapping[str, Any]) -> Device:
        """Return the device from the output of `to_dict`.

        Raises:
            TypeError: keys are missing or unknown.
        """
        members = tuple(Device.from_dict(member) for member in table.get("members", ()))
        lists = {"members": members, "shrunk": tuple(table.get("shrunk", ()))}
        return Device(**(dict(table) | lists))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON types; fields with their default value are left out."""
        values = {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if getattr(self, field.name) != field.default
        }
        for name, plain in (
            ("shrunk", list(self.shrunk)),
            ("members", [member.to_dict() for member in self.members]),
        ):
            if name in values:
                values[name] = plain
        return values

    def card(self) -> Card:
        """Return shape, size and spare space as a table."""
        rows = [("kind", self.kind), ("logical size", f"{self.capacity_bytes:,} bytes")]
        if self.kind == "flash":
            rows += [
                ("channels × chips × dies × planes", " × ".join(map(str, self._levels()))),
                ("blocks per plane", f"{self.blocks_per_plane:,}"),
                ("pages per block", f"{self.pages_per_block:,} of {self.page_bytes:,} bytes"),
                ("op = (T-U)/U", f"{self.op:.4g}; spare factor {self.spare_factor:.4g}"),
                ("layout", self.layout),
            ]
        rows += [("member", member.name) for member in self.members]
        return Card(f"Device {self.name}", rows, notes=self.shrunk)

    def _records(self) -> list[dict[str, Any]]:
        return [{"name": self.name} | self.facts()]

    def _levels(self) -> tuple[int, ...]:
        return self.channels, self.chips_per_channel, self.dies_per_chip, self.planes_per_die

    @property
    def times(self) -> Mapping[str, Any] | None:
        """Tables of times by name, in the engine's format, or None."""
        return tables_of(self.times_json) or None

    @property
    def has_slc_cache(self) -> bool:
        """True if an SLC cache (one bit per cell) takes writes first."""
        table = tables_of(self.times_json).get("slc", {})
        return bool(table.get("static_bytes", 0) or table.get("dynamic_share", 0))

    @property
    def geometry(self) -> EngineGeometry:
        """The engine's form of the shape, in which a block is an erase unit.

        Raises:
            WriteampError: not a flash drive, or more pages than the engine supports.
        """
        self.check_flash()
        return EngineGeometry(**self.shape())

    def check_flash(self) -> None:
        """Check that the device is one flash drive, not a disk or an array.

        Raises:
            WriteampError: not a flash drive.
        """
        if self.kind != "flash":
            raise WriteampError(
                f"{self.name} is a {self.kind}, not one flash drive; use it in timed runs only"
            )

    def shape(self) -> dict[str, Any]:
        """Return the arguments of the engine's geometry by name."""
        # In a superblock, pages are always distributed over the dies by program units.
        stripe_pages = 1 if self.erase_unit == "superblock" else self.pages_per_program
        return {name: getattr(self, name) for name in GEOMETRY} | {"stripe_pages": stripe_pages}

    @property
    def physical_pages(self) -> int:
        """Number of physical pages."""
        return self.geometry.physical_pages

    @property
    def capacity_bytes(self) -> int:
        """Logical size in bytes."""
        return self.logical_pages * self.page_bytes

    @property
    def pages_per_unit(self) -> int:
        """Pages of the host in a mapping unit, which is a page of the drive."""
        return self.page_bytes // (self.host_page_bytes or self.page_bytes)

    @property
    def page_noun(self) -> str:
        """Name of a page of the drive: "mapping unit" if the host's pages are smaller."""
        return "mapping unit" if self.host_page_bytes else "page"

    @property
    def dies(self) -> int:
        """Number of dies, each with a Ready/Busy pin; an array has the dies of all members."""
        own = self.channels * self.chips_per_channel * self.dies_per_chip
        return own + sum(member.dies for member in self.members)

    @property
    def planes(self) -> int:
        """Number of planes in the drive."""
        return self.channels * self.chips_per_channel * self.dies_per_chip * self.planes_per_die

    @property
    def flash_page_bytes(self) -> int:
        """Bytes of a flash page, which may hold several mapping units of `page_bytes`."""
        return self._program("flash_page_bytes", 0) or self.page_bytes

    @property
    def states_flash_page(self) -> bool:
        """True if the profile states the size of a flash page."""
        return self._program("flash_page_bytes", 0) > 0

    @property
    def planes_per_program(self) -> int:
        """Planes of a die that one program operation writes."""
        return self._program("planes", 1)

    @property
    def pages_per_word_line(self) -> int:
        """Flash pages of a plane that one program operation writes."""
        return self._program("pages_per_word_line", 1)

    @property
    def pages_per_program(self) -> int:
        """Pages (mapping units) that one program operation writes."""
        units = self.flash_page_bytes // self.page_bytes
        return units * self.planes_per_program * self.pages_per_word_line

    @property
    def pages_per_erase_unit(self) -> int:
        """Pages of an erase unit: a block, the blocks of a die's planes, or of all planes."""
        planes = {"block": 1, "multi-plane": self.planes_per_die, "superblock": self.planes}
        return self.pages_per_block * planes[self.erase_unit]

    @property
    def fill(self) -> float:
        """Logical pages U divided by physical pages T."""
        return self.logical_pages / self.physical_pages

    @property
    def op(self) -> float:
        """Over-provisioning (T−U)/U, with T physical and U logical pages."""
        return (self.physical_pages - self.logical_pages) / self.logical_pages

    @property
    def spare_factor(self) -> float:
        """Spare factor (T−U)/T, with T physical and U logical pages."""
        return (self.physical_pages - self.logical_pages) / self.physical_pages

    def facts(self) -> dict[str, Any]:
        """Return sizes and ratios as JSON types; blocks are erase units."""
        facts: dict[str, Any] = {"kind": self.kind, "capacity_bytes": self.capacity_bytes}
        if self.kind == "flash":
            facts |= {
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
        if self.host_page_bytes:
            facts["host_page_bytes"] = self.host_page_bytes
        return facts | {"shrunk": list(self.shrunk)}

    def meaning(self, *, with_times: bool) -> dict[str, Any]:
        """Return the fields that determine results of runs, for the keys of stored runs.

        The drive's name is left out, because drives of the same shape give the same results.

        Args:
            with_times: True for timed runs, which depend on times.
        """
        left_out = {"name", "shrunk", "is_timed_by_default", "rated_erases"}
        values = {key: value for key, value in self.to_dict().items() if key not in left_out}
        if not with_times:
            values.pop("times_json", None)
        if self.members:
            values["members"] = [member.meaning(with_times=with_times) for member in self.members]
        return values

    def with_extra_blocks(self, blocks_per_plane: int, *, keeps_op: bool = False) -> Device:
        """Return the drive with more blocks in each plane.

        Args:
            blocks_per_plane: blocks to add to each plane; negative to remove.
            keeps_op: scale the logical size to keep op, instead of keeping the logical size.
        """
        blocks = self.blocks_per_plane + blocks_per_plane
        logical_pages = self.logical_pages
        if keeps_op:
            logical_pages = max(1, round(logical_pages * blocks / self.blocks_per_plane))
        return replace(self, blocks_per_plane=blocks, logical_pages=logical_pages)

    def _program(self, key: str, default: int) -> int:
        return int(tables_of(self.times_json).get("program", {}).get(key, default))


# The geometry's domains (valid values) are separate, because only flash drives have a geometry.
_DOMAINS: dict[str, Domain] = {
    "name": Text(),
    "kind": OneOf(get_args(Kind)),
    "layout": OneOf(LAYOUTS),
    "logical_pages": Whole(0),
    "times_json": Text(),
    "is_timed_by_default": Flag(),
    "stripe_bytes": Whole(0),
    "host_page_bytes": Whole(0),
}
