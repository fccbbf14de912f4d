"""Drive formulas, models that begin with them, and what is known between training points."""

from __future__ import annotations

import json
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression

from blackbox_tables import GRID, measured, related
from in_process import document, run
from writeamp.errors import WriteampError
from writeamp.learn.blackbox.designs import Design
from writeamp.learn.blackbox.features.pages import lies_across, pages_touched
from writeamp.learn.blackbox.formulas import of_profiles
from writeamp.learn.blackbox.formulas.drive_formula import COSTS, LIKELY, DriveFormula
from writeamp.learn.blackbox.formulas.fit import fitted_formulas
from writeamp.learn.blackbox.formulas.of_profiles import (
    chosen_formulas,
    fitted_from,
    profile_formulas,
)
from writeamp.learn.blackbox.model_file import load, save
from writeamp.learn.blackbox.models.documents import from_document, to_document
from writeamp.learn.blackbox.models.prior import PriorRegressor, prior_regressor
from writeamp.learn.blackbox.ranges import between_levels
from writeamp.learn.blackbox.targets.settings import SimulatedSettings
from writeamp.learn.blackbox.training import train
from writeamp.models import effective_op, uniform_distribution

SECTOR, PAGE = 512, 4096
NAMES = tuple(GRID)


def drawn(points: int, seed: int = 1) -> pl.DataFrame:
    """Return characteristics off the grid, as `collect` measures them by default."""
    asked = Design("random", points, seed).listed(1 << 30)
    return pl.DataFrame([one.to_dict() for one in asked]).cast(pl.Float64)


def answers(rows: pl.DataFrame, *, wobble: float = 0.2) -> pl.DataFrame:
    """Return measurements of a drive of 16 KiB pages that is near a formula, and not quite it."""
    costs = np.log([2 * likely for likely, _ in COSTS.values()])
    formula = DriveFormula(4 * PAGE, True, tuple(costs))
    log_us = formula.log_time(rows.select(NAMES).to_numpy(), NAMES)
    log_us = log_us + wobble * np.sin(4 * rows["write_ratio"].to_numpy())
    throughput = pl.Series(1e6 / np.exp(log_us))
    return rows.with_columns(throughput_iops=throughput, target=pl.lit("made"))


@pytest.mark.parametrize(
    ("sectors", "stride", "merges"), list(product((1, 3, 8, 9, 12, 22), (0, 3, 40), (True, False)))
)
def test_pages_touched_are_those_that_are_counted(sectors: int, stride: int, merges: bool) -> None:
    """A run of requests is laid out sector by sector, from many places, and its pages counted."""
    per_page, length = PAGE // SECTOR, 64
    touched, whole, requests = 0, 0, 0
    starts = range(0, sectors * per_page, sectors) if stride == 0 else range(per_page)
    if stride:
        grain = np.gcd(np.gcd(sectors, stride), per_page)
        starts = range(0, per_page, int(grain))
    for start in starts:
        runs = [start + at * (sectors + stride) for at in range(length)]
        groups = [runs] if merges else [[one] for one in runs]
        for group in groups:
            covered = {one + at for one in group for at in range(sectors)}
            pages = {at // per_page for at in covered}
            touched += len(pages)
            whole += sum(
                all(page * per_page + at in covered for at in range(per_page)) for page in pages
            )
        requests += length
    found, in_part = (
        float(one[0])
        for one in pages_touched(
            np.array([sectors * SECTOR]),
            np.array([0.0]),
            np.array([stride * SECTOR]),
            PAGE,
            merges=merges,
        )
    )
    # A run has two ends, of which the formula of an endless one knows nothing.
    ends = 2 / length if merges else 1e-9
    assert found == pytest.approx(touched / requests, abs=ends)
    assert in_part == pytest.approx((touched - whole) / requests, abs=2 * ends)


def test_sizes_that_fill_pages_or_divide_one_lie_across_none() -> None:
    sizes = np.array([0, 512, 1024, 4096, 8192, 2560, 4608, 11264])
    assert lies_across(sizes, PAGE).tolist() == [False] * 5 + [True] * 3


def test_a_drive_that_follows_a_formula_is_found_by_few_points() -> None:
    rows = answers(drawn(60), wobble=0.0)
    features = rows.select(NAMES).to_numpy()
    log_us = -np.log(rows["throughput_iops"].to_numpy() / 1e6)
    found = fitted_formulas(features, NAMES, log_us, {})
    assert {one.page_bytes for _, _, one in found} == {4 * PAGE}
    others = answers(drawn(100, seed=2), wobble=0.0)
    said = sum(
        weight * one.log_time(others.select(NAMES).to_numpy(), NAMES) for weight, _, one in found
    )
    truth = -np.log(others["throughput_iops"].to_numpy() / 1e6)
    assert np.mean(np.abs(said - truth)) < 0.02


def test_a_drive_that_is_partly_full_copies_less_as_the_theory_of_writes_says() -> None:
    """The time of a write goes with WA where the dies are the busiest."""
    costs = {name: likely for name, (likely, _) in COSTS.items()} | {"random_page_us": 1e5}
    formula = DriveFormula(PAGE, False, tuple(np.log(list(costs.values()))))
    writes = {"write_ratio": 1, "queue_depth": 64, "write_size_bytes": PAGE, "write_randomness": 1}
    usual = np.array([[float(writes.get(one, 0)) for one in NAMES]])
    fills = np.array([1.0, 0.9, 0.6])
    features = np.column_stack([usual.repeat(3, axis=0), fills])
    found = formula.log_time(features, (*NAMES, "fill"))
    assert found[0] == formula.log_time(usual, NAMES)
    wa = uniform_distribution(effective_op(costs["op"], fills, fills))
    assert found - found[0] == pytest.approx(np.log(wa / wa[0]), abs=1e-3)


def test_the_op_of_a_drive_is_found_by_points_of_several_fills() -> None:
    rows = drawn(120).with_columns(fill=pl.Series(np.random.default_rng(3).uniform(0.3, 1, 120)))
    features, names = rows.select(*NAMES, "fill").to_numpy(), (*NAMES, "fill")
    costs = {name: likely for name, (likely, _) in COSTS.items()} | {"op": 0.2}
    truth = DriveFormula(4 * PAGE, True, tuple(np.log(list(costs.values()))))
    found = fitted_formulas(features, names, truth.log_time(features, names), {})
    best = max(found, key=lambda one: one[0])[2]
    assert np.exp(dict(zip(COSTS, best.logs, strict=True))["op"]) == pytest.approx(0.2, rel=0.1)


def test_the_search_begins_at_the_costs_of_profiles() -> None:
    rows = answers(drawn(20), wobble=0.0)
    log_us = -np.log(rows["throughput_iops"].to_numpy() / 1e6)
    alike = DriveFormula(4 * PAGE, True, tuple(np.log([2 * one for one, _ in COSTS.values()])))
    other = DriveFormula(PAGE, False, tuple(LIKELY))
    found = fitted_formulas(
        rows.select(NAMES).to_numpy(), NAMES, log_us, {"alike": alike, "other": other}
    )
    assert max(found, key=lambda one: one[0])[1] == "alike"


def test_a_prior_makes_unseen_errors_small_and_intervals_hold() -> None:
    table, others = answers(drawn(40)), answers(drawn(200, seed=2))
    scores = {
        prior: train(table, model="linear", prior=prior).evaluate(others)[0]
        for prior in ("none", "apex")
    }
    assert scores["apex"].mre < scores["none"].mre / 3
    assert 0.8 < scores["apex"].between_coverage <= 1
    assert scores["apex"].between_n > 190


def test_a_drive_that_no_formula_explains_is_learnt_without_one() -> None:
    rows = drawn(200)
    x = rows.select(NAMES).to_numpy()
    y = np.exp(np.random.default_rng(0).standard_normal(200))
    model = PriorRegressor(LinearRegression(), names=NAMES).fit(x, y)
    assert model.formulas_ == ()
    assert np.array_equal(model.predict(x), LinearRegression().fit(x, y).predict(x))


@pytest.mark.parametrize("target", ["latency", "bandwidth", "throughput"])
def test_what_is_saved_predicts_the_same_to_the_last_bit(target: str) -> None:
    rows = answers(drawn(60))
    x, y = rows.select(NAMES).to_numpy(), rows["throughput_iops"].to_numpy()
    model = PriorRegressor(LinearRegression(), target=target, names=NAMES).fit(x, y)
    again = from_document(json.loads(json.dumps(to_document(model))))
    assert np.array_equal(again.predict(x), model.predict(x))


def test_the_measured_drive_and_its_arrays_are_no_prior_of_their_own() -> None:
    known = set(profile_formulas())
    assert {"apex", "ssd-s"} <= known
    assert set(chosen_formulas("auto", ["apex"]) or ()) == known - {"apex"}
    assert set(chosen_formulas("auto", ["raid0:apex,apex"]) or ()) == known - {"apex"}
    assert list(chosen_formulas("apex, ssd-s", ["real"]) or ()) == ["apex", "ssd-s"]
    assert chosen_formulas("none", ["apex"]) is None
    with pytest.raises(WriteampError, match="would leak the answer"):
        chosen_formulas("apex", ["apex"])
    with pytest.raises(WriteampError, match="'auto,none'; none cannot be combined with others"):
        chosen_formulas("auto,none", ["real"])
    with pytest.raises(WriteampError, match="did you mean 'apex'"):
        chosen_formulas("apx", [])


FITTED: dict[str, dict[str, Any]] = json.loads(
    resources.files(of_profiles.__package__).joinpath(of_profiles.FILE).read_text("utf-8")
)["profiles"]


def stale_formula(name: str, base: str) -> str | None:
    """Return a sentence if a formula was fitted from another profile than the one of that path."""
    fitted, now = FITTED[name]["fitted_from"], fitted_from(base)
    changed = [table for table in sorted({*fitted, *now}) if fitted.get(table) != now.get(table)]
    if not changed:
        return None
    return (
        f"[{'], ['.join(changed)}] of the profile {name} changed after its formula was fitted; "
        f"run: python benches/blackbox_prior.py {name} --points {FITTED[name]['points']}"
    )


@pytest.mark.parametrize("name", sorted(FITTED))
def test_a_formula_is_fitted_from_the_profile_of_today(name: str) -> None:
    assert stale_formula(name, name) is None


@pytest.mark.parametrize(
    ("text", "replacement", "table"),
    [
        ("read_us = 40.0", "read_us = 41.0", "timing"),
        ("op = 0.1453246", "op = 0.15", "management"),
        ("planes_per_die = 1", "planes_per_die = 2", "geometry"),
        ("background = false", "background = true", "collection"),
        ("read_us = 40.0", "# measured\nread_us = 40", None),
        ("summary = ", 'source = "a data sheet"\nsummary = ', None),
        ('geometry = "two', 'geometry = "2', None),
    ],
)
def test_a_formula_is_stale_if_a_value_that_it_is_fitted_from_changed(
    text: str, replacement: str, table: str | None, tmp_path: Path
) -> None:
    own, source = tmp_path / "apex.toml", profile_text("apex")
    source = source.replace(source[source.index("source = ") : source.index("timed = ")], "")
    assert source.count(text) == 1
    own.write_text(source.replace(text, replacement))
    found = stale_formula("apex", str(own))
    assert (found is None) == (table is None)
    if found is not None:
        assert f"[{table}]" in found
        assert "of the profile apex changed after its formula was fitted" in found
        assert found.endswith("run: python benches/blackbox_prior.py apex --points 400")


def test_a_profile_in_a_file_is_simulated_for_a_prior(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_profiles, "_DESIGN", Design("random", points=30, seed=1))
    monkeypatch.setattr(of_profiles, "_SETTINGS", SimulatedSettings(precision=0.2, most_s=0.1))
    own = tmp_path / "own.toml"
    blocks, fewer = "blocks_per_plane = 8192", "blocks_per_plane = 48"
    own.write_text(profile_text("x25-m").replace(blocks, fewer))
    begun_with = chosen_formulas(f"{own}, apex", ["real"]) or {}
    assert list(begun_with) == [str(own), "apex"]
    model = prior_regressor(LinearRegression(), "throughput", NAMES, begun_with)
    assert ([name for name, *_ in model.others], model.profiles) == ([str(own)], ("apex",))
    rows = answers(drawn(30))
    features = rows.select(NAMES).to_numpy()
    model.fit(features, rows["throughput_iops"].to_numpy())
    again = from_document(json.loads(json.dumps(to_document(model))))
    assert np.array_equal(again.predict(features), model.predict(features))
    assert again.others[0][0] == str(own)
    # Dies read one page of 4 KiB by 20 us, twenty at a time, behind a controller of 28.5 us.
    reads = dict.fromkeys(NAMES, 0.0) | {"queue_depth": 32.0, "read_size_bytes": 4096.0}
    row = np.array([[(reads | {"read_randomness": 1.0})[name] for name in NAMES]])
    assert np.exp(begun_with[str(own)].log_time(row, NAMES)) == pytest.approx(28.6, rel=0.25)


def test_a_file_without_times_is_no_prior(tmp_path: Path) -> None:
    twin = tmp_path / "twin.toml"
    lines = profile_text("generic").partition("[timing]")[0]
    twin.write_text(lines)
    with pytest.raises(WriteampError, match="a twin has none"):
        chosen_formulas(f"auto,{twin}", ["apex"])


def profile_text(name: str) -> str:
    """Return the text of a profile of the library."""
    return resources.files("writeamp.devices.profiles").joinpath(f"{name}.toml").read_text("utf-8")


def test_features_that_tell_too_little_have_no_prior() -> None:
    with pytest.raises(WriteampError, match="a prior needs write_size_bytes"):
        train(answers(drawn(40)), features="basic", prior="auto")


def test_a_grid_says_nothing_of_the_error_between_its_points(tmp_path: Path) -> None:
    assert not between_levels(measured(300)).any()
    assert between_levels(drawn(300)).mean() > 0.9
    table = tmp_path / "grid.parquet"
    related(200).write_parquet(table)
    asked = f"{table} --model linear --out {tmp_path}/grid.model"
    done = run("blackbox train", asked)
    assert "errors and intervals hold on the grid" in done.err
    found = document("blackbox train", asked)
    assert [one["between_mre"] for one in found["targets"]] == [None] * 4
    scores = document("blackbox evaluate", f"{tmp_path}/grid.model {table} --cv 3")["metrics"]
    assert {(one["between_n"], one["between_mre"]) for one in scores} == {(0, None)}


def test_pages_written_in_part_are_outside_what_a_grid_shows(tmp_path: Path) -> None:
    grid, mixed = measured(200), pl.concat([measured(100), measured_off_grid(100)])
    across = {"write_size_bytes": 4608.0, "read_size_bytes": 11264.0}
    asked = measured(1).with_columns(write_ratio=0.5, **across)
    for table, outside in ((grid, True), (mixed, False)):
        model = train(table, model="linear", targets=["latency"])
        assert model.predict(asked)["latency"].outside.tolist() == [outside]
    model = train(grid, model="linear", targets=["latency"])
    assert sorted(model.unlike_pages(asked)) == ["read_size_bytes", "write_size_bytes"]
    save(model, tmp_path / "grid.model")
    assert sorted(load(tmp_path / "grid.model").unlike_pages(asked)) == sorted(across)
    load_of = "io:write=0.5,write_size=4608,read_size=11k,qd=4"
    done = run("blackbox predict", f"{tmp_path}/grid.model --workload {load_of}")
    assert "requests that cross pages of 4 KiB" in done.err


def measured_off_grid(rows: int) -> pl.DataFrame:
    """Return measurements of the made-up drive with sizes that lie across pages."""
    sizes = pl.Series(np.random.default_rng(5).integers(9, 512, rows) * 512.0)
    return measured(rows, seed=3).with_columns(write_size_bytes=sizes, read_size_bytes=sizes)


def test_the_mixed_design_has_points_of_the_grid_and_others() -> None:
    points = Design("mixed", 400).listed(1 << 30)
    cells = set(Design("grid", 100).listed(1 << 30))
    assert sum(point in cells for point in points) == 100
    assert Design("mixed", 100).listed(1 << 30) == points[:100]
    assert Design().kind == "mixed"


def test_intervals_are_those_of_rows_between_the_levels() -> None:
    """On a grid errors are small; off it the drive does what no model can know."""
    table = pl.concat([measured(240).select(*NAMES, "latency_us"), unknowable(60, seed=1)])
    model = train(table, model="linear", targets=["latency"])
    [found] = model.evaluate(unknowable(300, seed=2))
    assert 0.8 < found.coverage < 0.97


def unknowable(rows: int, seed: int) -> pl.DataFrame:
    """Return measurements off the grid that have nothing to do with their workload."""
    drawn_us = np.exp(3 * np.random.default_rng(seed).standard_normal(rows)) * 300
    return drawn(rows, seed).with_columns(latency_us=pl.Series(drawn_us))


def test_latency_and_bandwidth_follow_from_the_formula_as_throughput_does() -> None:
    """Outstanding requests are throughput times latency, bytes requests times their mean size."""
    rows, others = (answers(drawn(60, seed), wobble=0.0) for seed in (1, 2))
    for target in ("latency", "bandwidth", "throughput"):
        model = PriorRegressor(LinearRegression(), target=target, names=NAMES)
        said = model.fit(rows.select(NAMES).to_numpy(), of(rows, target))
        truth = of(others, target)
        off = np.abs(said.predict(others.select(NAMES).to_numpy()) / truth - 1)
        assert np.mean(off) < 0.03


def of(rows: pl.DataFrame, target: str) -> npt.NDArray[np.float64]:
    """Return a target that follows from the throughput of some rows."""
    throughput, writes = rows["throughput_iops"], rows["write_ratio"]
    if target == "latency":
        return (rows["queue_depth"] / throughput * 1e6).to_numpy()
    mean = writes * rows["write_size_bytes"] + (1 - writes) * rows["read_size_bytes"]
    return (throughput * mean / 1e6 if target == "bandwidth" else throughput).to_numpy()
