"""`writeamp blackbox explain`: importances, responses and rules, in text, figure and page."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from blackbox_files import TARGETS, WORKLOAD, trained, trained_on_wa
from blackbox_tables import related
from in_process import document, run
from writeamp.learn.blackbox.explanation import (
    explained,
    like,
    responses,
    strongest,
    typical_workload,
)
from writeamp.learn.blackbox.features import of_workload
from writeamp.learn.blackbox.model_file import load, save
from writeamp.learn.blackbox.pictures import _MOST_CHARACTERS, model_page
from writeamp.learn.blackbox.training import train
from writeamp.plots.figures.blackbox import Curve, curves_with_intervals
from writeamp.plots.output import rendered


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder of measurements and models of one drive."""
    folder = tmp_path_factory.mktemp("blackbox")
    trained(folder, "fast")
    trained_on_wa(folder, "fast")
    return folder


def test_a_page_explains_a_model(files: Path) -> None:
    out = files / "wa.html"
    found = document("blackbox explain", f"{files}/wa.model --out {out}")
    assert [one["target"] for one in found["targets"]] == ["wa"]
    for one in found["targets"]:
        assert sum(one["importances"].values()) == pytest.approx(1)
        assert one["rules"][0]["text"].count("log(y) =") == one["rules"][0]["leaves"]
        assert {curve["characteristic"] for curve in one["responses"]} >= {"queue_depth"}
    written = out.read_text("utf-8")
    figures = re.findall(r"<svg.*?</svg>", written, re.DOTALL)
    assert [ET.fromstring(one).tag.rpartition("}")[2] for one in figures] == ["svg"] * 2
    assert "write_randomness &lt;= " in written


def test_the_largest_page_has_less_than_a_megabyte_with_the_longest_rules() -> None:
    rng = np.random.default_rng(0)
    spread = {"working_set_bytes": 1e9, "fill": 1, "recent_write_bytes": 1e9, "skew": 1}
    table = related(60).with_columns(
        pl.Series(name, rng.uniform(0, most, 60)) for name, most in spread.items()
    )
    one = train(table, features="modern", targets=["latency"])
    written = model_page(one, typical_workload(one), "the median")
    assert written.count(b"<svg") == 2
    assert b">queue depth<" in written
    assert b"<h2>latency</h2>" in written
    # What the targets share is counted for each.
    assert len(TARGETS) * len(written) + _MOST_CHARACTERS < 1_000_000


def test_rules_that_are_too_long_are_cut_and_counted(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("writeamp.learn.blackbox.pictures._MOST_CHARACTERS", 1000)
    model = load(files / "wa.model")
    written = model_page(model, typical_workload(model), "the median").decode()
    [text] = re.findall(r"<pre>(.*?)</pre>", written, re.DOTALL)
    lines = explained(model, "wa").rules[0].text.splitlines()
    *shown, last = text.splitlines()
    assert len(text) < 1500
    assert last.startswith(f"… and {len(lines) - len(shown)} more lines")


def test_the_rules_of_a_target_are_printed_and_its_responses_drawn(files: Path) -> None:
    picture = files / "response.svg"
    asked = f"{files}/fast.model --target wa --workload {WORKLOAD} --plot {picture}"
    done = run("blackbox explain", asked)
    assert "rules: " in done.out
    assert "log(y) = " in done.out
    assert "write randomness" in picture.read_text("utf-8")


def test_only_what_a_target_responds_to_is_drawn(files: Path) -> None:
    model = load(files / "fast.model")
    reads = like(model, of_workload("random:bs=16k,write=0,qd=4").frame())
    found = responses(model, reads)
    assert [one.characteristic for one in strongest(found, "wa", 9)] == ["write_ratio"]
    all_of_them = strongest(found, "latency", 9)
    factors = [np.ptp(np.log(one.predictions["latency"].value)) for one in all_of_them]
    assert len(factors) == 8
    assert factors == sorted(factors, reverse=True)
    assert strongest(found, "latency", 2) == all_of_them[:2]
    both = {name: model.estimators[name] for name in ("latency", "wa")}
    alone = replace(model, estimators=both, is_joint=False)
    assert model_page(alone, reads, "reads").count(b"<svg") == 2 * len(both)


def test_what_a_workload_does_not_say_is_as_in_training(tmp_path: Path) -> None:
    state = {"working_set_bytes": 1e9, "fill": 0.5, "recent_write_bytes": 1e6, "skew": 0.3}
    table = related(60).with_columns(pl.lit(value).alias(name) for name, value in state.items())
    model = train(table, features="modern", model="linear", targets=["latency"])
    around = like(model, of_workload(WORKLOAD).frame())
    assert {name: around[name].item() for name in state} == state
    assert around["queue_depth"].item() == 16
    reads = like(model, of_workload("random:bs=16k,write=0,qd=4").frame())
    assert reads["write_ratio"].item() == 0
    assert reads["write_size_bytes"].item() == model.ranges["write_size_bytes"].typical
    path = tmp_path / "model"
    save(model, path)
    assert run("blackbox explain", f"{path} --workload {WORKLOAD}").status == 0


def test_kinds_without_rules_or_importances_are_explained_by_their_responses(
    files: Path, tmp_path: Path
) -> None:
    table = pl.read_parquet(files / "fast.parquet")
    for name in ("linear", "linear-forest"):
        save(train(table, model=name, targets=["latency"]), tmp_path / name)
    found = document("blackbox explain", f"{tmp_path}/linear --out {tmp_path}/page.html")
    assert (found["targets"][0]["importances"], found["targets"][0]["rules"]) == (None, [])
    assert "has no feature importances" in (tmp_path / "page.html").read_text("utf-8")
    assert "no feature importances" in run("blackbox explain", f"{tmp_path}/linear").out
    found = document("blackbox explain", f"{tmp_path}/linear-forest")
    assert found["targets"][0]["importances"]["queue_depth"] > 0


def test_a_response_is_what_the_model_predicts_there(files: Path) -> None:
    model = load(files / "fast.model")
    around = typical_workload(model)
    [depths] = [one for one in responses(model, around) if one.characteristic == "queue_depth"]
    assert (depths.x[0], depths.x[-1]) == pytest.approx((1, 64))
    for step in (0, 20):
        there = around.with_columns(queue_depth=depths.x[step])
        alone = model.predict(there)["latency"].value[0]
        assert depths.predictions["latency"].value[step] == alone


def test_curves_of_one_target_share_their_axis() -> None:
    def curve(target: str, *values: float) -> Curve:
        return Curve(target, "x", [1.0, 2.0], values, values, values)

    chart = curves_with_intervals(
        [curve("wa", 1, 2), curve("wa", 3, 5), curve("latency", 1, 1000)],
        title="",
        subtitle="",
        level=0.9,
    )
    first, second, latency = chart.panels
    assert first.y_ends == second.y_ends
    assert first.y_ends == pytest.approx((0.84, 5.16))
    assert (first.y_log, latency.y_log) == (False, True)
    assert b"latency" in rendered(chart, ".html")
    assert rendered(chart, ".png").startswith(b"\x89PNG")
