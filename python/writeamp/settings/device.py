"""Settings of the drive; `settings.py` has all others."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from writeamp.devices.device import MAP_CACHE, SIZE, WRITE_CACHE, Device
from writeamp.devices.geometry import COUNT, LAYOUTS, PAGE_BYTES
from writeamp.devices.profile import profile_names
from writeamp.devices.times import Changes
from writeamp.fields.setting import Settings, setting
from writeamp.units.ratios import fill_setting, op_of, op_setting, spare_factor_setting

_CAPACITY = {"panel": "capacity"}


@dataclass(frozen=True)
class DeviceSettings(Settings):
    """Drive: a profile and changes to it; `writeamp.device` checks and builds it."""

    title: ClassVar[str] = "device"

    profile: str | Path | Device | None = setting(
        None,
        None,
        f"device profile ({', '.join(profile_names())}), the path of a .toml file, or raid0:A,B "
        "for a striped array of drives; "
        "by default generic, or for a trace a flat drive of the size of the trace",
        name="device",
        choices=profile_names(),
        not_for=("twin_measure",),
        panel="capacity",
    )
    size: int | None = setting(
        None,
        SIZE,
        "logical size, such as 16GiB or 16G (2^30), or 16GB (10^9): the profile is shrunk to this "
        "size at the same op",
        number="bytes",
        excludes="size",
        **_CAPACITY,
    )
    capacity: int | None = setting(
        None,
        SIZE,
        "logical size of a large drive, such as 1.92TB (10^12) or 1TiB (2^40), simulated by a "
        "smaller drive of the same op and blocks; the result states the error of this scaling "
        "(--size simulates the full size without this error)",
        number="bytes",
        excludes="size",
        not_for=("serve", "twin_measure"),
        is_new=True,
        **_CAPACITY,
    )
    blocks: int | None = setting(
        None, COUNT, "physical size in erase blocks", number="count", excludes="size", **_CAPACITY
    )
    logical_blocks: int | None = setting(
        None,
        COUNT,
        "logical size in erase blocks",
        number="count",
        excludes="size",
        **_CAPACITY,
    )
    logical_pages: int | None = setting(
        None, COUNT, "logical size in pages", number="count", excludes="size", **_CAPACITY
    )
    pages_per_block: int | None = setting(
        None, COUNT, "pages of an erase block", number="count", **_CAPACITY
    )
    page_bytes: int | None = setting(
        None, PAGE_BYTES, "page size, such as 4K", number="bytes", **_CAPACITY
    )
    mapping_unit: int | None = setting(
        None,
        PAGE_BYTES,
        "unit of the drive's map, such as 16KiB, a multiple of the page: a write of less programs "
        "a whole unit, by read-modify-write (default: the page)",
        number="bytes",
        not_for=("twin_measure",),
        is_new=True,
        **_CAPACITY,
    )
    op: float | None = op_setting()
    fill: float | None = fill_setting()
    spare_factor: float | None = spare_factor_setting()
    layout: str | None = setting(
        None,
        None,
        f"how write frontiers and collection are spread over the LUNs (dies): {', '.join(LAYOUTS)} "
        "(default: that of the profile)",
        choices=LAYOUTS,
        **_CAPACITY,
    )
    write_cache: int | str | None = setting(
        None,
        WRITE_CACHE,
        "size of the write cache in memory, or off for none (default: that of the profile)",
        metavar="SIZE|off",
        **_CAPACITY,
    )
    map_cache: int | str | None = setting(
        None,
        MAP_CACHE,
        "memory for the mapping table, whose rest is on flash; all: the whole table is in memory "
        "(default: that of the profile)",
        metavar="SIZE|all",
        **_CAPACITY,
    )
    set: tuple[str, ...] | None = setting(
        None,
        Changes(),
        "change a value of the profile's tables, such as timing.read_us=50 or "
        "timing.program_us=[300,1500]; may be given several times",
        number="texts",
        metavar="TABLE.KEY=VALUE",
        **_CAPACITY,
    )

    def __post_init__(self) -> None:
        """Check every field."""
        if isinstance(self.profile, Path):
            object.__setattr__(self, "profile", str(self.profile))
        super().__post_init__()

    @property
    def is_sized(self) -> bool:
        """True if the size of the drive is given, by a setting or by a profile."""
        return self.profile is not None or self.counts_size

    @property
    def counts_size(self) -> bool:
        """True if a setting gives the size of the simulated drive."""
        sizes = (self.size, self.blocks, self.logical_blocks, self.logical_pages)
        return any(size is not None for size in sizes)

    @property
    def asked_op(self) -> float | None:
        """Over-provisioning from the given op, fill or spare factor, or None."""
        return op_of(op=self.op, fill=self.fill, spare_factor=self.spare_factor)

    @property
    def changes_times(self) -> bool:
        """True if settings change the profile's timing."""
        return (self.write_cache, self.map_cache, self.set) != (None, None, None)

    @property
    def base(self) -> str | Path | Device:
        """Name or path of the profile, or a device; "generic" if none is given."""
        return "generic" if self.profile is None else self.profile

    def overrides(self) -> dict[str, Any]:
        """Return all settings except profile and capacity, as `writeamp.device` takes them."""
        not_of_profile = ("profile", "capacity")
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.name not in not_of_profile
        }
