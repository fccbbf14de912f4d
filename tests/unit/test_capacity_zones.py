"""Drives of a stated capacity with zones or tables, whose erase units are scaled as well."""

from __future__ import annotations

from typing import Any

import pytest

import writeamp as wa
from writeamp.runs.zones import ZonesOnDrive
from writeamp.studies.capacity.scale import at_scale, scale_of
from writeamp.studies.capacity.scaled_experiment import ScaledExperiment


@pytest.mark.parametrize(
    ("pages_per_block", "requested"),
    [(2**18, 8), (128, 16384)],
)
def test_zones_keep_their_ratio_to_erase_units_if_blocks_can_be_smaller(
    pages_per_block: int, requested: float
) -> None:
    found = wa.simulate(
        capacity="800GB",
        op=0.44,
        pages_per_block=pages_per_block,
        workload="zones-sequential:zone=8GiB,active=4",
        writes=10**9,
        warmup=0,
        replicas=1,
    )
    zones = found.to_dict()["zones"]
    drive_in_zones = found.device.logical_pages / zones["zone_pages"]
    assert drive_in_zones == pytest.approx(800e9 / 2**33, rel=1e-3)
    assert zones["requested_zone_erase_units"] == pytest.approx(requested, rel=1e-3)
    row = dict(found.card().rows)["zones"]
    if pages_per_block > 128:
        assert zones["zone_erase_units"] == 8
        assert "in the ratio of zones of 8 GiB and erase units of 1 GiB" in row
    else:
        assert zones["erase_unit_pages"] == 64
        assert "a ratio of 1.638e+04, for which the simulated blocks would be too small" in row


def zones_of(experiment: wa.Experiment) -> ZonesOnDrive:
    settings = experiment.device
    (load,) = experiment.load.workloads
    zones = ZonesOnDrive.of(load, wa.device(settings.base, **settings.overrides()), None)
    assert zones is not None
    return zones


@pytest.mark.parametrize(
    ("settings", "zone", "block", "share"),
    [
        # The main drive never has blocks of less than 64 pages.
        ({"pages_per_block": 8192, "capacity": "800GB"}, "64MiB", 22, 1),
        ({"pages_per_block": 2**18, "capacity": "800GB"}, "8GiB", 704, 1),
        # The requested ratio is 64 times as large, and is already not kept by the main drive.
        ({"pages_per_block": 128, "capacity": "800GB"}, "8GiB", 64, 1 / 4),
        # Blocks of a single program cannot be smaller. The same drive would have no error.
        ({"device": "tlc-datacenter", "page_bytes": 512, "capacity": "20GB"}, "1GiB", 96, 1 / 4),
    ],
)
def test_the_drive_of_the_scaling_error_keeps_the_ratio_of_zone_to_erase_unit_if_possible(
    settings: dict[str, Any], zone: str, block: int, share: float
) -> None:
    load = f"zones-sequential:zone={zone}"
    scaled = ScaledExperiment.of(wa.Experiment.of("simulate", **settings, workload=load))
    assert scaled is not None
    assert scaled.smaller is not None
    main, smaller = zones_of(scaled.experiment), zones_of(scaled.smaller)
    assert scaled.smaller.device.pages_per_block == block
    assert smaller.erase_units / main.erase_units == pytest.approx(share, rel=2e-3)
    drives = main.drive, smaller.drive
    assert drives[0].logical_pages / drives[1].logical_pages == pytest.approx(4, rel=2e-3)


def test_scaled_blocks_are_whole_programs_of_the_device() -> None:
    load = "zones-sequential:zone=1GiB"
    requested = wa.Experiment.of(
        "simulate", device="tlc-datacenter", capacity="1TiB", workload=load
    )
    scale = scale_of(requested)
    assert scale is not None
    # The first multiple of 12 pages above the fewest, 64.
    assert at_scale(requested, scale).device.pages_per_block == 72


@pytest.mark.parametrize(
    ("workload", "pages_per_block", "warned"),
    [
        ("lsm", 2**14, None),
        ("lsm", 128, "a table of lsm is 46.6 times as large, in erase units"),
        ("log-rewrite", 128, "an extent of log-rewrite is 46.6 times as large, in erase units"),
    ],
)
def test_tables_keep_their_ratio_to_erase_units_or_a_warning_states_it(
    workload: str, pages_per_block: int, warned: str | None
) -> None:
    requested = wa.Experiment.of(
        "simulate", capacity="800GB", op=0.28, pages_per_block=pages_per_block, workload=workload
    )
    scale = scale_of(requested)
    assert scale is not None
    simulated = at_scale(requested, scale).device.pages_per_block
    if warned is None:
        # Tables are shares of the drive.
        assert pages_per_block / simulated == scale.factor
        assert not scale.warnings
    else:
        assert simulated == 64
        (warning,) = scale.warnings
        assert warned in warning
