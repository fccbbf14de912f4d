"""Erase unit of a drive, estimated from WA of zones of several sizes."""

from __future__ import annotations

from typing import Any

import pytest

import writeamp as wa
from writeamp.learn.twin.phases.erase_unit import erase_unit_interval, zone_curve

OP = 0.3
GIB = 2**30
# Zones of one active zone each on the Micron 7450 MAX 800 GB, and WA of the last 40% of four drive
# writes (counters of SSD-iq, PVLDB 18(11), 2025), after a fill with WA 1.0248.
MICRON_GIB = (16, 8, 4, 2.58, 2, 1.061, 1.052, 1.0)
MICRON_WA = (1.044, 1.033, 1.033, 1.049, 1.055, 1.197, 1.231, 1.207)


def measured(zone_pages: int, unit_pages: int) -> float:
    """Return WA of a full drive with this erase unit, over the last 40% of four drive writes."""
    pages = 2**15
    drive: dict[str, Any] = {"logical_pages": pages, "op": OP, "pages_per_block": unit_pages}
    run = {"writes": 4 * pages, "warmup": round(2.4 * pages), "replicas": 1}
    load = f"zones-sequential:zone={zone_pages * 4096},active=1"
    return wa.simulate(**drive, **run, workload=load, seed=zone_pages).wa


@pytest.mark.parametrize("unit_pages", [53, 120, 211])
def test_the_unit_of_a_synthetic_drive_is_found_within_a_quarter(unit_pages: int) -> None:
    zones, factor = (400, 171, 89, 47, 31), 1.03
    found = [factor * measured(zone, unit_pages) for zone in zones]
    interval = erase_unit_interval([zone * 4096 for zone in zones], found, factor, zone_curve(OP))
    assert not isinstance(interval, str)
    low, high = (bound / 4096 / unit_pages for bound in interval)
    assert 0.75 < low < high < 1.25
    assert low < 1.03
    assert high > 0.97


def test_the_micron_has_erase_units_of_about_two_gibibytes() -> None:
    sizes = [size * GIB for size in MICRON_GIB]
    interval = erase_unit_interval(sizes, MICRON_WA, 1.0248, zone_curve(0.441))
    assert not isinstance(interval, str)
    assert 1.7 * GIB < interval[0] < interval[1] < 2.7 * GIB


@pytest.mark.parametrize(
    ("sizes", "found", "reason"),
    [
        ((4, 4), (1.2, 1.3), "two sizes or more"),
        ((1, 2, 4), (1.01, 1.0, 1.005), "no zone amplifies"),
        ((1, 2, 4), (1.0, 1.2, 1.6), "zones alone do not explain it"),
        ((1, 1.01), (1.9, 1.9), "far from the size"),
    ],
)
def test_an_unknown_unit_has_a_reason(
    sizes: tuple[float, ...], found: tuple[float, ...], reason: str
) -> None:
    interval = erase_unit_interval([size * GIB for size in sizes], found, 1.0, zone_curve(OP))
    assert isinstance(interval, str)
    assert reason in interval
