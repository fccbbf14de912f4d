"""Zones of a zone-like workload beside the erase units of the drive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from writeamp import traces
from writeamp.devices.device import Device
from writeamp.registry.declarations import ZONED
from writeamp.registry.specs import Spec
from writeamp.runs.capacity_error import Scale
from writeamp.units.byte_sizes import shown_bytes


@dataclass(frozen=True)
class ZonesOnDrive:
    """Zones on the simulated drive, and the scale of a requested larger drive, or None."""

    active: int
    zone_pages: int
    request_bytes: int
    drive: Device
    scale: Scale | None

    @staticmethod
    def of(
        load: Spec | traces.PageTrace, drive: Device, scale: Scale | None
    ) -> ZonesOnDrive | None:
        """Return the zones of a load on a drive, or None if the load writes no zones."""
        if not isinstance(load, Spec) or load.name not in ZONED:
            return None
        zone_pages = (int(load.params["zone"]) + drive.page_bytes // 2) // drive.page_bytes
        active, request = load.params["active"], load.params["bs"]
        return ZonesOnDrive(int(active), zone_pages, int(request), drive, scale)

    @property
    def erase_units(self) -> float:
        """Size of a zone in erase units of the simulated drive."""
        return self.zone_pages / self.drive.pages_per_erase_unit

    @property
    def requested_erase_units(self) -> float:
        """Size of a zone in erase units of the requested drive."""
        if self.scale is None:
            return self.erase_units
        return self.erase_units * self.scale.factor / self.scale.unit_factor

    def facts(self) -> dict[str, Any]:
        """Return the zones as JSON types; sizes are those of the simulated drive."""
        return {
            "zones": {
                "zone_pages": self.zone_pages,
                "active": self.active,
                "erase_unit_pages": self.drive.pages_per_erase_unit,
                "zone_erase_units": self.erase_units,
                "requested_zone_erase_units": self.requested_erase_units,
            }
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return a table row on the zones and their ratio to the erase unit."""
        unit_pages, page_bytes = self.drive.pages_per_erase_unit, self.drive.page_bytes
        text = (
            f"{self.active} active of {self.zone_pages:,} pages = {self.erase_units:.4g} erase "
            f"units of {unit_pages:,} pages"
        )
        if self.active > 1 and self.request_bytes >= unit_pages * page_bytes:
            text += (
                "; a request fills an erase unit, so active zones share none and WA is about 1 "
                "(erase units of drives have up to gigabytes: --pages-per-block)"
            )
        if self.scale is None or self.scale.is_exact:
            return [("zones", text)]
        zone_bytes = round(self.zone_pages * page_bytes * self.scale.factor)
        unit_bytes = round(unit_pages * page_bytes * self.scale.unit_factor)
        sizes = f"zones of {shown_bytes(zone_bytes)} and erase units of {shown_bytes(unit_bytes)}"
        if abs(self.requested_erase_units / self.erase_units - 1) < 0.01:
            return [("zones", f"{text}, in the ratio of {sizes} on the requested drive")]
        return [
            (
                "zones",
                f"{text}; the requested drive has {sizes}, a ratio of "
                f"{self.requested_erase_units:.4g}, for which the simulated blocks would be too "
                "small",
            )
        ]
