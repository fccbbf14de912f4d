"""`writeamp blackbox` train, evaluate, predict, explain and choose, from files to files."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from blackbox_files import TARGETS, WORKLOAD, traced, trained, trained_on_wa
from blackbox_tables import related
from in_process import document, run
from writeamp.errors import WriteampError
from writeamp.learn.blackbox import choosing, model_kinds
from writeamp.learn.blackbox.model_file import load
from writeamp.learn.blackbox.model_input import ModelInput
from writeamp.learn.blackbox.training import train

pytestmark = pytest.mark.usefixtures("plain_messages")

KEYS = {"target", "r2", "mae", "mean", "mre", "n", "coverage"}
KEYS |= {"between_n", "between_mre", "between_coverage"}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder of measurements of two drives, models of both, and a trace."""
    folder = tmp_path_factory.mktemp("blackbox")
    trained(folder, "fast")
    trained(folder, "slow", slowness=10)
    trained_on_wa(folder, "fast")
    related(60, seed=1).write_parquet(folder / "others.parquet")
    traced(folder / "trace.parquet")
    return folder


def test_training_says_what_the_model_is_worth(files: Path) -> None:
    found = document("blackbox train", f"{files}/fast.parquet --out {files}/again.model")
    assert (found["drive"], found["joint"], found["features"]) == ("fast", True, "extended")
    for one in found["targets"]:
        assert 0 < one["unseen_mre"] < 0.5
        # A row whose characteristics and result are those of another is no other.
        assert 0 < one["rows"] <= 250
    assert list(load(files / "wa.model").estimators) == ["wa"]
    again = run("blackbox train", f"{files}/fast.parquet --targets wa --out {files}/wa.model")
    assert "MRE on unseen" in again.out


def test_a_collection_says_before_it_measures_that_models_need_scikit_learn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_kinds, "find_spec", lambda name: None)
    told = run("blackbox collect", f"--target x25-m --points 1 --out {tmp_path}/no/m.parquet").err
    assert "note: `blackbox train` will not run: " in told
    assert "scikit-learn and skops, which are not installed; run: pip install 'writeamp[" in told
    assert "make .venv/.blackbox" in told


def test_a_target_that_was_hardly_measured_is_left_out_with_a_note(
    files: Path, tmp_path: Path
) -> None:
    rarely = pl.when(pl.int_range(pl.len()) < 19).then("wa").alias("wa")
    pl.read_parquet(files / "fast.parquet").with_columns(rarely).write_parquet(tmp_path / "table")
    asked = f"{tmp_path}/table --out {tmp_path}/model --model linear"
    done = run("blackbox train", asked)
    assert (done.status, list(load(tmp_path / "model").estimators)) == (0, TARGETS[:3])
    assert "wa is left out, because too few rows have a value of it" in done.err
    done = run("blackbox train", f"{asked} --targets wa")
    assert "rows with the target wa; a model needs at least 20" in done.err


def test_a_cross_validation_scores_every_target(files: Path) -> None:
    picture = files / "compared.png"
    found = document(
        "blackbox evaluate", f"{files}/fast.model {files}/fast.parquet --cv 5 --plot {picture}"
    )
    assert [one["target"] for one in found["metrics"]] == TARGETS
    for one in found["metrics"]:
        assert set(one) == KEYS
        assert one["r2"] > 0.5
        assert one["mae"] < one["mean"]
    assert picture.read_bytes().startswith(b"\x89PNG")
    again = run("blackbox evaluate", f"{files}/wa.model {files}/fast.parquet --cv 3")
    assert "│wa" in again.out.replace(" ", "")


def test_training_rows_are_scored_by_cross_validation_alone(files: Path) -> None:
    done = run("blackbox evaluate", f"{files}/fast.model {files}/fast.parquet")
    assert done.status == 2
    assert "250 of the 250 rows were used in training" in done.err
    held_out = document("blackbox evaluate", f"{files}/fast.model {files}/others.parquet")
    assert (held_out["cv"], held_out["metrics"][0]["n"]) == (None, 60)


def test_a_prediction_has_an_interval_and_says_where_it_is_outside(files: Path) -> None:
    found = document("blackbox predict", f"{files}/fast.model --workload {WORKLOAD}")
    for target in TARGETS:
        assert 0 < found[target]["low"] < found[target]["value"] < found[target]["high"]
    assert (found["workload"], found["drive"], found["outside"]) == (WORKLOAD, "fast", False)
    larger = "--workload random:bs=4M,write=0,qd=16"
    beyond = document("blackbox predict", f"{files}/fast.model {larger}")
    assert beyond["outside"] is True
    assert beyond["wa"] is None
    done = run("blackbox predict", f"{files}/fast.model {larger}")
    assert "read_size_bytes is outside the training range, 1024 to 262144" in done.err
    assert "│ wa" not in done.out


def test_a_trace_is_predicted_window_by_window(files: Path) -> None:
    picture = files / "trace.html"
    asked = f"{files}/fast.model --trace {files}/trace.parquet --window 1s"
    found = document("blackbox predict", f"{asked} --plot {picture}")
    windows = found["windows"]
    assert [one["start_s"] for one in windows] == [0, 1, 2, 3, 4, 5]
    assert [one["requests"] for one in windows] == [100] * 6
    assert [one["wa"] is None for one in windows] == [False] * 4 + [True] * 2
    assert all(one["latency"]["low"] < one["latency"]["high"] for one in windows)
    assert b"trace.parquet" in picture.read_bytes()
    assert "more rows" not in run("blackbox predict", asked).out
    longer = run("blackbox predict", f"{asked.removesuffix('1s')}100ms")
    assert "20 more rows are in the output of --json" in longer.out


def test_the_state_of_the_drive_is_asked_of_who_knows_it(files: Path) -> None:
    asked = ModelInput(WORKLOAD, space="1GiB", fill=0.5, recent_writes="2MiB").rows("modern")
    assert asked["working_set_bytes"].to_list() == [1 << 30]
    assert (asked["fill"].item(), asked["recent_write_bytes"].item()) == (0.5, 2 << 20)
    with pytest.raises(WriteampError, match="'modern' need the state of the drive: give --space"):
        ModelInput(WORKLOAD).rows("modern")
    windows = ModelInput(trace=files / "trace.parquet", window="2s", space="1GiB").rows("modern")
    assert 0 <= windows["fill"][0] < windows["fill"][-1]


def test_the_drive_that_meets_the_bounds_comes_first(files: Path) -> None:
    fast, slow = (
        document("blackbox predict", f"{files}/{one}.model --workload {WORKLOAD}")
        for one in ("fast", "slow")
    )
    bound_us = (fast["latency"]["high"] * slow["latency"]["low"]) ** 0.5
    asked = f"{files}/slow.model {files}/fast.model --workload {WORKLOAD}"
    found = document("blackbox choose", f"{asked} --max-latency {bound_us}us --max-wa 100")
    assert [(one["drive"], one["meets"]) for one in found["choices"]] == [
        ("fast", "yes"),
        ("slow", "no"),
    ]
    first = found["choices"][0]
    assert first["headroom"] == pytest.approx(bound_us / fast["latency"]["value"])
    assert first["sure_headroom"] == pytest.approx(bound_us / fast["latency"]["high"])
    assert first["latency"] == fast["latency"]
    least = (fast["throughput"]["low"] + fast["throughput"]["value"]) / 2
    likely = document("blackbox choose", f"{asked} --min-throughput {least}")
    assert likely["choices"][0]["meets"] == "likely"
    assert "× " in run("blackbox choose", f"{asked} --min-bandwidth 1").out


def test_a_share_of_the_windows_may_miss_the_bounds(files: Path) -> None:
    asked = f"{files}/fast.model --trace {files}/trace.parquet --window 1s"
    windows = document("blackbox predict", asked)["windows"]
    values = [one["latency"]["value"] for one in windows]
    slowest = max(values)
    others = [value for value in values if value < slowest]
    bound_us = (max(others) + slowest) / 2
    share = len(others) / len(values)
    all_of_them = document("blackbox choose", f"{asked} --max-latency {bound_us}us")
    assert all_of_them["choices"][0]["meets"] == "no"
    found = document("blackbox choose", f"{asked} --max-latency {bound_us}us --share {share}")
    assert found["choices"][0]["meets"] in ("likely", "yes")
    assert found["choices"][0]["headroom"] == pytest.approx(bound_us / max(others))


def test_write_amplification_has_no_part_where_nothing_is_written(files: Path) -> None:
    asked = f"{files}/fast.model --workload random:bs=16k,write=0,qd=4 --max-wa 1.1"
    [only] = document("blackbox choose", asked)["choices"]
    assert (only["meets"], only["headroom"], only["wa"]) == ("yes", None, None)
    assert "–" in run("blackbox choose", asked).out


def test_a_bound_on_what_no_model_predicts_is_refused(files: Path) -> None:
    model = train(pl.read_parquet(files / "fast.parquet"), model="linear", targets=["wa"])
    rows = {"extended": ModelInput(WORKLOAD).rows("extended")}
    for bounds, says in (
        ({"latency": 1.0}, "'one' predicts only wa"),
        ({"speed": 1.0}, "unknown target 'speed'"),
        ({}, "no bounds are given"),
        ({"wa": 0.0}, "the bound of wa is 0.0; it must be above 0"),
    ):
        with pytest.raises(WriteampError, match=says):
            choosing.choose({"one": model}, rows, bounds)


# The verb and its arguments, and words that the one sentence must hold.
ERRORS: list[tuple[str, list[str]]] = [
    ("train none.parquet --out {t}/x", ["does not exist", "none.parquet", "collect"]),
    ("train {f}/fast.model --out {t}/x", ["cannot be read", "measurements"]),
    ("train {f}/trace.parquet --out {t}/x", ["holds no measurements", "latency_us"]),
    ("train {t}/text.csv --out {t}/x", ["latency_us", "must hold numbers"]),
    ("train {t}/lacking.parquet --out {t}/x", ["need the column queue_depth"]),
    ("train {f}/fast.parquet --out {f}/fast.parquet", ["the same file"]),
    ("train {f}/fast.parquet --out {t}/x --drive other", ["unknown drive", "fast"]),
    (
        "evaluate {f}/fast.parquet {f}/fast.parquet --cv 5",
        ["cannot be used as a model", "not JSON"],
    ),
    ("evaluate {f}/none.model {f}/fast.parquet --cv 5", ["cannot read model", "No such file"]),
    ("evaluate {f}/fast.model {f}/fast.parquet --cv 1", ["folds", "from 2"]),
    ("evaluate {f}/fast.model {f}/fast.parquet --cv few", ["--cv", "few", "whole number"]),
    ("evaluate {f}/fast.model {f}/others.parquet --plot x.doc", ["doc", "png"]),
    ("predict {f}/fast.model", ["--workload", "--trace"]),
    ("predict {f}/fast.model --workload uniform --trace {f}/trace.parquet", ["give one of"]),
    ("predict {f}/fast.model --workload phases:1=uniform", ["phases"]),
    ("predict {f}/fast.model --workload randum:bs=4k", ["randum", "random"]),
    ("predict {f}/fast.model --workload random:bs=4k,rate=100", ["rate", "qd"]),
    ("predict {f}/fast.model --workload uniform --window 1s", ["--window", "--trace"]),
    ("predict {f}/fast.model --workload uniform --plot x.png", ["--plot", "explain"]),
    ("predict {f}/fast.model --workload uniform --fill 0.5", ["--space"]),
    ("predict {f}/fast.model --trace {f}/trace.parquet --recent-writes 1MB", ["--workload"]),
    ("predict {f}/fast.model --trace {f}/trace.parquet --window 0", ["--window", "above 0"]),
    ("predict {f}/fast.model --trace {f}/none.trace", ["none.trace", "no such file"]),
    ("explain {f}/fast.model --out {t}/x.pdf", ["--out", ".html"]),
    ("explain {f}/fast.model --target speed", ["unknown target", "latency"]),
    ("explain {f}/fast.model --plot {t}/x.png", ["--target"]),
    ("explain {f}/fast.model --workload uniform:x=1", ["uniform"]),
    ("choose {f}/fast.model --workload uniform", ["no bounds are given"]),
    ("choose {f}/fast.model --workload uniform --max-latency 1parsec", ["--max-latency", "10s"]),
    ("choose {f}/fast.model --workload uniform --max-wa nan", ["--max-wa", "above 0"]),
    ("choose {f}/fast.model --workload uniform --max-wa 2 --share 2", ["share", "at most 1"]),
    ("choose x25-m --workload uniform --max-wa 2", ["cannot read model 'x25-m'"]),
]


@pytest.mark.parametrize(("line", "words"), ERRORS, ids=[line for line, _ in ERRORS])
def test_bad_input_is_one_sentence_and_no_file(
    line: str, words: list[str], files: Path, tmp_path: Path
) -> None:
    table = pl.read_parquet(files / "fast.parquet")
    table.drop("queue_depth").write_parquet(tmp_path / "lacking.parquet")
    (tmp_path / "text.csv").write_text("write_ratio,latency_us\n0.5,slow\n")
    before = {*tmp_path.iterdir(), *files.iterdir()}
    verb, _, arguments = line.format(f=files, t=tmp_path).partition(" ")
    done = run(f"blackbox {verb}", arguments)
    assert done.status == 2, done.err
    assert done.out == ""
    [sentence] = done.err.splitlines()
    for word in words:
        assert word in sentence
    assert {*tmp_path.iterdir(), *files.iterdir()} == before


@pytest.mark.parametrize("verb", ["train", "evaluate", "predict", "explain", "choose"])
def test_help_shows_an_example(verb: str) -> None:
    assert f"Example: writeamp blackbox {verb}" in run(f"blackbox {verb}", "--help").out


def test_names_are_listed() -> None:
    found = document("list")
    assert {row["name"] for row in found["feature_sets"]} == {"basic", "extended", "modern"}
    assert "linear-tree" in {row["name"] for row in found["blackbox_models"]}
