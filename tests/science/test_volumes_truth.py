"""Overall WA of a made fleet of uniform volumes is the sum of what theory says of each."""

from __future__ import annotations

from pathlib import Path

import pytest

import writeamp as wa
from forms import FULL
from writeamp.models import expected_value
from writeamp.volumes.settings import FleetSettings, SplitSettings

DRIVE_WRITES = 100 if FULL else 30
WARMUP_DRIVE_WRITES = 10
VOLUMES, PAGES, PAGES_PER_BLOCK = 4, 6144, 32
TOLERANCE = 0.005


@pytest.mark.parametrize("op", [0.15, 0.4])
def test_a_fleet_of_uniform_volumes_has_the_wa_of_theory(tmp_path: Path, op: float) -> None:
    made = wa.volumes.make(
        tmp_path / "fleet.csv",
        FleetSettings(
            volumes=VOLUMES,
            requests=VOLUMES * PAGES * DRIVE_WRITES,
            size=PAGES * 4096,
            size_sigma=0.2,
            traffic_sigma=0,
            skew_high=0,
            sequential=0,
            reads=0,
            drift=0,
            request_pages=1,
        ),
    )
    fleet = wa.volumes.split(made.path, tmp_path / "fleet", SplitSettings("alibaba")).fleet
    found = wa.volumes.run(
        fleet,
        "single",
        victims="fifo",
        op=op,
        pages_per_block=PAGES_PER_BLOCK,
        repeat=1,
        warmup=WARMUP_DRIVE_WRITES * PAGES,
    )
    assert found.common.height == VOLUMES
    rows = found.rows
    weights = rows["trace_pages"] / rows["trace_pages"].sum()
    theory = sum(
        weight * float(expected_value(op_of_drive))
        for weight, op_of_drive in zip(weights, rows["op"], strict=True)
    )
    assert found.managers[0]["overall_wa"] == pytest.approx(theory, rel=TOLERANCE)
