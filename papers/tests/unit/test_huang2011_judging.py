"""Comparison of paper 2 with measurements: readings and scores on synthetic rows."""

from __future__ import annotations

import re
import tomllib
from dataclasses import astuple, replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from writeamp.learn.blackbox.features import feature_sets
from writeamp.learn.blackbox.features.feature_sets import EXTENDED as EXTENDED_FEATURES
from writeamp.learn.blackbox.space import KIB, WorkloadPoint
from writeamp_papers import PAPERS
from writeamp_papers.huang2011 import curve_figures, model_statements, store, tree_choice
from writeamp_papers.huang2011.accuracy import accuracy, tree_for
from writeamp_papers.huang2011.campaign import FULL, SHORT, Runs, stretches
from writeamp_papers.huang2011.curves import judged
from writeamp_papers.huang2011.device_scores import DeviceScores
from writeamp_papers.huang2011.devices import FLASH, built, run_s
from writeamp_papers.huang2011.printed import BASIC, EXTENDED
from writeamp_papers.huang2011.readings import AGED, FRESH, HELD_OUT, READINGS, SHORT_SPAN
from writeamp_papers.huang2011.runs import METRICS, WAYS, Stretch, measured, way_on
from writeamp_papers.huang2011.store import Store, key_of
from writeamp_papers.huang2011.tables import basic_table, extended_table
from writeamp_papers.huang2011.trace_loads import STATISTICS, part_of, wrapped
from writeamp_papers.huang2011.traces import mre
from writeamp_papers.huang2011.tree_choice import TreeSettings, held_out_error
from writeamp_papers.huang2011.workloads import cells, curves, grid, some_cells, specific
from writeamp_papers.items import Item, rises

SMALL = replace(
    SHORT, flash_bytes=1 << 28, cells=6, disk_cells=4, array_cells=4, stretch=6, sizes=2
)


def rows_of(
    points: list[WorkloadPoint], *, factor: float = 1.0, noise: float = 0.0
) -> pl.DataFrame:
    """Return runs of a drive on which a written byte takes four times as long as a read byte."""
    rows = pl.DataFrame([point.to_dict() for point in points])
    writes, random = rows["write_ratio"].to_numpy(), rows["write_randomness"].to_numpy()
    write_kib, read_kib = (rows[f"{one}_size_bytes"].to_numpy() / KIB for one in ("write", "read"))
    a_request = 0.1 + writes * write_kib * (4 + 4 * random) / 100 + (1 - writes) * read_kib / 100
    drawn = np.random.default_rng(5).lognormal(0, noise, len(points)) if noise else 1.0
    latency = factor * rows["queue_depth"].to_numpy() * a_request * drawn
    iops = rows["queue_depth"].to_numpy() * 1e3 / latency
    moved = iops * (writes * write_kib + (1 - writes) * read_kib) / KIB
    return rows.with_columns(
        pl.Series("latency", latency), pl.Series("bandwidth", moved), pl.Series("throughput", iops)
    )


def by_way(points: list[WorkloadPoint], **how: float) -> dict[str, pl.DataFrame]:
    return {way.name: rows_of(points, **how) for way in WAYS}


def runs_of(points: list[WorkloadPoint], *, factor: float = 1.0) -> dict[str, Runs]:
    """Return synthetic runs of a device, by way of making them."""
    return {
        way.name: Runs(
            rows_of(points, factor=factor, noise=0.05),
            {name: rows_of(curve, factor=factor) for name, curve in curves().items()},
            rows_of(specific(4, 2), factor=factor),
        )
        for way in WAYS
    }


@pytest.fixture(scope="module")
def device() -> DeviceScores:
    """Return a device with synthetic runs, and models that are fitted to the runs."""
    runs = runs_of(some_cells(60))
    table = {way: one.grid for way, one in runs.items()}
    return DeviceScores(
        runs,
        accuracy(table, "basic"),
        accuracy(table, "extended"),
        {},
        dict.fromkeys(METRICS, 0.1),
    )


def item(items: list[Item], name: str) -> Item:
    (found,) = (one for one in items if one.item == name)
    return found


def test_the_grid_has_a_cell_for_each_product_and_each_workload_once_or_more() -> None:
    every = cells()
    assert len(every) == 5 * 4 * 5 * 5 * 25
    assert len(grid(len(every), each_once=True)) == len(set(every)) == 7780
    assert sorted(some_cells(10**6)) == sorted(every)
    assert some_cells(50) == some_cells(200)[:50]


def test_specific_workloads_only_read_or_only_write_and_have_one_request_outstanding() -> None:
    points = specific(24, 3)
    assert {one.write_ratio for one in points} == {0, 1}
    assert {one.queue_depth for one in points} == {1}
    sizes = {one.write_size_bytes or one.read_size_bytes for one in points}
    assert (min(sizes), max(sizes)) == (KIB, 256 * KIB)


def test_every_reading_chooses_in_every_detail_and_the_first_is_the_default() -> None:
    assert PAPERS["huang2011"].readings == READINGS
    assert READINGS[0] == AGED
    assert {tuple(one.choices) for one in READINGS} == {tuple(AGED.choices)}


def test_what_is_held_out_was_measured_as_by_default_and_is_scored_by_other_trees() -> None:
    points = some_cells(60)
    rows = by_way(points, noise=0.3)
    found = accuracy(rows, "basic", metrics=("latency",))["latency"]
    assert found[HELD_OUT.name].mre > found[AGED.name].mre
    assert found[HELD_OUT.name].mean == found[AGED.name].mean
    few = points[:20]
    changed = {**by_way(few, noise=0.3), "fresh": rows_of(few, factor=3.0)}
    slower = accuracy(changed, "basic", metrics=("latency",))["latency"]
    assert slower[FRESH.name].mean > 2 * slower[AGED.name].mean
    assert slower[SHORT_SPAN.name].mean == slower[AGED.name].mean


def test_trees_have_the_settings_with_the_least_recorded_error() -> None:
    """The record decides: another candidate is chosen if its errors are lower."""
    record = tomllib.loads(tree_choice.RECORD.read_text(encoding="utf-8"))
    chosen = tree_choice.least_error(record["candidates"])
    tree = tree_for(np.random.default_rng(1).random((200, 3)))
    assert (tree.min_samples_leaf, tree.log_terms) == astuple(chosen)
    assert (tree.folds, tree.split_candidates, tree.smoothing) == (10, 3, 0)
    for candidate in record["candidates"]:
        assert {device: len(errors) for device, errors in candidate["errors"].items()} == (
            dict.fromkeys(record["rows"], len(METRICS))
        )
        better = candidate | {"errors": {"HDD_S": [0.0, 0.0, 0.0]}}
        settings = TreeSettings(candidate["min_samples_leaf"], candidate["log_terms"])
        assert tree_choice.least_error([*record["candidates"], better]) == settings


def test_held_out_errors_are_those_of_unknown_workloads() -> None:
    """Small leaves follow steps of a metric; repeated noise of a workload is no knowledge."""
    draws = np.random.default_rng(3)
    vectors = draws.random((90, 2))
    steps = np.exp(np.floor(8 * vectors[:, 0]) % 2)
    errors = [held_out_error(TreeSettings(rows, False), vectors, steps) for rows in (5, 45)]
    assert errors[0] < 0.7 * errors[1]
    noise = np.repeat(draws.normal(0, 1, 15), 6)
    repeated = np.repeat(vectors[:15], 6, axis=0)
    held_out = held_out_error(TreeSettings(5, False), repeated, np.exp(noise))
    assert held_out > 0.7 * np.abs(noise - noise.mean()).mean()


def test_means_and_errors_of_basic_models_are_values_and_those_of_extended_ones_bounds(
    device: DeviceScores,
) -> None:
    basic, extended = basic_table("SSD_I", device), extended_table("SSD_I", device)
    assert {one.kind for one in basic} == {"value"}
    assert {one.kind for one in extended} == {"bound"}
    assert len(basic) == 12
    assert len(extended) == 9
    mean = item(basic, "Table II, latency, SSD_I: mean (ms)")
    assert mean.published == BASIC["latency"]["SSD_I"].mean
    assert mean.ours == pytest.approx(device.grid["aged"]["latency"].mean())


def test_extended_models_without_the_size_of_writes_are_found_out(
    device: DeviceScores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing feature changes the errors by more than the tolerance of a known difference."""
    sound = device.measure("extended", "latency", "mre")[AGED.name]
    without = replace(
        EXTENDED_FEATURES,
        features=tuple(f for f in EXTENDED_FEATURES.features if f.name != "write_size_bytes"),
    )
    monkeypatch.setitem(feature_sets.FEATURE_SETS, "extended", without)
    broken = accuracy(device.grid, "extended", metrics=("latency",))["latency"][AGED.name].mre
    assert broken > 1.5 * sound


def test_sentences_on_the_figures_turn_when_a_device_is_slower(device: DeviceScores) -> None:
    slow, middle = (
        replace(device, runs=runs_of(some_cells(60), factor=factor)) for factor in (20.0, 6.0)
    )
    usual = judged({"HDD_S": slow, "SSD_I": device, "SSD_S": middle})
    turned = judged({"HDD_S": device, "SSD_I": slow, "SSD_S": middle})
    for name, verdict in (
        ("Fig. 3, SSD_I: latency ÷ the disk's, up to 25% writes, largest", "match"),
        ("Fig. 5: latency of SSD_I ÷ latency of SSD_S, writes", "fitted"),
        ("Fig. 3: share of the write ratios at which SSD_I is not the fastest", "match"),
    ):
        assert item(usual, name).verdict == verdict
        assert item(turned, name).verdict == "differs"
    about = item(usual, "Fig. 3, SSD_I: latency at 10% writes (ms)")
    assert about.ours == device.curve("ratio")[AGED.name][1]
    assert (about.published, about.tolerance) == (2.0, 0.5)


def test_the_share_of_trees_turns_with_the_features_that_they_split(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for second, verdict in (("queue_depth", "match"), ("read_size_bytes", "differs")):
        splits = {way.name: ({"write_randomness"}, {second}) for way in WAYS}
        monkeypatch.setattr(model_statements, "_first_splits", lambda _, splits=splits: splits)
        items = model_statements.of_trees(dict.fromkeys(FLASH, None))  # type: ignore[arg-type]
        assert [one.verdict for one in items] == ["match", verdict]


def test_a_step_the_wrong_way_is_let_pass_once_and_up_to_two_percent() -> None:
    assert rises([1, 2, 3]) < 1
    assert rises([1, 2, 1.98, 3]) < 1
    assert rises([1, 2, 1.95, 3]) > 1
    assert rises([1, 2, 1.98, 3, 2.98]) > 1
    assert rises([1, 1, 1]) == 1


def test_a_straight_line_leaves_nothing_unexplained() -> None:
    assert curve_figures.nonlinearity([1, 2, 4], [3, 5, 9]) == pytest.approx(0, abs=1e-12)
    assert curve_figures.nonlinearity([1, 2, 3], [1, 0, 1]) == pytest.approx(1)
    assert curve_figures.slope([1, 2, 4], [3, 5, 9]) == pytest.approx(2)
    assert curve_figures.mean_ratio([1, 4], [2, 2]) == pytest.approx(1)


def test_printed_extended_models_are_better_than_printed_basic_ones() -> None:
    for metric, devices in BASIC.items():
        for name, basic in devices.items():
            assert EXTENDED[metric][name].mre < basic.mre
            assert EXTENDED[metric][name].r2 > basic.r2


def trace_windows(count: int) -> pl.DataFrame:
    """Return windows of a trace in which a write takes ten times as long as a read."""
    draws = np.random.default_rng(3)
    ratio = draws.random(count)
    columns = {name: np.zeros(count) for name in EXTENDED_FEATURES.names}
    columns |= {
        "write_ratio": ratio,
        "queue_depth": np.ones(count),
        "write_size_bytes": draws.integers(1, 64, count) * 4096.0,
        "read_size_bytes": draws.integers(1, 64, count) * 4096.0,
    }
    latency = (
        0.01
        + (10 * ratio * columns["write_size_bytes"] + (1 - ratio) * columns["read_size_bytes"])
        / 1e6
    )
    made = {"window": np.arange(count), **columns, "latency": latency}
    return pl.DataFrame(made | {"bandwidth": 1 / latency, "throughput": 1 / latency})


def test_reads_taken_for_writes_in_the_windows_of_a_trace_are_found_out() -> None:
    sound = trace_windows(180)
    later = pl.col("window") >= 120
    swapped = sound.with_columns(
        write_ratio=pl.when(later).then(1 - pl.col("write_ratio")).otherwise("write_ratio"),
        write_size_bytes=pl.when(later).then("read_size_bytes").otherwise("write_size_bytes"),
        read_size_bytes=pl.when(later).then("write_size_bytes").otherwise("read_size_bytes"),
    )
    assert mre(swapped, 180)["latency"] > 2 * mre(sound, 180)["latency"]


def test_devices_of_a_trace_lie_side_by_side_and_within_the_drive() -> None:
    requests = STATISTICS["WebSearch1"].windows(3, 1.0, seed=1)
    three = requests.with_columns(device=(pl.int_range(pl.len()) % 3).cast(pl.UInt32))
    found = wrapped(three, 3 * 2**30)
    for number, of_device in found.group_by("device"):
        assert set(of_device["offset"] // 2**30) == {number[0]}
    assert (found["offset"] + found["length"]).max() <= 3 * 2**30  # type: ignore[operator]
    assert part_of(three, 16, 3 * 2**30)["offset"].max() < 3 * 2**26  # type: ignore[operator]


def stretch_of(points: list[WorkloadPoint], **changes: object) -> Stretch:
    found = Stretch("SSD_S", WAYS[0], (), tuple(points), SMALL.flash_bytes, SMALL.disk_s, 3)
    return replace(found, **changes)  # type: ignore[arg-type]


WRITES = WorkloadPoint(1.0, 4, 64 * KIB, 0, 1.0)
READS = WorkloadPoint(0.0, 1, 0, 4 * KIB, 0.0, 1.0)


def test_runs_back_to_back_meet_what_those_before_them_left() -> None:
    fresh = {way.name: way for way in WAYS}["fresh"]
    for way, slows in ((WAYS[0], True), (fresh, False)):
        rows = measured(stretch_of([WRITES] * 12, way=way))
        assert (rows[-1][0] > 1.2 * rows[0][0]) == slows


def test_a_megabyte_of_the_bandwidth_is_one_of_2_to_the_20_bytes() -> None:
    mixed = WorkloadPoint(0.5, 4, 64 * KIB, 64 * KIB, 1.0, 1.0)
    for point, size_kib in ((READS, 4), (WRITES, 64), (mixed, 64)):
        ((latency_ms, mb_s, requests_s),) = measured(stretch_of([point]))
        assert mb_s == pytest.approx(requests_s * size_kib / 1024)
        # Little's law: outstanding requests, of which the last ones are not answered.
        assert latency_ms * requests_s / 1e3 == pytest.approx(point.queue_depth, rel=0.15)


def test_the_lead_of_a_stretch_is_run_and_not_measured() -> None:
    whole = measured(stretch_of([WRITES, READS, WRITES]))
    assert measured(stretch_of([WRITES], lead=(WRITES, READS))) == whole[2:]


def test_a_run_on_a_part_of_the_device_stays_there() -> None:
    short_span = {way.name: way for way in WAYS}["short span"]
    seeks = [
        measured(replace(stretch_of([READS], way=way), device="HDD_S"))[0][0]
        for way in (WAYS[0], short_span)
    ]
    assert seeks[1] < 0.8 * seeks[0]


def test_a_run_stands_for_a_minute_on_a_drive_as_much_larger() -> None:
    small = built("SSD_I", SMALL.flash_bytes)
    whole_bytes = 80e9
    assert run_s("SSD_I", SMALL.flash_bytes, 1.0) == pytest.approx(
        60 * small.capacity_bytes / whole_bytes, rel=0.01
    )
    assert run_s("HDD_S", SMALL.flash_bytes, 1.0) == 1.0


def test_all_cells_are_in_one_stretch_or_another_and_the_figures_come_last() -> None:
    several = stretches("SSD_I", WAYS[0], replace(SMALL, cells=10, stretch=4, lead=2))
    assert [len(one.lead) for one in several] == [0, 2, 2]
    measured_cells = [point for one in several for point in one.points]
    assert measured_cells[:10] == some_cells(10)
    assert len(measured_cells) > 10 + sum(map(len, curves().values()))
    assert len({one.seed for one in several}) == 3


def test_a_disk_has_no_state_to_erase_and_is_not_measured_twice() -> None:
    assert [way_on("HDD_S", way).name for way in WAYS] == ["aged", "aged", "short span"]
    assert [way_on("SSD_I", way) for way in WAYS] == list(WAYS)


def test_rows_of_other_code_or_another_stretch_are_not_used_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stretch, rows = stretch_of([READS]), [(1.0, 2.0, 3.0)]
    Store().put(stretch, rows, tmp_path)
    found = Store().get(stretch, tmp_path)
    assert found is not None
    assert found.rows() == rows
    assert Store().get(replace(stretch, seed=4), tmp_path) is None
    assert Store().get(stretch, None) is None
    monkeypatch.setattr(store, "code_hash", lambda *_: "another engine")
    key_of.cache_clear()
    assert Store().get(stretch, tmp_path) is None
    key_of.cache_clear()


def test_a_file_that_is_no_table_is_measured_again(tmp_path: Path) -> None:
    stretch = stretch_of([READS])
    Store().put(stretch, [(1.0, 2.0, 3.0)], tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_bytes(b"no parquet")
    assert Store().get(stretch, tmp_path) is None


def test_the_hash_of_the_code_covers_what_measures_and_leaves_out_what_shows() -> None:
    named: list[str] = []
    real = Path.read_bytes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "read_bytes", lambda self: named.append(str(self)) or real(self))  # type: ignore[func-returns-value]
        store.code_hash.__wrapped__(store._BYSTANDERS, store._OWN)
    tails = [re.split("/writeamp(?:_papers)?/", name)[-1] for name in named]
    assert any(name.endswith("profiles/x25-m.toml") for name in tails)
    assert "learn/blackbox/formulas/profiles.json" in tails
    assert "huang2011/runs.py" in tails
    assert "huang2011/tables.py" not in tails
    assert not any(name.startswith("cli/") for name in tails)


def test_the_full_form_has_all_of_the_grid() -> None:
    assert FULL.cells == FULL.disk_cells == len(cells())
