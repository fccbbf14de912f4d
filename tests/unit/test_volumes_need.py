"""Needs of a fleet: the op that is found gives the overall WA; the costliest volumes."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import writeamp as wa
from fleets import split_fleet
from in_process import document
from writeamp.volumes import needs
from writeamp.volumes.fleet import Fleet


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    folder, day = tmp_path_factory.mktemp("fleet"), {"requests": 24_000, "duration": "12h"}
    return split_fleet(folder, volumes=12, size="2MiB", size_sigma=0.5, **day)


def test_the_op_that_is_found_gives_the_overall_wa(fleet: Fleet, tmp_path: Path) -> None:
    found = wa.volumes.need(
        1.8, fleet, "single", keep=tmp_path / "runs", pages_per_block=8, repeat=3
    )
    low, high = found.op_ci95
    assert low < found.op < high
    again = wa.volumes.run(fleet, "single", op=found.op, pages_per_block=8, repeat=3)
    assert again.managers[0]["overall_wa"] == pytest.approx(1.8, rel=0.01)
    kept = wa.volumes.need(
        1.8, fleet, "single", keep=tmp_path / "runs", pages_per_block=8, repeat=3
    )
    assert kept.op == found.op
    assert kept.at.store_stats is not None
    assert kept.at.store_stats.done == 0


def test_wear_and_cost_are_those_of_the_volumes(fleet: Fleet) -> None:
    found = wa.volumes.need(1.8, fleet, "single", pages_per_block=8, repeat=3)
    pages = fleet.volumes["written_set_bytes"].sum() / 4096
    assert found.days == pytest.approx(0.5, rel=0.01)
    expected = fleet.volumes["page_writes"].sum() / pages / found.days
    assert found.drive_writes_per_day == pytest.approx(expected)
    costliest = found.costliest
    assert len(costliest) == 10
    assert costliest == sorted(costliest, key=lambda one: -one["extra_page_programs"])
    common = found.at.common
    extra = ((common["single"] - 1) * common["page_writes"]).sum()
    assert costliest[0]["share"] == pytest.approx(costliest[0]["extra_page_programs"] / extra)
    assert costliest[0]["extra_page_programs"] == pytest.approx(
        common.select(((pl.col("single") - 1) * pl.col("page_writes")).max()).item()
    )


def test_a_search_meets_a_power_law_at_once_and_refuses_what_cannot_be() -> None:
    found = needs._search(lambda op: 1 + 0.2 * op**-0.8, 1.5)
    assert len(found) == 3
    assert min(abs(wa_of - 1.5) for wa_of in found.values()) < 0.001
    with pytest.raises(wa.WriteampError, match="no op from"):
        needs._search(lambda op: 1 + 0.2 * op**-0.8, 1.001)


def test_the_command_says_it(fleet: Fleet) -> None:
    said = document(
        "volumes need", f"{fleet.folder} --target-wa 1.8 --pages-per-block 8 --repeat 3 --workers 1"
    )
    assert {"op", "op_ci95", "costliest", "drive_writes_per_day", "tried"} <= set(said)
    assert said["manager"] == "single"
