"""Runs of a fleet: each is what `simulate` finds, and what is said of all follows from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import writeamp as wa
from fleets import split_fleet
from in_process import document, run
from writeamp.errors import Interrupted
from writeamp.reports.headlines.headline import headline
from writeamp.runners import Here, Threads
from writeamp.settings.compared import PoliciesSettings
from writeamp.volumes.fleet import Fleet
from writeamp.volumes.result import FleetRun
from writeamp.volumes.settings import (
    ComparedSettings,
    SelectionSettings,
)
from writeamp.volumes.statistics import VolumeWa, classes, compared
from writeamp.volumes.study import run_fleet

MANAGERS = "single,sepgc"
DRIVE: dict[str, Any] = {"op": 0.2, "pages_per_block": 16, "repeat": 2}
OPTIONS = "--op 0.2 --pages-per-block 16 --repeat 2"
COUNTS = ("host_pages", "flash_pages", "erases", "wa")


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    folder = tmp_path_factory.mktemp("fleet")
    return split_fleet(folder, volumes=6, requests=12_000, size="2MiB", size_sigma=0.8)


def ran(fleet: Fleet, **asked: Any) -> FleetRun:
    policies = PoliciesSettings(managers=asked.pop("managers", MANAGERS))
    return run_fleet(fleet, policies, **{"runner": Here(), **DRIVE, **asked})


def test_each_run_has_the_counters_of_simulate_on_the_volumes_own_trace(fleet: Fleet) -> None:
    original = fleet.folder.with_name("fleet.csv")
    found = ran(fleet).rows
    assert found.height == 12
    for row in found.iter_rows(named=True):
        own = wa.simulate(
            trace=original,
            trace_format="alibaba",
            trace_device=row["volume"],
            manager=row["label"],
            spread=False,
            **DRIVE,
        )
        assert {name: row[name] for name in COUNTS} == {n: getattr(own, n) for n in COUNTS}
        assert {f"{name}_programs": count for name, count in own.causes.items()} == {
            f"{name}_programs": row[f"{name}_programs"] for name in own.causes
        }
        assert (row["wa_low"], row["wa_high"]) == own.ci or np.isnan(own.ci[0])


def counters(found: FleetRun) -> pl.DataFrame:
    return found.rows.sort("volume", "label")


def test_threads_and_an_interruption_change_nothing(fleet: Fleet, tmp_path: Path) -> None:
    whole = ran(fleet, keep=tmp_path / "whole")
    done = []

    def stop(now: int, runs: int) -> None:
        done.append(now)
        if now >= 5:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        ran(fleet, keep=tmp_path / "stopped", progress=stop)
    assert stopped.value.finished.rows.height == 5
    assert len(stopped.value.finished.unfinished) == 7
    again = ran(fleet, keep=tmp_path / "stopped", runner=Threads(2))
    assert again.store_stats is not None
    assert (again.store_stats.done, again.store_stats.skipped) == (7, 5)
    assert counters(again).equals(counters(whole))
    assert again.to_dict()["managers"] == whole.to_dict()["managers"]


def test_the_folder_has_a_row_for_each_volume_and_manager(fleet: Fleet, tmp_path: Path) -> None:
    found = ran(fleet, keep=tmp_path / "results")
    rows = pl.read_parquet(tmp_path / "results" / "**" / "*.parquet")
    assert rows.height == 12
    assert set(rows["volume"]) == set(fleet.volumes["volume"])
    assert set(rows["manager"]) == {"single", "sepgc"}
    columns = ["volume", "manager", *COUNTS]
    assert (
        rows.select(columns)
        .sort(columns)
        .equals(found.rows.rename({"label": "_"}).select(columns).sort(columns))
    )


def test_a_third_manager_and_other_settings_do_only_the_new_runs(
    fleet: Fleet, tmp_path: Path
) -> None:
    ran(fleet, keep=tmp_path / "results")
    more = ran(fleet, keep=tmp_path / "results", managers="single,dac,sepgc")
    assert more.store_stats is not None
    assert (more.store_stats.done, more.store_stats.skipped) == (6, 12)
    other = ran(fleet, keep=tmp_path / "results", op=0.3)
    assert other.store_stats is not None
    assert (other.store_stats.done, other.store_stats.skipped) == (12, 0)


def test_the_largest_volumes_are_run_first(fleet: Fleet) -> None:
    writes = dict(fleet.volumes.select("volume", "page_writes").iter_rows())
    order = [writes[name] for name in ran(fleet).rows["volume"]]
    assert order == sorted(order, reverse=True)


def test_overall_wa_is_the_programs_over_the_writes_of_all(fleet: Fleet) -> None:
    """Of one pass over an empty drive, all of it counted, both are those of the counters."""
    found = ran(fleet, repeat=1, precondition="none", warmup=0)
    for one in found.managers:
        rows = found.rows.filter(pl.col("label") == one["manager"])
        expected = rows["flash_pages"].sum() / rows["host_pages"].sum()
        assert one["overall_wa"] == pytest.approx(expected, rel=1e-12)
        assert one["median_wa"] == pytest.approx(rows["wa"].median())


def test_volumes_that_are_too_small_are_named(fleet: Fleet) -> None:
    smallest = fleet.volumes.sort("written_set_bytes")["volume"][0]
    pages = int(fleet.volumes["written_set_bytes"].min()) // 4096  # type: ignore[arg-type]
    found = ran(fleet, pages_per_block=max(2, pages // 2))
    assert smallest in found.too_small["volume"].to_list()
    assert found.failed.is_empty()
    said = found.to_dict()
    assert {one["volume"] for one in said["too_small"]} == set(found.too_small["volume"])
    assert said["compared_volumes"] == 6 - found.too_small["volume"].n_unique()
    assert any(smallest in note for note in found.notes)


def test_a_policy_that_no_volume_fits_has_a_reason_and_the_others_are_compared(
    fleet: Fleet, tmp_path: Path
) -> None:
    found = ran(fleet, managers="dac,single,sepgc", op=0.02)
    assert list(found.omitted) == ["dac"]
    assert found.baseline == "single"
    rows = {row["manager"]: row for row in found.to_dict()["managers"]}
    assert rows["dac"]["overall_wa"] is None
    assert rows["single"]["reason"] is None
    assert rows["sepgc"]["overall_wa"] == ran(fleet, op=0.02).managers[1]["overall_wa"]
    assert found.card().rows[0][:2] == ("dac", "–")
    assert found.card().legend[0].startswith("dac cannot run: ")
    op = rows["dac"]["working_op"]
    assert rows["dac"]["reason"].endswith(f"; --op {op:g} works")
    # Every volume fits at this op, but not at a smaller one in whole per cents.
    assert ran(fleet, managers="dac", op=op).too_small.is_empty()
    assert not ran(fleet, managers="dac", op=op - 0.01).too_small.is_empty()
    command = f"{fleet.folder} --op 0.02 --pages-per-block 16 --repeat 2 --managers"
    done = run("volumes run", f"{command} dac,single --plot {tmp_path}/f.svg")
    assert done.status == 0
    none = run("volumes run", f"{command} dac")
    assert (none.status, none.out) == (2, "")
    assert none.err.startswith("writeamp: dac: the drive is too small for dac")
    shared = document("volumes run", f"{command} dac:regions=64,single --together")
    assert [row["overall_wa"] is None for row in shared["managers"]] == [True, False]
    assert "works" in shared["managers"][0]["reason"]


def test_a_run_that_failed_is_done_again_and_one_too_small_is_not(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from writeamp.volumes import jobs  # noqa: PLC0415

    def fail(*_: Any) -> Any:
        raise wa.WriteampError("no luck")

    with monkeypatch.context() as patched:
        patched.setattr(jobs, "simulate_untimed", fail)
        failed = ran(fleet, keep=tmp_path / "results")
    assert failed.failed.height == 12
    assert [one["overall_wa"] for one in failed.managers] == [None, None]
    assert "no luck" in failed.warnings[0]
    again = ran(fleet, keep=tmp_path / "results")
    assert again.store_stats is not None
    assert (again.store_stats.done, again.failed.height) == (12, 0)
    large = ran(fleet, keep=tmp_path / "results", pages_per_block=100_000)
    assert large.too_small.height == 12
    same = ran(fleet, keep=tmp_path / "results", pages_per_block=100_000)
    assert same.store_stats is not None
    assert (same.store_stats.skipped, same.too_small.height) == (12, 12)


def test_savings_intervals_are_of_pairs() -> None:
    """A policy that spares each volume a tenth spares every fleet of them a tenth."""
    random = np.random.default_rng(3)
    base = 1 + random.exponential(1, 50)
    page_writes = random.lognormal(8, 1, 50)
    found = VolumeWa(np.stack([base, 0.9 * base, base[::-1]], axis=1), page_writes)
    first, tenth, other = compared(found, ("a", "b", "c"), 0, resamples=500, seed=1)
    assert tenth["saving"] == pytest.approx(0.1)
    assert tenth["saving_ci95"] == pytest.approx([0.1, 0.1])
    low, high = tenth["overall_wa_ci95"]
    assert low < tenth["overall_wa"] < high
    assert other["saving_ci95"][0] < 0 < other["saving_ci95"][1]
    assert first["wins"] + tenth["wins"] + other["wins"] == 50
    assert first["wins"] == 0


def test_the_interval_of_the_overall_wa_covers_that_of_its_kind() -> None:
    random = np.random.default_rng(5)
    inside = 0
    for seed in range(100):
        wa_of = 1 + random.exponential(1, (80, 1))
        low, high = np.quantile(
            VolumeWa(wa_of, np.ones(80)).resampled(400, seed)[:, 0], (0.025, 0.975)
        )
        inside += low < 2 < high
    assert 85 <= inside <= 100


def test_classes_are_thirds_with_their_winners() -> None:
    wa_of = np.array([[2.0, 1.0], [2.0, 1.5], [2.0, 3.0], [2.0, 3.0], [2.0, 2.0], [2.0, 4.0]])
    skew = np.arange(6.0)
    rows = classes(VolumeWa(wa_of, np.ones(6)), ("a", "b"), {"skew": skew})
    assert [one["volumes"] for one in rows] == [2, 2, 2]
    assert [one["best"] for one in rows] == ["b", "a", "a"]
    assert rows[0]["overall_wa"] == {"a": 2.0, "b": 1.25}
    assert rows[2]["wins"] == {"a": 2, "b": 1}


def test_the_command_says_what_it_found_and_draws_it(fleet: Fleet, tmp_path: Path) -> None:
    out, plot = tmp_path / "results", tmp_path / "fleet.png"
    words = f"{fleet.folder} --managers {MANAGERS} {OPTIONS} --out {out} --workers 1"
    said = document("volumes run", f"{words} --plot {plot}")
    assert {"volumes", "runs", "skipped", "failed", "managers", "out"} <= set(said)
    assert (said["volumes"], said["runs"], said["skipped"], said["failed"]) == (6, 12, 0, 0)
    keys = {
        "manager",
        "overall_wa",
        "overall_wa_ci95",
        "median_wa",
        "saving",
        "saving_ci95",
        "wins",
    }
    assert all(keys <= set(one) for one in said["managers"])
    assert plot.read_bytes().startswith(b"\x89PNG")
    again = document("volumes run", words)
    assert (again["skipped"], again["managers"]) == (12, said["managers"])
    printed = run("volumes run", words).out
    assert "Best policy by volume type" in printed
    assert printed.startswith("Lowest overall WA of 6 volumes: ")
    unsteady = sum(one["unsteady"] for one in said["managers"])
    assert (printed.count("6 of 6") == 3) == (unsteady == 12) == bool(said["warnings"])
    some = [one | {"volumes": 4} for one in said["managers"]]
    assert headline(said | {"managers": some, "compared_volumes": 4}).startswith(
        "Lowest overall WA of 4 of 6 volumes: "
    )
    chosen = document("volumes run", f"{words} --sample 3 --baseline sepgc")
    assert (chosen["volumes"], chosen["skipped"]) == (3, 6)
    assert chosen["managers"][1]["saving"] == 0


def test_what_cannot_be_is_refused_before_a_run(fleet: Fleet) -> None:
    with pytest.raises(wa.WriteampError, match="baseline"):
        ran(fleet, compared=ComparedSettings(baseline="dac"))
    with pytest.raises(wa.WriteampError, match="each volume has its own drive"):
        ran(fleet, precondition="aged:other.csv")
    with pytest.raises(wa.WriteampError, match="no volume"):
        ran(fleet, selection=SelectionSettings(where="drive_writes > 1e9"))
