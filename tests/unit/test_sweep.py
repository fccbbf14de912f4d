"""`wa.sweep` and `writeamp sweep`: every point once, whatever happens on the way."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import in_process
import writeamp as wa
from page_traces import msr_file
from places import ROOT
from stand_in_runners import Backwards, StopsAfter
from sweeping import ONE_FAILS, file_of, plan
from writeamp.errors import Interrupted, WriteampError
from writeamp.runs.seeds import replica_seed
from writeamp.studies.sweep.points import SweepDataset

pytestmark = pytest.mark.usefixtures("in_process")

GRID = {"replicas": 2, "axes": {"op": [0.2, 0.3], "manager": ["single", "sepgc"]}}


def found_by(sweep: wa.Sweep) -> pl.DataFrame:
    """Return the table without the times that the points took."""
    return sweep.to_frame().drop("elapsed_s")


def test_a_sweep_runs_each_point_once(tmp_path: Path) -> None:
    first = wa.sweep(plan(GRID), keep=tmp_path / "out")
    assert (first.points, first.done, first.skipped, first.failed) == (8, 8, 0, 0)
    second = wa.sweep(plan(GRID), keep=tmp_path / "out")
    assert (second.done, second.skipped) == (0, 8)
    assert_frame_equal(first.to_frame(), second.to_frame())


def test_a_changed_sweep_runs_only_what_is_new(tmp_path: Path) -> None:
    wa.sweep(plan(GRID), keep=tmp_path)
    more = GRID | {"replicas": 3, "axes": {"op": [0.3, 0.4], "manager": ["single"]}}
    found = wa.sweep(plan(more), keep=tmp_path)
    assert (found.points, found.skipped, found.done) == (6, 2, 4)
    assert found.to_frame()["op"].to_list() == [0.3] * 3 + [0.4] * 3
    assert SweepDataset.open(tmp_path).rows().height == 12


def test_the_table_has_every_parameter_and_what_was_found(tmp_path: Path) -> None:
    frame = wa.sweep(plan(GRID), keep=tmp_path).to_frame()
    assert frame.columns[:2] == ["op", "manager"]
    first = frame.row(0, named=True)
    run = wa.simulate(
        blocks=64, pages_per_block=16, op=0.2, manager="single", writes=3000, replicas=1
    )
    assert first["wa"] == run.wa
    assert (first["wa_low"], first["wa_high"]) == run.ci
    assert first["gc_programs"] == run.causes["gc"]
    assert first["steady"] == run.steady
    expected = {"blocks": 64, "workload": "uniform", "seed": 1, "replica": 0, "error": None}
    expected |= {"host_pages": run.host_pages, "version": wa.__version__, "kind": "simulate"}
    assert expected.items() <= first.items()
    assert len(first["hash"]) == 64
    assert frame["elapsed_s"].min() > 0


def test_columns_have_the_types_of_their_values(tmp_path: Path) -> None:
    axes = {"workload.s": [0.5, 1], "warmup": ["auto", 100], "blocks": [32, 64]}
    frame = wa.sweep(plan({"axes": axes}, load={"workload": "zipf"}), keep=tmp_path).to_frame()
    types = {"workload.s": pl.Float64, "warmup": pl.String, "blocks": pl.Int64, "timed": pl.Boolean}
    assert {name: frame.schema[name] for name in types} == types
    assert set(frame["workload"]) == {"zipf:s=0.5", "zipf:s=1"}


def test_a_setting_that_the_drive_decides_is_in_the_table(tmp_path: Path) -> None:
    frame = wa.sweep(plan({"axes": {"fill": [0.8]}}), keep=tmp_path).to_frame()
    assert frame["fill"].to_list() == [0.8]
    assert frame["op"].to_list() == pytest.approx([0.25], rel=0.01)


def test_results_do_not_depend_on_the_order(tmp_path: Path) -> None:
    forwards = wa.sweep(plan(GRID), keep=tmp_path / "forwards")
    backwards = wa.sweep(plan(GRID), keep=tmp_path / "backwards", runner=Backwards())
    assert_frame_equal(found_by(forwards), found_by(backwards))


def test_two_sweeps_share_a_folder_and_each_sees_its_own(tmp_path: Path) -> None:
    managers = wa.sweep(plan(GRID), keep=tmp_path)
    models = {"verb": "predict", "sweep": {"axes": {"op": [0.2], "model": ["markov"]}}}
    predicted = wa.sweep(models, keep=tmp_path)
    assert managers.to_frame()["kind"].unique().to_list() == ["simulate"]
    assert predicted.to_frame()["kind"].to_list() == ["predict"]
    assert SweepDataset.open(tmp_path).rows().height == 9


def test_a_point_that_fails_is_a_row_and_the_rest_go_on(tmp_path: Path) -> None:
    first = wa.sweep(plan(ONE_FAILS), keep=tmp_path)
    assert (first.done, first.failed, first.skipped) == (2, 1, 0)
    errors = first.to_frame()["error"].to_list()
    assert "warmup is 5000" in errors.pop(1)
    assert errors == [None, None]
    second = wa.sweep(plan(ONE_FAILS), keep=tmp_path)
    assert (second.done, second.failed, second.skipped, second.failed_before) == (0, 0, 3, 1)
    third = wa.sweep(plan(ONE_FAILS), keep=tmp_path, retry_failed=True)
    assert (third.done, third.failed, third.skipped, third.failed_before) == (0, 1, 2, 0)
    assert SweepDataset.open(tmp_path).rows().height == 3


def test_a_fault_of_the_engine_is_a_row_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Panic(BaseException):
        """A stand-in for a panic of the engine."""

    def run(*_: object) -> None:
        raise Panic("index out of bounds")

    monkeypatch.setattr("writeamp.studies.sweep.kinds.experiments.simulate_drive", run)
    found = wa.sweep(plan(), keep=tmp_path)
    assert found.failed == 2
    assert "Panic: index out of bounds" in found.to_frame()["error"][0]
    monkeypatch.undo()
    assert wa.sweep(plan(), keep=tmp_path, retry_failed=True, runner=wa.runners.Here()).done == 2


def test_nothing_is_run_or_written_if_one_point_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(WriteampError, match="op = -1"):
        wa.sweep(plan({"axes": {"op": [0.1, 0.2, -1]}}), keep=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_ctrl_c_keeps_what_is_finished(tmp_path: Path) -> None:
    with pytest.raises(Interrupted) as stopped:
        wa.sweep(plan(GRID), keep=tmp_path, runner=StopsAfter(3))
    partial = stopped.value.finished
    assert (partial.points, partial.done) == (8, 3)
    has = partial.to_frame().select("op", "manager", "replica").to_dicts()
    assert len(partial.unfinished) == 5
    assert not [one for one in partial.unfinished if one in has]
    assert partial.to_frame().height == 3
    again = wa.sweep(plan(GRID), keep=tmp_path)
    assert (again.skipped, again.done) == (3, 5)


def test_progress_counts_the_points_that_are_run(tmp_path: Path) -> None:
    wa.sweep(plan(ONE_FAILS), keep=tmp_path)
    calls: list[tuple[int, int]] = []
    wa.sweep(plan(GRID), keep=tmp_path, progress=lambda *call: calls.append(call))
    assert calls == [(done, 8) for done in range(9)]


def test_a_saved_experiment_becomes_a_sweep_by_one_table(tmp_path: Path) -> None:
    file = tmp_path / "experiment.toml"
    experiment = wa.Experiment.of("simulate", blocks=64, pages_per_block=16, writes=2000)
    text = experiment.to_toml(file) + "[sweep.axes]\nop = [0.2, 0.3]\n"
    file.write_text(text)
    hashes = wa.sweep(file, keep=tmp_path / "out").to_frame()["hash"].to_list()
    assert hashes == [experiment.with_settings(op=op).hash for op in (0.2, 0.3)]


def test_the_command_prints_its_counts_and_skips_what_is_there(tmp_path: Path) -> None:
    command = f"{file_of(tmp_path, plan(GRID))} --out {tmp_path / 'out'}"
    first = in_process.document("sweep", command)
    assert first.pop("elapsed_s") > 0
    counts = {"points": 8, "done": 8, "skipped": 0, "failed": 0, "failed_before": 0}
    extremes = first.pop("extremes")
    assert first == counts | {"out": str(tmp_path / "out")}
    rows = in_process.document("sweep show", str(tmp_path / "out"))["rows"]
    assert extremes["rows"] == [end(rows, key=lambda row: row["wa"]) for end in (min, max)]
    second = in_process.document("sweep run", command)
    assert (second["done"], second["skipped"]) == (0, 8)
    table = in_process.run("sweep", command)
    assert table.status == 0
    assert "skipped" in table.out
    shown = in_process.run("sweep show", str(tmp_path / "out")).out
    assert table.out.startswith(shown.split(".\n")[0])


def test_the_command_tells_of_points_that_fail(tmp_path: Path) -> None:
    command = f"--out {tmp_path / 'out'} {file_of(tmp_path, plan(ONE_FAILS))} --json"
    status, out, err = in_process.run("sweep", command)
    assert (status, json.loads(out)["failed"]) == (1, 1)
    assert "warmup 5000" in err
    assert "there are only 3000 writes" in err
    status, out, err = in_process.run("sweep", command)
    again = json.loads(out)
    assert (status, again["skipped"], again["failed"], again["failed_before"]) == (1, 3, 0, 1)
    assert "--retry-failed" in err
    status, out, _ = in_process.run("sweep", f"{command} --retry-failed")
    assert (status, json.loads(out)["failed"]) == (1, 1)


def test_show_prints_a_row_for_the_replicas_of_each_choice(tmp_path: Path) -> None:
    wa.sweep(plan(GRID), keep=tmp_path / "out")
    found = in_process.document("sweep show", f"{tmp_path / 'out'}")
    assert (found["parameters"], found["points"]) == (["op", "manager"], 8)
    assert [(row["op"], row["manager"]) for row in found["rows"]] == [
        (0.2, "sepgc"), (0.2, "single"), (0.3, "sepgc"), (0.3, "single"),
    ]  # fmt: skip
    frame = wa.sweep(plan(GRID), keep=tmp_path / "out").to_frame()
    single = frame.filter(op=0.2, manager="single")["wa"]
    row = found["rows"][1]
    assert row["runs"] == 2
    assert row["wa"] == pytest.approx(single.mean())
    assert row["wa_low"] < min(single) < max(single) < row["wa_high"]
    table = in_process.run("sweep show", f"{tmp_path / 'out'}").out
    assert "sepgc" in table
    assert f"{row['wa']:.4f}" in table


def test_show_keeps_experiments_apart_that_share_a_folder(tmp_path: Path) -> None:
    for blocks in (64, 128):
        sweep = plan({"replicas": 2, "axes": {"op": [0.2]}}, device={"blocks": blocks})
        wa.sweep(sweep, keep=tmp_path)
    found = in_process.document("sweep show", f"{tmp_path}")
    assert found["parameters"] == ["op", "blocks"]
    assert [(row["blocks"], row["runs"]) for row in found["rows"]] == [(64, 2), (128, 2)]


def test_show_keeps_results_apart_whose_trace_was_changed(tmp_path: Path) -> None:
    trace, out = tmp_path / "trace.csv", tmp_path / "out"
    load = {"workload": None, "trace": str(trace)}
    asked = plan({"axes": {"op": [0.2]}}, load=load, run={"warmup": 0})
    del asked["load"]["workload"]
    file = file_of(tmp_path, asked)
    found = []
    for stride in (1, 7):
        msr_file(trace, (at * stride % 400 for at in range(3000)))
        found.append(wa.sweep(file, keep=out).to_frame().row(0, named=True))
    rows = in_process.document("sweep show", f"{out}")["rows"]
    shown = {row["study"]: (row["wa"], row["runs"]) for row in rows}
    assert shown == {one["study"]: (one["wa"], 1) for one in found}
    table = in_process.run("sweep show", f"{out}").out
    assert all(one["study"][:12] in table for one in found)
    status, printed, err = in_process.run("sweep show", f"{out} --x op")
    assert (status, printed) == (2, "")
    assert "was changed between sweeps" in err
    (series,) = in_process.document("sweep show", f"{out} --x op --of {file}")["series"]
    assert [point["y"] for point in series["points"]] == [found[1]["wa"]]


def test_what_is_an_axis_of_one_sweep_is_a_setting_of_the_others(tmp_path: Path) -> None:
    wa.sweep(plan({"axes": {"op": [0.2]}}), keep=tmp_path)
    both = {"op": [0.2, 0.3], "manager": ["single", "sepgc"]}
    assert wa.sweep(plan({"axes": both}), keep=tmp_path).skipped == 1
    wa.sweep(plan({"axes": {"op": [0.2]}}, policy={"manager": "hcwf"}), keep=tmp_path)
    found = wa.sweep_results(tmp_path)
    values = sorted(found.to_frame().select("op", "manager").rows())
    assert values == [
        (0.2, "hcwf"), (0.2, "sepgc"), (0.2, "single"), (0.3, "sepgc"), (0.3, "single"),
    ]  # fmt: skip
    assert found.where(manager="hcwf").to_frame()["op"].to_list() == [0.2]


def test_a_value_has_one_spelling_though_an_axis_spells_it_otherwise(tmp_path: Path) -> None:
    spelled = ["hot-cold:r=0.9,f=0.1"]
    axes = {"op": [0.2], "workload": spelled}
    wa.sweep(plan({"axes": axes}), keep=tmp_path)
    load = {"workload": spelled[0]}
    wa.sweep(plan({"axes": {"op": [0.3]}}, load=load), keep=tmp_path)
    assert wa.sweep_results(tmp_path).to_frame()["workload"].n_unique() == 1


def test_replicas_of_an_axis_of_seeds_have_the_seeds_that_they_were_run_with(
    tmp_path: Path,
) -> None:
    frame = wa.sweep(plan({"axes": {"seed": [1, 2]}, "replicas": 2}), keep=tmp_path).to_frame()
    expected = [replica_seed(seed, replica) for seed in (1, 2) for replica in (0, 1)]
    assert frame["seed"].to_list() == expected


def test_show_tells_of_failures_and_of_an_empty_folder(tmp_path: Path) -> None:
    wa.sweep(plan(ONE_FAILS), keep=tmp_path / "out")
    assert "1, 1 failed" in in_process.run("sweep show", f"{tmp_path / 'out'}").out
    SweepDataset.make(tmp_path / "empty")
    empty = in_process.run("sweep show", f"{tmp_path / 'empty'}")
    assert (empty.status, empty.err) == (0, "")


def test_the_shipped_example_has_forty_points(tmp_path: Path) -> None:
    shorter = tmp_path / "short.toml"
    text = (ROOT / "examples" / "op_by_manager.toml").read_text("utf-8")
    shorter.write_text(text.replace("writes = 8_000_000", "writes = 8_000").replace("2048", "128"))
    assert shorter.read_text() != text
    found = wa.sweep(shorter, keep=tmp_path / "out")
    assert (found.points, found.failed) == (40, 0)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("no-such.toml --out out", ["no-such.toml", "No such file"]),
        ("{sweep}", ["--keep"]),
        ("{bad} --out out", ["sweep.axes", "manger", "manager"]),
        ("{sweep} --out {sweep}", ["cannot make folder", "sweep.toml"]),
        ("{sweep} --out {folder}", ["other files", "empty folder"]),
        ("show {folder}", ["no results"]),
        ("show no-such", ["no-such", "no results"]),
        ("show", ["DIR"]),
        ("{sweep} extra --out out", ["extra"]),
        ("{sweep} --out /proc/out", ["/proc/out"]),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(
    line: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = file_of(tmp_path, plan(GRID))
    bad = tmp_path / "bad.toml"
    bad.write_text('[sweep.axes]\nmanger = ["single"]\n')
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    command = line.format(sweep=sweep, bad=bad, folder=tmp_path)
    in_process.refusal("sweep", command, *words)
    assert list(empty.iterdir()) == []
