"""Sweeps whose points are rows of comparisons: the numbers of `compare`, replica by replica."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import in_process
import writeamp as wa
from page_traces import msr_file
from refusals import refused_with
from sweeping import file_of, plan
from writeamp.errors import WriteampError
from writeamp.studies.sweep.plan import plan_of

pytestmark = pytest.mark.usefixtures("in_process")

DRIVE: dict[str, Any] = {"blocks": 64, "pages_per_block": 16, "op": 0.25}
MANAGERS = ["single", "hcwf:d=5,detector=bloom(window=0.1,false_positives=0.2)", "wolf-interval"]
LOADS = ["hot-cold:f=0.1,r=0.9", "groups:sizes=0.5/0.5,freq=0.8/0.2,swap_at=2000"]
REPLICAS = 3


def rows_plan(sweep: dict[str, Any], **tables: Any) -> dict[str, Any]:
    """Return a small sweep of rows, whose run may not say how many replicas there are."""
    found = plan(sweep, verb="compare", **tables)
    found["run"] = {"writes": 3000} | tables.get("run", {})
    return found


def test_a_sweep_over_managers_has_the_numbers_of_compare_of_each_replica(tmp_path: Path) -> None:
    sweep = {"replicas": REPLICAS, "axes": {"workload": LOADS, "managers": MANAGERS}}
    frame = wa.sweep(rows_plan(sweep, run={"seed": 7}), keep=tmp_path).to_frame()
    compared = wa.compare(
        workload=LOADS, managers=MANAGERS, writes=3000, replicas=REPLICAS, seed=7, **DRIVE
    )
    for row in compared.rows:
        of_row = frame.filter(workload=row.workload, managers=row.manager)
        assert of_row["wa"].to_list() == [result.wa for result in row.results]
        assert of_row["seed"].to_list() == [result.plan.seed for result in row.results]
        for cause in ("host", "gc"):
            assert of_row[f"{cause}_programs"].to_list() == [
                one.causes[cause] for one in row.results
            ]
        assert of_row["steady"].to_list() == [result.steady for result in row.results]


def test_the_length_of_a_run_that_is_not_given_is_that_of_compare(tmp_path: Path) -> None:
    tables = rows_plan({"axes": {"managers": ["single"], "victims": ["fifo", "greedy"]}})
    del tables["run"]["writes"]
    frame = wa.sweep(tables, keep=tmp_path).to_frame()
    compared = wa.compare(managers="single", victims="fifo,greedy", replicas=1, **DRIVE)
    assert frame["wa"].to_list() == [row.wa for row in compared.rows]
    assert frame["host_programs"].to_list() == [row.causes["host"] for row in compared.rows]


def test_an_interval_over_replicas_is_that_of_the_row(tmp_path: Path) -> None:
    sweep = {"replicas": REPLICAS, "axes": {"managers": ["single", "sepgc"]}}
    groups = wa.sweep(rows_plan(sweep), keep=tmp_path).results.groups()
    compared = wa.compare(managers="single,sepgc", writes=3000, replicas=REPLICAS, **DRIVE)
    found = {one.to_dict()["managers"]: one.to_dict() for one in groups}
    for row in compared.rows:
        group = found[row.manager]
        assert group["wa"] == pytest.approx(row.wa)
        assert (group["wa_low"], group["wa_high"]) == pytest.approx(row.ci)


def test_parameters_inside_managers_are_axes() -> None:
    file = {"policy": {"managers": ["hcwf:d=3"]}}
    for tables, axes in (
        (file, {"managers.d": [2, 5]}),
        ({}, {"managers": ["hcwf"], "managers.d": [2, 5]}),
    ):
        found = plan_of(rows_plan({"axes": axes}, **tables)).points
        assert [one.settings["policy"]["managers"] for one in found] == [["hcwf:d=2"], ["hcwf:d=5"]]


def test_show_draws_a_line_for_each_manager(tmp_path: Path) -> None:
    axes = {"op": [0.25, 0.4], "managers": ["single", "sepgc"]}
    file = file_of(tmp_path, rows_plan({"axes": axes}))
    out, picture = tmp_path / "out", tmp_path / "rows.svg"
    assert in_process.run("sweep", f"{file} --out {out}").status == 0
    shown = in_process.document("sweep show", f"{out} --x op --hue managers --plot {picture}")
    assert [one["hue"] for one in shown["series"]] == ["single", "sepgc"]
    assert picture.exists()
    one = in_process.document("sweep show", f"{out} --where managers=sepgc --x op")
    assert one["points"] == 2


def test_managers_stand_beside_those_of_simulations_in_one_folder(tmp_path: Path) -> None:
    wa.sweep(plan({"axes": {"manager": ["single", "sepgc"]}}), keep=tmp_path)
    wa.sweep(rows_plan({"axes": {"managers": ["single", "sepgc"]}}), keep=tmp_path)
    frame = wa.sweep_results(tmp_path).to_frame()
    both = frame.group_by("manager").agg(pl.col("kind").sort())
    kinds = ["compare", "simulate"]
    assert dict(both.iter_rows()) == {"single": kinds, "sepgc": kinds}


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"policy": {"managers": ["single", "sepgc"]}}, ["2 rows", "make managers an axis"]),
        ({"policy": {"managers": "single,sepgc"}}, ["2 rows", "make managers an axis"]),
        ({"sweep": {"axes": {"managers": ["single,sepgc"]}}}, ["2 rows", "make managers an axis"]),
        (
            {"policy": {"managers": "single", "victims": ["greedy", "fifo"]},
             "load": {"workload": ["uniform", "zipf:s=0.9"]}},
            ["4 rows", "make victims and workload axes"],
        ),
        ({"policy": {"managers": "single"}, "run": {"replicas": 3}}, ["3", "replicas in [sweep]"]),
        ({"sweep": {"axes": {"managers": ["single"], "replicas": [2]}}}, ["replicas in [sweep]"]),
        ({}, ["managers is missing"]),
        ({"sweep": {"axes": {"manager": ["single"]}}}, ["manager", "managers"]),
        ({"sweep": {"axes": {"manager.d": [5]}}}, ["manager.d", "managers.PARAMETER"]),
        (
            {"policy": {"managers": ["hcwf", "sepgc"]}, "sweep": {"axes": {"managers.d": [5]}}},
            ["managers is a list", "make managers an axis"],
        ),
    ],
)  # fmt: skip
def test_what_is_not_one_run_of_one_row_is_one_sentence(
    tables: dict[str, Any], words: list[str]
) -> None:
    sweep = tables.get("sweep", {"axes": {"op": [0.2]}})
    rest = {title: one for title, one in tables.items() if title != "sweep"}
    with refused_with(*words):
        plan_of(rows_plan(sweep, **rest))


def test_a_workload_and_a_trace_are_two_rows(tmp_path: Path) -> None:
    trace = msr_file(tmp_path / "t.csv", range(400))
    load = {"workload": "uniform", "trace": str(trace)}
    with pytest.raises(WriteampError, match=r"2 rows.*only one of the two"):
        plan_of(rows_plan({"axes": {"managers": ["single"]}}, load=load))


def test_a_trace_is_a_load_of_rows(tmp_path: Path) -> None:
    trace = msr_file(tmp_path / "t.csv", (7 * at % 300 for at in range(900)))
    tables = {
        "verb": "compare",
        "device": {"pages_per_block": 16, "op": 0.3},
        "load": {"trace": str(trace), "repeat": 4},
        "sweep": {"replicas": 2, "axes": {"managers": ["single", "sepgc"]}},
    }
    frame = wa.sweep(tables, keep=tmp_path / "out").to_frame()
    compared = wa.compare(
        trace=str(trace), repeat=4, managers="single,sepgc", replicas=2, pages_per_block=16, op=0.3
    )
    expected = [result.wa for row in compared.rows for result in row.results]
    assert frame["wa"].to_list() == expected
