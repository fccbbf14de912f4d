"""Paper 2's tables, computed anew in short."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from writeamp.blackbox.features.trace_windows import of_trace
from writeamp.blackbox.models.linear_tree import LinearTreeRegressor
from writeamp.blackbox.targets.simulated import SimulatedSettings
from writeamp.reproduce import PAPERS, Bench, Findings
from writeamp.reproduce.huang2011 import microbenchmarks
from writeamp.reproduce.huang2011.accuracy import HELD_OUT, LEFT_ALONE, TRAINED_ON, accuracy
from writeamp.reproduce.huang2011.example_tree import example_tree, leaves_of
from writeamp.reproduce.huang2011.forms import Form
from writeamp.reproduce.huang2011.judged import cell, table_row
from writeamp.reproduce.huang2011.measuring import measured
from writeamp.reproduce.huang2011.printed import BASIC, EXTENDED
from writeamp.reproduce.huang2011.trace_loads import STATISTICS, as_trace, wrapped
from writeamp.reproduce.huang2011.workloads import cells, some_cells, specific

QUICK = SimulatedSettings(precision=0.2, most_s=0.05)
TINY = Form(
    cells=40,
    sizes=3,
    steps=2,
    specific_settings=QUICK,
    settings=QUICK,
    rested_cells=10,
    window_s=0.05,
    windows=30,
)


def random_rows(count: int) -> pl.DataFrame:
    """Return measurements of cells on a device whose metrics are products of characteristics."""
    points = some_cells(count)
    rows = pl.DataFrame([{"workload": one.spec, **one.to_dict()} for one in points])
    moved_bytes = (
        rows["write_ratio"] * rows["write_size_bytes"]
        + (1 - rows["write_ratio"]) * rows["read_size_bytes"]
    )
    latency_us = (rows["queue_depth"] * (100 + moved_bytes / 256)).alias("latency_us")
    iops = (rows["queue_depth"] * 1e6 / latency_us).alias("throughput_iops")
    return rows.with_columns(latency_us, iops, (iops * moved_bytes / 1e6).alias("bandwidth_mb_s"))


def test_the_grid_has_a_cell_for_each_product_and_each_workload_once_or_more() -> None:
    every = cells()
    assert len(every) == 5 * 4 * 5 * 5 * 25
    assert len(set(every)) == 7780
    shares = Counter(one.write_ratio for one in every)
    assert set(shares.values()) == {2500}
    assert all(one == one.of_one_pattern() for one in every if one.write_randomness)


def test_a_part_of_the_grid_is_the_beginning_of_a_larger_one() -> None:
    assert some_cells(50) == some_cells(200)[:50]
    assert len(some_cells(10**6)) == len(cells())


def test_specific_workloads_only_read_or_only_write_and_have_one_request_outstanding() -> None:
    points = specific(24, 3)
    assert {one.write_ratio for one in points} == {0, 1}
    assert {one.queue_depth for one in points} == {1}
    sizes = {one.write_size_bytes or one.read_size_bytes for one in points}
    assert (min(sizes), max(sizes)) == (1024, 256 * 1024)
    assert len(points) == 2 * len(sizes) * 6


def test_a_workload_is_not_predicted_by_its_own_repeats() -> None:
    rows = random_rows(300)
    noise = np.random.default_rng(1).lognormal(0, 1, rows.height)
    first = rows["workload"].rank("dense").to_numpy() - 1
    noisy = rows.with_columns(
        *(pl.Series(name, noise[first]) for name in ("latency_us", "throughput_iops")),
        pl.Series("bandwidth_mb_s", noise[first]),
    )
    found = accuracy(noisy, "extended")["latency"].values("mre")
    assert found[HELD_OUT] > 0.5


def test_measures_of_the_training_rows_are_no_worse_than_those_of_workloads_held_out() -> None:
    found = accuracy(random_rows(300), "extended")
    for one in found.values():
        assert one.values("mre")[TRAINED_ON] <= one.values("mre")[HELD_OUT] < 0.3


def test_verdicts_follow_from_the_numbers() -> None:
    ours = accuracy(random_rows(200), "extended")["latency"]
    value = ours.held_out.mre
    assert cell("x", 10 * value, ours, "mre").verdict == "match"
    assert cell("x", value / 10, ours, "mre").verdict != "match"
    of_row = ("III", "latency", "SSD_I")
    row = table_row(of_row, EXTENDED["latency"]["SSD_I"], ours, {LEFT_ALONE: 1.0})
    assert [one.published for one in row] == [pytest.approx(0.014), 1.42, 15.97, 0.12]


def test_printed_extended_models_are_better_than_printed_basic_ones() -> None:
    for metric, devices in BASIC.items():
        for device, basic in devices.items():
            assert EXTENDED[metric][device].mre < basic.mre
            assert EXTENDED[metric][device].r2 > basic.r2


@pytest.mark.parametrize("name", STATISTICS)
def test_generated_requests_have_the_stated_statistics(name: str) -> None:
    stated = STATISTICS[name]
    requests = stated.windows(400, 1.0, seed=1)
    is_write = (requests["op"] == "write").to_numpy()
    length = requests["length"].to_numpy()
    assert requests.height / 400 == pytest.approx(stated.rate_s, rel=0.05)
    assert is_write.mean() == pytest.approx(stated.write_share, abs=0.01)
    assert length[~is_write].mean() == pytest.approx(stated.read_bytes, rel=0.03)
    windows = of_trace(as_trace(requests), 1.0)
    assert windows["window"].to_list() == list(range(400))
    assert windows["read_randomness"].mean() == pytest.approx(1 - stated.sequential_share, abs=0.03)


def test_devices_of_a_trace_lie_side_by_side_and_within_the_drive() -> None:
    requests = STATISTICS["WebSearch1"].windows(3, 1.0, seed=1)
    three = requests.with_columns(device=(pl.int_range(pl.len()) % 3).cast(pl.UInt32))
    found = wrapped(three, 3 * 2**30)
    for device, of_device in found.group_by("device"):
        parts = of_device["offset"] // 2**30
        assert set(parts) == {device[0]}
    assert (found["offset"] + found["length"]).max() <= 3 * 2**30  # type: ignore[operator]


def test_measurements_are_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points = some_cells(12)
    first = measured(Bench(), tmp_path, "HDD_S", points, QUICK)
    assert first.height == 12
    monkeypatch.setattr(
        "writeamp.blackbox.targets.simulated._run", lambda *_: pytest.fail("measured again")
    )
    assert measured(Bench(), tmp_path, "HDD_S", points[:9], QUICK).equals(first[:9])


@pytest.fixture(scope="module")
def found() -> Findings:
    """Return what a much shorter form finds on two of the devices."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(microbenchmarks, "form_of", lambda **_: TINY)
        two = {"HDD_S": "spinpoint-m7", "SSD_I": "x25-m"}
        patch.setattr(microbenchmarks, "DEVICES", two)
        return microbenchmarks.run(Bench(figures=True))


def test_every_cell_of_the_tables_has_an_item(found: Findings) -> None:
    names = [item.item for item in found.items]
    for table in ("II", "III"):
        for metric in BASIC:
            rows = [one for one in names if one.startswith(f"Table {table}, {metric}, ")]
            assert len(rows) == 2 * 4
    assert len(set(names)) == len(names)
    assert all(math.isfinite(item.ours) for item in found.items)


def test_what_is_no_match_says_why(found: Findings) -> None:
    assert all(item.note for item in found.items if item.verdict == "underdetermined")


def test_the_improvements_and_a_tree_are_drawn(found: Findings) -> None:
    assert set(found.figures) == {"fig8-tree", "fig9-10-improvements"}


def test_a_leaf_is_invalid_if_its_equation_is_below_zero_among_its_rows() -> None:
    size_kib = np.linspace(0, 100, 80)
    vectors = np.column_stack([size_kib, np.tile([0.0, 1.0], 40)])
    for offset, is_invalid in ((-20.0, True), (5.0, False)):
        model = LinearTreeRegressor(max_depth=0, log_terms=False, smoothing=0.0)
        model.fit(vectors, size_kib + offset + 0.1 * vectors[:, 1])
        (leaf,) = leaves_of(model.tree_, vectors)
        assert leaf is not None
        assert leaf.least == pytest.approx(offset, abs=0.5)
        assert leaf.is_invalid == is_invalid


def test_the_tree_has_a_box_for_each_node_and_an_equation_in_each_leaf() -> None:
    chart = example_tree(random_rows(300), "a drive")
    assert len(chart.nodes) == 2 * sum(not node.below for node in chart.nodes) - 1
    assert all("≤" in node.text for node in chart.nodes if node.below)
    assert all(" rows\n" in node.text for node in chart.nodes if not node.below)


def test_the_paper_is_registered() -> None:
    assert len(PAPERS["huang2011"].parts) == 4
