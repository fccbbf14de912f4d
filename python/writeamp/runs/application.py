"""Application above the host's writes, of workloads that know what their application writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from writeamp import traces
from writeamp.devices.device import Device
from writeamp.registry.declarations import LAYERED
from writeamp.registry.specs import Spec
from writeamp.results.numbers import four_digits, json_number
from writeamp.runs.loads import engine_load
from writeamp.units.byte_sizes import shown_bytes


def application_bytes(
    load: Spec | traces.PageTrace,
    device: Device,
    used_pages: int,
    *,
    seed: int,
    warmup_pages: int,
    host_pages: int,
) -> int | None:
    """Return the bytes that the application wrote, or None if the load has no such layer.

    The workload is generated again to count them, with the same pages as in the run.

    Args:
        load: workload or trace.
        device: drive that it writes to.
        used_pages: number of logical pages that it uses.
        seed: seed of the run.
        warmup_pages: page writes of the host before the measured interval.
        host_pages: page writes of the host in the measured interval.
    """
    if not isinstance(load, Spec) or load.name not in LAYERED:
        return None
    workload = engine_load(load.text, used_pages, device)
    return workload.application_bytes(seed=seed, warmup=warmup_pages, writes=host_pages)


@dataclass(frozen=True)
class ApplicationWrites:
    """Bytes written by the application, the host and the drive in the measured interval."""

    written_bytes: int
    host_bytes: int
    flash_bytes: int

    def _per_byte(self, of_layer: int) -> float:
        return of_layer / self.written_bytes if self.written_bytes else float("nan")

    def facts(self) -> dict[str, Any]:
        """Return the bytes of the application, and those of the layers below, as JSON types."""
        return {
            "application": {
                "written_bytes": self.written_bytes,
                "host_bytes_per_application_byte": json_number(self._per_byte(self.host_bytes)),
                "flash_bytes_per_application_byte": json_number(self._per_byte(self.flash_bytes)),
            }
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return a table row on the bytes of each layer."""
        host, flash = self._per_byte(self.host_bytes), self._per_byte(self.flash_bytes)
        text = (
            f"{shown_bytes(self.written_bytes)} written; per byte {four_digits(host)} of the host"
        )
        return [("application", f"{text} and {four_digits(flash)} of flash")]
