"""Volumes on one drive: the run of a trace of all, with the volume as the host's hint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import writeamp as wa
from in_process import document, run
from writeamp.runs import loads
from writeamp.volumes import tenants
from writeamp.volumes.fleet import Fleet
from writeamp.volumes.jobs import VolumesTogether
from writeamp.volumes.study import places

DRIVE: dict[str, Any] = {"op": 0.3, "pages_per_block": 16, "repeat": 2}
OPTIONS = "--op 0.3 --pages-per-block 16 --repeat 2"
TENANTS = "single,nvme-fdp:handles=4,hcwf"
COUNTS = ("host_pages", "flash_pages", "erases")


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four volumes, hot and cold, large and small, whose requests all have times of their own."""
    drawn = np.random.default_rng(1)
    device = drawn.choice([9, 10, 2, 300], 20_000, p=[0.4, 0.3, 0.2, 0.1])
    pages = drawn.integers(0, pl.Series(device).replace({9: 60, 10: 900, 2: 400, 300: 1500}))
    op = drawn.choice(["W", "R"], 20_000, p=[0.9, 0.1])
    length = 4096 * drawn.integers(1, 3, 20_000)
    rows = {"d": device, "o": op, "f": 4096 * (pages + 77), "l": length, "t": np.arange(20_000) * 7}
    path = tmp_path_factory.mktemp("together") / "four.csv"
    pl.DataFrame(rows).write_csv(path, include_header=False)
    return path


@pytest.fixture(scope="module")
def fleet(trace: Path) -> Fleet:
    return wa.volumes.split(trace, trace.with_name("four"), trace_format="alibaba").fleet


def test_one_drive_has_the_counters_of_simulate_on_the_trace_of_all(
    fleet: Fleet, trace: Path
) -> None:
    found = wa.volumes.together(fleet, TENANTS, **DRIVE)
    assert found.rows.height == 3
    for row in found.rows.iter_rows(named=True):
        whole = wa.simulate(
            trace=trace, trace_format="alibaba", manager=row["label"], spread=False, **DRIVE
        )
        assert {name: row[name] for name in COUNTS} == {n: getattr(whole, n) for n in COUNTS}
        assert row["logical_pages"] == int(fleet.volumes["written_set_bytes"].sum()) // 4096
    assert [one["hint"] for one in found.managers] == [None, "volume", "volume"]


def test_too_many_volumes_to_count_give_a_note(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("writeamp.volumes.jobs.MOST_TAGS", fleet.volumes.height - 1)
    # No other test has pages of this size, and pages are cached.
    here = {"page_bytes": 2048, "runner": wa.runners.Here()}
    found = wa.volumes.together(fleet, "single", **here, **DRIVE)
    assert found.wa_by_volume == []
    assert "WA by volume is not counted" in " ".join(found.notes)


def test_the_bytes_of_the_volumes_sum_to_those_of_the_drive(fleet: Fleet) -> None:
    found = wa.volumes.together(fleet, TENANTS, **DRIVE)
    names = fleet.volumes["volume"].to_list()
    for row in found.rows.iter_rows(named=True):
        of_run = [one for one in found.wa_by_volume if one["manager"] == row["label"]]
        assert [one["volume"] for one in of_run if one["volume"] is not None] == names
        assert sum(one["host_bytes"] for one in of_run) == 4096 * row["host_pages"]
        assert sum(one["flash_bytes"] for one in of_run) == 4096 * row["flash_pages"]
    whole = wa.volumes.together(fleet, "single", op=0.3, pages_per_block=16, repeat=2, warmup=0)
    of_volumes = {one["volume"]: one for one in whole.wa_by_volume}
    for name, pages in fleet.volumes.select("volume", "page_writes").iter_rows():
        assert of_volumes[name]["host_bytes"] == 2 * 4096 * pages
    # The pages of the smallest volume are overwritten before collection moves them.
    was = [of_volumes[name]["wa"] for name in names]
    smallest = fleet.volumes["written_set_bytes"].arg_min()
    assert was[smallest] == min(was)
    assert was[smallest] < whole.managers[0]["overall_wa"]


def test_the_pages_of_each_volume_lie_beside_those_of_the_next(fleet: Fleet) -> None:
    merged = VolumesTogether(tuple(places(fleet, fleet.volumes))).pages(4096)
    sizes = (fleet.volumes["written_set_bytes"] // 4096).to_list()
    assert merged.device_ends == tuple(np.cumsum(sizes).tolist())
    group = np.searchsorted(merged.device_ends, merged.start[merged.op == 0], side="right")
    written = np.bincount(group, weights=merged.count[merged.op == 0])
    assert written.tolist() == fleet.volumes["page_writes"].to_list()


def test_a_handle_for_each_volume_saves_what_mixing_them_costs(fleet: Fleet) -> None:
    found = wa.volumes.together(
        fleet, "single,nvme-fdp:handles=4,nvme-fdp:handles=1", op=0.5, pages_per_block=8, repeat=4
    )
    mixed, apart, one_handle = (one["overall_wa"] for one in found.managers)
    assert apart < mixed - 0.05
    assert apart < one_handle - 0.05


def test_devices_are_told_alike_of_files_and_of_data_in_memory(trace: Path) -> None:
    read = wa.traces.read(trace, "alibaba")
    of_file = wa.traces.to_pages(read)
    names = pl.Series(read.devices)
    table = read.requests.with_columns(device=names.gather(read.requests["device"]))
    in_memory = wa.traces.to_pages(table)
    assert of_file.device_ends == in_memory.device_ends
    assert len(of_file.device_ends or ()) == 4
    assert wa.traces.to_pages(read, device="10").device_ends is None
    same_pages = wa.traces.to_pages(table.drop("device").with_columns(offset=pl.lit(0)))
    assert same_pages.device_ends is None


def test_more_volumes_than_hints_can_name_are_refused(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tenants, "MOST_GROUPS", 3)
    with pytest.raises(wa.WriteampError, match="at most 3 volumes; these are 4; select fewer"):
        wa.volumes.together(fleet, "single,nvme-fdp", **DRIVE)
    monkeypatch.setattr(loads, "MOST_GROUPS", 3)
    assert wa.volumes.together(fleet, "single", **DRIVE).rows["error"].to_list() == [None]


def test_the_command_keeps_its_runs_and_draws_them(fleet: Fleet, tmp_path: Path) -> None:
    out, plot = tmp_path / "kept", tmp_path / "together.svg"
    words = (
        f"{fleet.folder} --together --managers single,nvme-fdp {OPTIONS} --workers 1 --out {out}"
    )
    said = document("volumes run", f"{words} --plot {plot}")
    assert (said["volumes"], said["runs"], said["skipped"], said["failed"]) == (4, 2, 0, 0)
    assert [one["manager"] for one in said["managers"]] == ["single", "nvme-fdp"]
    assert set(said["wa_by_volume"][0]) == {"manager", "volume", "host_bytes", "flash_bytes", "wa"}
    assert said["managers"][0]["saving"] == 0
    assert "nvme-fdp" in plot.read_text()
    again = document("volumes run", words)
    assert again["skipped"] == 2
    assert again["managers"] == said["managers"]
    assert again["wa_by_volume"] == said["wa_by_volume"]
    assert pl.read_parquet(out / "**" / "*.parquet")["volume"].to_list() == [None, None]
    assert "4 volumes on one drive" in run("volumes run", words).out


def test_a_run_without_an_interval_is_shown_and_drawn(fleet: Fleet, tmp_path: Path) -> None:
    once = f"{fleet.folder} --together --managers single --op 0.3 --pages-per-block 16 --repeat 1"
    plot = tmp_path / "once.svg"
    done = run("volumes run", f"{once} --precondition none --workers 1 --plot {plot}")
    assert done.status == 0, done.err
    assert "WA is not steady and may change in a longer run: single" in done.err
    assert "<svg" in plot.read_text()
