"""Lines and heat maps of sweeps: which points they show, and that no axis hides in a mean."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import in_process
import writeamp as wa
from refusals import refusal
from sweeping import ONE_FAILS, FormulaKind, file_of, plan, search
from writeamp.statistics.replicas import student_interval
from writeamp.studies.sweep.kinds.kind import PointResult
from writeamp.studies.sweep.kinds.registry import KINDS
from writeamp.studies.sweep.results import SweepResults
from writeamp.studies.sweep.views.roles import is_log

THREE_AXES = {"op": [0.1, 0.2, 0.4], "manager": ["b", "a"], "load": [1, 2]}


def found(op: float = 0.1, manager: str = "a", load: float = 1, seed: int = 1) -> PointResult:
    """Return a value in which every axis and the seed have digits of their own."""
    value = 10 * op + {"a": 0.0, "b": 0.1}[manager] + 0.01 * load + seed % 7 / 1e4
    return PointResult(value, steady=load != 2, measures={"double": 2 * value, "word": "x"})


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give what runs a sweep of the formula above and returns its results."""
    monkeypatch.setitem(KINDS, "formula", FormulaKind(found))

    def run(**sweep: Any) -> SweepResults:
        return wa.sweep(
            {"verb": "formula", "sweep": sweep}, keep=tmp_path / "out", runner=wa.runners.Here()
        ).results

    return run


def test_a_point_is_the_mean_of_its_replicas_with_students_interval(results: Any) -> None:
    all_of_them = results(axes={"op": [0.1, 0.2]}, replicas=4)
    (series,) = all_of_them.curves().to_dict()["series"]
    first = series["points"][0]
    values = all_of_them.to_frame().filter(op=0.1)["wa"].to_numpy()
    assert len(set(values)) > 1
    assert (first["x"], first["runs"]) == (0.1, 4)
    assert first["y"] == pytest.approx(values.mean())
    assert (first["low"], first["high"]) == pytest.approx(student_interval(values))


def test_axes_without_a_part_become_x_hue_and_facets_in_their_order(results: Any) -> None:
    curves = results(axes=THREE_AXES).curves()
    assert (curves.roles.x, curves.roles.other, curves.roles.facets) == ("op", "manager", ("load",))
    series = curves.to_dict()["series"]
    assert [(one["facet"], one["hue"]) for one in series] == [
        ({"load": 1}, "b"), ({"load": 1}, "a"), ({"load": 2}, "b"), ({"load": 2}, "a"),
    ]  # fmt: skip
    assert [point["x"] for point in series[0]["points"]] == [0.1, 0.2, 0.4]
    assert series[1]["points"][2]["y"] == found(0.4, "a", 1).wa


def test_an_axis_of_words_may_be_x_and_any_number_y(results: Any) -> None:
    curves = results(axes=THREE_AXES).curves("manager", "double", hue="load", facet=["op"])
    panel = curves.to_dict()["series"][0]
    assert [point["x"] for point in panel["points"]] == ["a", "b"]
    assert panel["points"][0]["y"] == found(0.1, "a", 1).measures["double"]
    assert curves.figure().x_names == ("b", "a")


def test_what_was_varied_is_not_drawn_as_what_was_found(results: Any) -> None:
    all_of_them = results(axes=THREE_AXES)
    for axis in ("op", "manager"):
        sentence = refusal(all_of_them.curves, x="load", y=axis)
        assert sentence.startswith(f"y is {axis}, which is an axis of the sweep, not a result")
        assert "x, hue or facet; valid as y: wa, " in sentence
    assert refusal(all_of_them.heat_map, color="load").startswith("color is load, which is an axis")
    assert refusal(all_of_them.curves, facet=[""]).startswith("unknown axis ''")


def test_an_axis_that_would_hide_in_a_mean_is_refused_by_name(results: Any) -> None:
    all_of_them = results(axes=THREE_AXES)
    sentence = refusal(all_of_them.curves, "op", hue="manager", facet=[])
    assert "load varies too" in sentence
    assert "where NAME=VALUE (load: 1, 2)" in sentence
    fixed = all_of_them.where(load=2).curves("op", hue="manager", facet=[])
    assert {point["y"] for one in fixed.to_dict()["series"] for point in one["points"]} == {
        found(op, manager, 2).wa for op in THREE_AXES["op"] for manager in "ab"
    }


def test_axes_that_go_ahead_together_have_one_part_and_no_line(results: Any) -> None:
    zipped = results(axes={"op": [0.1, 0.2], "load": [1, 2]}, zip=["op", "load"]).curves()
    assert zipped.roles.names == ("op",)
    assert "also differ in load" in zipped.figure().subtitle
    (points,) = [line for line in zipped.figure().panels[0].lines if line.marker == "circle"]
    assert points.width_pt == 0


def test_more_axes_or_values_than_a_picture_can_tell_apart_are_refused(
    results: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KINDS, "formula", FormulaKind(lambda **_: PointResult(1.0)))
    five = results(axes={name: [1, 2] for name in "abcde"})
    assert "c, d, e vary too" in refusal(five.curves)
    assert len(five.where(c=1).curves().figure().panels) == 4
    assert "e varies too" in refusal(five.curves, facet=["c", "d"])
    lines = results(axes={"x": [0.5], "line": list(range(29))})
    assert "line has 29 values" in refusal(lines.curves, "x", hue="line")
    panels = results(axes={"x": [0.5], "panel": list(range(13))})
    assert "facet panel makes 13 panels" in refusal(panels.curves, "x", facet=["panel"])
    assert "a has two roles" in refusal(five.curves, "a", hue="a")


def test_where_takes_numbers_as_tables_show_them_and_several_values(results: Any) -> None:
    sweep = results(axes={"op": [1 / 3, 2 / 3, 0.9], "manager": ["a", "b"]})
    assert sweep.where(op="0.333333").tidy.values("op") == [1 / 3]
    assert sweep.where(op=[1 / 3, "0.9"]).tidy.values("op") == [1 / 3, 0.9]
    assert sweep.where({"manager": "b"}, op=0.9).to_frame().height == 1
    assert "there are 0.333333, 0.666667, 0.9" in refusal(sweep.where, op=0.5)
    assert "unknown setting 'opp' (did you mean 'op'?)" in refusal(sweep.where, opp=0.5)


def test_points_that_are_not_steady_are_marked(results: Any) -> None:
    figure = results(axes={"op": [0.1, 0.2], "load": [1, 2]}).curves(hue="load").figure()
    marked = [line for line in figure.panels[0].lines if line.marker == "ring"]
    assert [line.label for line in marked] == ["not steady: may still change"]
    assert [list(line.y) for line in marked] == [[found(op, load=2).wa for op in (0.1, 0.2)]]


def test_a_point_is_steady_if_all_of_its_runs_are(
    results: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(
        KINDS,
        "formula",
        FormulaKind(lambda op, seed: PointResult(op + seed % 7, steady=seed != op)),
    )
    sweep = results(axes={"op": [1, 2]}, replicas=3)
    groups = [(one.steady, one.not_steady) for one in sweep.groups()]
    assert groups == [(False, 1), (True, 0)]
    curves = sweep.curves()
    (series,) = curves.to_dict()["series"]
    assert [(one["steady"], one["not_steady"]) for one in series["points"]] == groups
    rings = [line for line in curves.figure().panels[0].lines if line.marker == "ring"]
    assert [list(line.x) for line in rings] == [[1]]
    table = in_process.run("sweep show", f"{tmp_path / 'out'}").out
    assert "NO, 1 of 3" in table
    assert "yes" in table


def test_points_that_failed_are_left_out_and_counted(tmp_path: Path) -> None:
    sweep = wa.sweep(plan(ONE_FAILS), keep=tmp_path, runner=wa.runners.Here())
    curves = sweep.results.where(warmup=[0, 1000, 5000]).curves("warmup")
    (series,) = curves.to_dict()["series"]
    assert [(point["x"], point["failed"]) for point in series["points"]] == [
        (0, 0), (1000, 0), (5000, 1),
    ]  # fmt: skip
    assert series["points"][2]["y"] is None
    assert "1 of 3 runs failed and are left out" in curves.figure().subtitle
    drawn = [line for line in curves.figure().panels[0].lines if line.marker == "circle"]
    assert [list(line.x) for line in drawn] == [[0, 1000]]


def test_bands_end_where_a_point_has_no_interval(results: Any) -> None:
    curves = results(axes={"op": [0.1, 0.2, 0.3, 0.4]}, replicas=4).curves()
    areas = curves.figure().panels[0].areas
    assert [list(area.x) for area in areas] == [[0.1, 0.2, 0.3, 0.4]]
    single = results(axes={"op": [0.5]}).curves()
    assert single.figure().panels[0].areas == ()
    assert "confidence" not in single.figure().subtitle


def test_a_line_of_many_points_has_no_marks_that_would_hide_it(results: Any) -> None:
    many = results(axes={"op": [at / 100 for at in range(1, 42)]})
    (line,) = many.curves().figure().panels[0].lines
    assert (len(line.x), line.marker) == (41, None)
    (few,) = many.where(op=[0.1, 0.2]).curves().figure().panels[0].lines
    assert (len(few.x), few.marker) == (2, "circle")


def test_bands_are_drawn(results: Any, tmp_path: Path) -> None:
    curves = results(axes={"op": [0.1, 0.2]}, replicas=4).curves()
    (area,) = curves.figure().panels[0].areas
    curves.plot(tmp_path / "out.svg")
    assert "PolyCollection" in (tmp_path / "out.svg").read_text("utf-8")
    curves.plot(tmp_path / "out.html")
    page = (tmp_path / "out.html").read_text("utf-8")
    assert len(re.findall(r'id="(?:data|series)-\d+-\d+"', page)) == 2, "a line and its band"
    assert list(area.low) < list(area.high)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([64, 128, 256, 512], True),
        (np.geomspace(0.08, 0.4, 5).tolist(), True),
        ([64, 161, 406, 1024], True),  # rounded to whole numbers
        ([0.1, 0.2, 0.3, 0.4], False),
        ([1, 2, 3], False),
        ([0, 1, 10], False),
        ([1, 100], False),
        (["a", "b", "c"], False),
    ],
)
def test_an_axis_is_logarithmic_where_its_values_are(values: list[Any], expected: bool) -> None:
    assert is_log(values) is expected


def test_a_logarithmic_axis_is_drawn_so_unless_told_otherwise(results: Any) -> None:
    sweep = results(axes={"op": {"from": 0.1, "to": 1.6, "num": 5, "scale": "log"}})
    figure = sweep.curves().figure()
    assert figure.x_log
    assert figure.x_ticks == (0.1, 0.2, 0.4, 0.8, 1.6)
    assert not sweep.curves(log_x=False).figure().x_log
    assert sweep.curves(log_y=True).figure().y_log


def test_a_logarithm_of_what_has_none_is_refused(results: Any) -> None:
    sweep = results(axes={"op": [0, 0.2], "manager": ["a", "b"]})
    assert "op has values without a logarithm" in refusal(sweep.curves, "op", log_x=True)
    assert "manager has values without a logarithm" in refusal(sweep.curves, "manager", log_x=True)


def test_a_heat_map_has_a_cell_for_each_pair_and_numbers_rise_upwards(results: Any) -> None:
    heat = results(axes=THREE_AXES).where(load=1).heat_map("manager", "op")
    document = heat.to_dict()
    assert (document["x_values"], document["y_values"]) == (["b", "a"], [0.1, 0.2, 0.4])
    assert document["maps"][0]["values"][2] == [found(0.4, one).wa for one in "ba"]
    figure = heat.figure()
    assert figure.y_ticks == ("0.4", "0.2", "0.1")
    assert figure.maps[0].values[0] == tuple(found(0.4, one).wa for one in "ba")
    assert (figure.scale.low, figure.scale.high) == (found(0.1, "a").wa, found(0.4, "b").wa)
    assert figure.cell_text(figure.maps[0].values[0][0]) == "4.11"


def test_a_pair_without_a_result_is_an_empty_cell(results: Any, tmp_path: Path) -> None:
    results(axes={"op": [0.1], "load": [1]})
    results(axes={"op": [0.2], "load": [1, 3]})
    heat = wa.sweep_results(tmp_path / "out").heat_map()
    assert heat.to_dict()["maps"][0]["values"] == [
        [found(0.1).wa, found(0.2).wa],
        [None, found(0.2, load=3).wa],
    ]
    figure = heat.figure()
    assert math.isnan(figure.maps[0].values[0][0])
    assert figure.cell_text(math.nan) == ""


def test_values_are_printed_in_cells_only_where_they_fit(results: Any) -> None:
    wide = results(axes={"op": [at / 100 for at in range(1, 31)], "load": [1, 3]})
    assert wide.heat_map().figure().cell_format == ""
    assert wide.where(op=[0.1, 0.2]).heat_map().figure().cell_format == "{:.2f}"


def test_a_heat_map_without_two_axes_of_cells_is_refused(results: Any) -> None:
    assert "only op varies" in refusal(results(axes={"op": [0.1, 0.2]}).heat_map)
    many = results(axes={"op": [at / 100 for at in range(1, 62)], "load": [1, 3]})
    assert "op has 61 values" in refusal(many.heat_map)
    assert "load varies too" in refusal(results(axes=THREE_AXES).heat_map, facet=[])


def test_one_sweep_of_a_shared_folder_is_shown_alone(results: Any, tmp_path: Path) -> None:
    results(axes={"op": [0.1, 0.2]})
    plan_of_one = {"verb": "formula", "sweep": {"axes": {"op": [0.3]}}}
    wa.sweep(plan_of_one, keep=tmp_path / "out", runner=wa.runners.Here())
    assert wa.sweep_results(tmp_path / "out").tidy.values("op") == [0.1, 0.2, 0.3]
    assert wa.sweep_results(tmp_path / "out", of=plan_of_one).tidy.values("op") == [0.3]


def test_a_simulation_and_a_model_make_two_lines(tmp_path: Path) -> None:
    wa.sweep(plan({"axes": {"op": [0.2, 0.3]}}), keep=tmp_path, runner=wa.runners.Here())
    model = {"model": "markov", "pages_per_block": 16}
    asked = {"verb": "predict", "predict": model, "sweep": {"axes": {"op": [0.2, 0.3]}}}
    wa.sweep(asked, keep=tmp_path, runner=wa.runners.Here())
    curves = wa.sweep_results(tmp_path).curves("op", hue="kind")
    assert [(one.hue, len(one.points)) for one in curves.series] == [
        ("simulate", 2), ("predict", 2),
    ]  # fmt: skip
    over_blocks = wa.sweep_results(tmp_path).curves("blocks", hue="op")
    assert over_blocks.left_out == 2
    assert "2 points without blocks are left out" in over_blocks.figure().subtitle


def test_a_sweep_draws_itself(results: Any, tmp_path: Path) -> None:
    asked = {"verb": "formula", "sweep": {"axes": THREE_AXES}}
    sweep = wa.sweep(asked, keep=tmp_path / "out", runner=wa.runners.Here())
    sweep.plot(tmp_path / "out.svg", x="op", hue="manager", facet=["load"])
    text = (tmp_path / "out.svg").read_text("utf-8")
    for word in ("Write amplification over op", "load = 1", "load = 2", "not steady"):
        assert word in text


GRID = {"axes": {"op": [0.2, 0.3], "manager": ["single", "sepgc"]}, "replicas": 2}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of simulations of two managers at two sizes."""
    folder = tmp_path_factory.mktemp("shown")
    wa.sweep(plan(GRID), keep=folder, runner=wa.runners.Here())
    return folder


def test_the_command_draws_and_prints_what_it_drew(folder: Path, tmp_path: Path) -> None:
    picture = tmp_path / "op.png"
    done = in_process.run("sweep show", f"{folder} --x op --hue manager --plot {picture}")
    assert (done.status, done.err) == (0, "")
    assert picture.read_bytes().startswith(b"\x89PNG")
    document = in_process.document("sweep show", f"{folder} --x op --hue manager")
    assert (document["points"], document["parameters"]) == (8, ["op", "manager"])
    point = document["series"][0]["points"][0]
    assert f"{point['y']:.4f}" in done.out
    assert point["low"] < point["y"] < point["high"]


def test_a_sweep_is_drawn_as_soon_as_it_is_run(tmp_path: Path) -> None:
    file, picture = file_of(tmp_path, plan(GRID)), tmp_path / "out.svg"
    done = in_process.run("sweep", f"{file} --out {tmp_path}/out --workers 1 --plot {picture}")
    assert done.status == 0
    assert "sepgc" in picture.read_text("utf-8")
    refused = in_process.run("sweep", f"{file} --out {tmp_path}/new --plot out.gif")
    assert (refused.status, (tmp_path / "new").exists()) == (2, False)


def test_a_sweep_that_fits_no_picture_is_refused_before_it_is_run(tmp_path: Path) -> None:
    axes = {"op": [0.2, 0.3], "manager": ["single", "sepgc"], "victims": ["greedy", "fifo"]}
    more = {"writes": [3000, 4000], "blocks": [64, 128]}
    file, out = file_of(tmp_path, plan({"axes": axes | more})), tmp_path / "out"
    sentence = in_process.refusal("sweep", f"{file} --out {out} --plot {tmp_path}/out.svg")
    assert "victims, writes, blocks vary too" in sentence
    assert "sweep show" in sentence
    assert not out.exists()


def test_the_counts_are_printed_though_nothing_can_be_drawn(tmp_path: Path) -> None:
    file = file_of(tmp_path, plan({"axes": {"warmup": [5000, 6000]}}))
    command = f"{file} --out {tmp_path}/out --workers 1 --plot {tmp_path}/out.svg --json"
    status, out, err = in_process.run("sweep", command)
    assert (status, json.loads(out)["failed"]) == (2, 2)
    assert "but there are only 3000 writes" in err


def test_a_search_is_drawn_though_its_points_are_not_known_before(tmp_path: Path) -> None:
    pytest.importorskip("optuna", reason="needs optuna, the extra `search`")
    file, picture = file_of(tmp_path, search(samples=3)), tmp_path / "out.svg"
    done = in_process.run("sweep", f"{file} --out {tmp_path}/out --workers 1 --plot {picture}")
    assert done.status == 0
    assert "3 points" in picture.read_text("utf-8")


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ("--kind lines --y gc_programs", "series"),
        ("--kind heatmap --x manager --y op --color erases", "maps"),
        ("--pareto wa,op", "choices"),
        ("--sensitivity --y erases", "sensitivity"),
        ("--where manager=single --where op=0.2", "rows"),
    ],
)
@pytest.mark.parametrize("suffix", ["svg", "html"])
def test_every_way_to_look_draws_prints_and_is_json(
    options: str, key: str, suffix: str, folder: Path, tmp_path: Path
) -> None:
    assert key in in_process.document("sweep show", f"{folder} {options}")
    picture = tmp_path / f"out.{suffix}"
    done = in_process.run("sweep show", f"{folder} {options} --plot {picture}")
    assert (done.status, done.err) == (0, "")
    assert len(done.out.splitlines()) > 4
    assert picture.stat().st_size > 5000


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--x opp", ["unknown axis 'opp'", "did you mean 'op'?"]),
        ("--y waa", ["unknown column 'waa'", "did you mean 'wa'?"]),
        ("--y manager", ["y is manager, which is an axis of the sweep", "valid as y: wa"]),
        ("--where op", ["'op'", "NAME=VALUE"]),
        ("--where op=0.9", ["no result has op = '0.9'", "0.2, 0.3"]),
        ("--kind bars", ["kind", "bars", "lines, heatmap"]),
        ("--kind heatmap --hue op", ["--hue cannot be combined with --kind heatmap", "--color"]),
        ("--sensitivity --pareto wa,op", ["--pareto and --sensitivity", "only one"]),
        ("--pareto wa", ["two or three", "wa,op"]),
        ("--pareto wa,warmup_pages", ["warmup_pages", "min:", "max:"]),
        ("--pareto wa,opp", ["opp"]),
        ("--plot out.gif", ["out.gif", "valid: png"]),
        ("--plot no/such/out.png", ["cannot write plot"]),
        ("--of no-such.toml", ["no-such.toml"]),
        ("--x manager --log-x", ["manager has values without a logarithm"]),
    ],
)
def test_what_cannot_be_shown_is_one_sentence_and_status_2(
    options: str, words: list[str], folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    in_process.refusal("sweep show", f"{folder} {options}", *words)
    assert list(tmp_path.iterdir()) == []
