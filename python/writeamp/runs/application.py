"""Application above the host's writes, of workloads that know what their application writes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from writeamp import traces
from writeamp.devices.device import Device
from writeamp.registry.declarations import LAYERED
from writeamp.registry.specs import Spec
from writeamp.results.numbers import four_digits, json_number
from writeamp.runs.loads import engine_load
from writeamp.statistics.steady import analyse
from writeamp.units.byte_sizes import shown_bytes

# Intervals in which the application's writes are counted, to judge whether they are steady.
_INTERVALS = 40


@dataclass(frozen=True)
class ApplicationWrites:
    """Bytes written by the application, the host and the drive in the measured interval.

    Attributes:
        written_bytes, host_bytes, flash_bytes: bytes of each layer.
        change: relative change of the host bytes per application byte from the first half of the
            measured interval to the second.
        is_steady: True if the host bytes per application byte do not drift, by the test that WA
            must pass.
    """

    written_bytes: int
    host_bytes: int
    flash_bytes: int
    change: float
    is_steady: bool

    @staticmethod
    def of(
        load: Spec | traces.PageTrace,
        device: Device,
        used_pages: int,
        *,
        seed: int,
        warmup_pages: int,
        host_pages: int,
        host_bytes: int,
        flash_bytes: int,
    ) -> ApplicationWrites | None:
        """Return the writes of each layer, or None if the load has no application.

        The workload is generated again to count its application's writes, with the same pages as
        in the run.

        Args:
            load: workload or trace.
            device: drive that it writes to.
            used_pages: number of logical pages that it uses.
            seed: seed of the run.
            warmup_pages: page writes of the host before the measured interval.
            host_pages: page writes of the host in the measured interval.
            host_bytes: bytes that the host wrote in the measured interval.
            flash_bytes: bytes programmed in the measured interval.
        """
        if not isinstance(load, Spec) or load.name not in LAYERED or not host_pages:
            return None
        interval_pages = math.ceil(host_pages / _INTERVALS)
        ends = [*range(0, host_pages, interval_pages), host_pages]
        counted = engine_load(load.text, used_pages, device).application_bytes(
            seed=seed, ends=[warmup_pages + end for end in ends]
        )
        if counted is None:
            return None
        host, application = np.diff(ends), np.diff(counted)
        of_application = application / host
        first, second = (half.mean() for half in np.array_split(of_application, 2))
        # The ratio of both is steady if its inverse is, and the host's intervals are equal.
        # A half in which the application wrote nothing has no such ratio.
        is_steady = bool(first and second) and analyse(host, application, warmup=0).steady
        return ApplicationWrites(
            int(application.sum()),
            host_bytes,
            flash_bytes,
            _ratio(first, second) - 1,
            is_steady,
        )

    @property
    def warnings(self) -> list[str]:
        """A warning if the host bytes per application byte are not steady."""
        if self.is_steady:
            return []
        change = (
            "the application wrote nothing in one half"
            if self.change == -1 or math.isnan(self.change)
            else f"those of the host change by {self.change:+.1%} from the first to the second half"
        )
        return [
            f"host and flash bytes per application byte are not steady: {change} of the measured "
            "interval; increase --warmup and --writes"
        ]

    def facts(self) -> dict[str, Any]:
        """Return the bytes of the application, and those of the layers below, as JSON types."""
        return {
            "application": {
                "written_bytes": self.written_bytes,
                "host_bytes_per_application_byte": json_number(
                    _ratio(self.host_bytes, self.written_bytes)
                ),
                "flash_bytes_per_application_byte": json_number(
                    _ratio(self.flash_bytes, self.written_bytes)
                ),
                "steady": self.is_steady,
            }
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return a table row on the bytes of each layer."""
        host = _ratio(self.host_bytes, self.written_bytes)
        flash = _ratio(self.flash_bytes, self.written_bytes)
        text = (
            f"{shown_bytes(self.written_bytes)} written; per byte {four_digits(host)} of the host"
        )
        return [("application", f"{text} and {four_digits(flash)} of flash")]


def _ratio(of_layer: float, of_application: float) -> float:
    return of_layer / of_application if of_application else math.nan
