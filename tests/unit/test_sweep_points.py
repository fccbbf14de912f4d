"""Points of a sweep, whatever their kind, and plans that are refused."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import writeamp as wa
from page_traces import msr_file
from refusals import refused_with
from sweeping import SMALL, plan, points
from writeamp.errors import WriteampError
from writeamp.runs.seeds import replica_seed
from writeamp.studies.sweep.plan import plan_of
from writeamp.studies.sweep.points import run_point

MEAN_FIELD = {"mode": "hcwf", "pages_per_block": 16, "d": 5, "hot_fraction": 0.2,
              "hot_write_fraction": 0.8}  # fmt: skip
ENDURANCE = {"verb": "endurance", "run": {"replicas": 2}, "device": {"blocks": 32}}


def experiment(**settings: Any) -> wa.Experiment:
    return wa.Experiment.from_dict(
        {title: table for title, table in SMALL.items() if title != "sweep"}
    ).with_settings(**settings)


@pytest.mark.parametrize(
    ("axes", "tables", "expected"),
    [
        ({"op": [0.2], "manager": ["sepgc"], "workload": ["zipf:s=0.9"]}, {},
         [{"op": 0.2, "manager": "sepgc", "workload": "zipf:s=0.9"}]),
        ({"fill": [0.8]}, {}, [{"fill": 0.8}]),
        ({"workload.f": [0.1, 0.2], "manager.d_swap": [5], "victims.d": [3]},
         {"load": {"workload": "hot-cold:f=0.5,r=0.9"},
          "policy": {"manager": "hcwf-swap:d=4", "victims": "d-choices"}},
         [{"workload": f"hot-cold:f={share},r=0.9", "manager": "hcwf-swap:d=4,d_swap=5",
           "victims": "d-choices:d=3"} for share in (0.1, 0.2)]),
        ({"workload.f": [0.1], "workload.r": [0.8, 0.9]}, {"load": {"workload": "hot-cold"}},
         [{"workload": f"hot-cold:f=0.1,r={share}"} for share in (0.8, 0.9)]),
        ({"victims": ["d-choices"], "victims.d": [2, 4]}, {},
         [{"victims": f"d-choices:d={d}"} for d in (2, 4)]),
    ],
    ids=["settings", "one that excludes another", "parameters inside specs",
         "parameters that must be given", "specs with their parameters"],
)  # fmt: skip
def test_points_are_the_experiments_that_their_axes_say(
    axes: dict[str, Any], tables: dict[str, Any], expected: list[dict[str, Any]]
) -> None:
    found, experiments = points({"axes": axes}, **tables), [experiment(**one) for one in expected]
    assert [point.hash for point in found] == [one.hash for one in experiments]
    assert [wa.Experiment.from_dict(point.settings) for point in found] == experiments


def test_a_point_is_plain_json_that_can_be_pickled() -> None:
    (point, _) = points()
    assert pickle.loads(pickle.dumps(point)) == point
    assert json.loads(json.dumps(point.settings)) == point.settings


def test_a_point_finds_what_the_library_finds() -> None:
    (point,) = points({"axes": {"op": [0.2]}})
    found, result = run_point(point).result, wa.run(experiment(op=0.2))
    assert found is not None
    assert isinstance(result, wa.Result)
    assert (found.wa, found.causes) == (result.wa, result.causes)
    assert (found.wa_low, found.wa_high) == result.ci
    assert found.measures["host_pages"] == result.host_pages


def test_replicas_have_the_same_seeds_at_every_choice() -> None:
    sweep = {"replicas": 3, "axes": {"op": [0.2, 0.3], "manager": ["single", "sepgc"]}}
    found = points(sweep, run={"seed": 7})
    assert len(found) == 12
    of_choice = [[point.seed for point in found[at : at + 3]] for at in range(0, 12, 3)]
    assert of_choice == [[7, replica_seed(7, 1), replica_seed(7, 2)]] * 4
    assert len(set(of_choice[0])) == 3


def test_more_replicas_or_values_keep_the_points_that_were_there() -> None:
    few = points({"replicas": 2, "axes": {"op": [0.2, 0.3]}})
    more = points({"replicas": 3, "axes": {"manager": ["sepgc", "single"], "op": [0.3, 0.2, 0.4]}})
    assert {point.hash for point in few} < {point.hash for point in more}


@pytest.mark.parametrize("device", [{}, {"profile": "generic"}])
def test_values_in_the_tables_of_a_device_are_axes(device: dict[str, Any]) -> None:
    axes = {"axes": {"device.timing.read_us": [40, 80]}}
    found = points(axes, run={"timed": True}, device=device)
    assert [point.settings["device"]["set"] for point in found] == [
        ["timing.read_us=40"],
        ["timing.read_us=80"],
    ]


def test_a_timed_point_has_latencies() -> None:
    (point,) = points(
        {"axes": {"workload.qd": [4]}},
        load={"workload": "random"},
        run={"time": 0.01, "writes": None, "replicas": 3},
        device={"blocks": 256},
    )
    found = run_point(point)
    assert found.error is None
    assert found.result is not None
    assert found.result.measures["latency_us.write.p99"] > 0


def test_a_life_is_a_point_whose_required_setting_may_be_an_axis() -> None:
    found = plan_of({**ENDURANCE, "sweep": {"axes": {"w_max": [5, 10]}}}).points
    short, long = (run_point(point).result for point in found)
    assert short is not None
    assert long is not None
    assert short.measures["host_pages"] < long.measures["host_pages"]
    assert short.measures["pe_fairness_low"] <= short.measures["pe_fairness"]


def test_a_prediction_is_a_point() -> None:
    sweep = {"axes": {"model": ["markov", "expected-value"], "fill": [0.8]}}
    found = plan_of({"predict": {"op": 0.5}, "verb": "predict", "sweep": sweep}).points
    answers = [run_point(point).result for point in found]
    expected = wa.predict(fill=0.8, models=["markov", "expected-value"])
    assert [one and one.wa for one in answers] == [one.wa for one in expected]


def test_a_mean_field_is_a_point() -> None:
    axes = {"mode": ["hcwf", "hcwf-swap"], "op": [0.2]}
    tables = {"sweep": {"kind": "meanfield", "axes": axes}, "meanfield": MEAN_FIELD | {"d_swap": 3}}
    plain, swap = (run_point(point).result for point in plan_of(tables).points)
    drive = {name: one for name, one in MEAN_FIELD.items() if name != "mode"} | {"op": 0.2}
    assert plain is not None
    assert swap is not None
    assert plain.wa == wa.meanfield.hot_cold(**drive).wa
    assert swap.wa == wa.meanfield.hot_cold_swap(**drive, d_swap=3).wa


def test_choices_that_mean_the_same_are_one_point() -> None:
    found = plan_of(plan({"axes": {"workload": ["zipf:s=0.9", "zipf(s=9e-1)", "uniform"]}}))
    assert [point.choice["workload"] for point in found.points] == ["zipf:s=0.9", "uniform"]
    assert found.merged == 1
    sweep = {"axes": {"model": ["markov"], "op": [1, 1.0]}}
    assert plan_of({"verb": "predict", "sweep": sweep}).merged == 1


def test_traces_are_found_from_the_folder_of_the_file_by_any_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "traces").mkdir()
    for name in ("a", "b"):
        msr_file(tmp_path / "traces" / f"{name}.csv", range(40))
    file = tmp_path / "sweep.toml"
    file.write_text('[load]\ntrace = "traces/a.csv"\n[sweep.axes]\ntrace = ["traces/b.csv"]\n')
    (from_elsewhere,) = plan_of(file).points
    monkeypatch.chdir(tmp_path)
    (from_here,) = plan_of("sweep.toml").points
    assert from_elsewhere == from_here
    assert from_here.settings["load"]["trace"] == str(tmp_path / "traces" / "b.csv")


def test_a_trace_whose_content_has_changed_is_another_point(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    hashes = []
    for count in (40, 40, 50):
        msr_file(trace, range(count))
        (point,) = points({"axes": {"op": [0.2]}}, load={"workload": None, "trace": str(trace)})
        assert list(point.files) == [str(trace)]
        hashes.append(point.hash)
    assert hashes[0] == hashes[1] != hashes[2]


def test_a_point_of_another_version_is_refused() -> None:
    (point, _) = points()
    other = type(point)(**{**vars(point), "version": "0.0.0"})
    with pytest.raises(WriteampError, match=r"0\.0\.0"):
        run_point(other)


_Cases: TypeAlias = list[tuple[dict[str, Any], list[str]]]

EXPERIMENTS: _Cases = [
    ({"sweep": {"axse": {}}}, ["sweep.axse", "axes"]),
    ({"sweep": {"axes": {"opp": [1]}}}, ["opp", "op", "workload.PARAMETER"]),
    ({"sweep": {"axes": {"workload.x": [1]}}}, ["workload", "x", "hot_fraction"]),
    ({"sweep": {"axes": {"workload.s": [1]}}}, ["sweep: ", "uniform", "'s'", "trim"]),
    ({"sweep": {"axes": {"manager.regions": [3]}}}, ["single", "no parameters"]),
    ({"sweep": {"axes": {"wear_leveling.threshold": [1]}}}, ["wear_leveling is not given"]),
    ({"sweep": {"axes": {"op": [0.1, -1]}}}, ["op = -1", "above 0"]),
    ({"sweep": {"axes": {"op": ["much"]}}}, ["op = much", "number"]),
    ({"sweep": {"axes": {"manager": ["single", "singel"]}}}, ["singel", "single"]),
    ({"sweep": {"axes": {"op": [0.1], "fill": [0.5]}}}, ["op", "fill"]),
    ({"sweep": {"axes": {"trace": ["no-such.csv"]}}}, ["no-such.csv", "cannot read"]),
    ({"sweep": {"axes": {"device": ["no-such"]}}}, ["no-such", "device = no-such"]),
    ({"sweep": {"replicas": 0}}, ["replicas", "whole number"]),
    ({"sweep": {"kind": "endurance"}}, ["simulate", "endurance", "one"]),
    ({"verb": "compare"}, ["managers is missing"]),
    ({"verb": "simulat"}, ["simulat", "simulate"]),
    ({"verb": 3}, ["verb", "3", "text"]),
    ({"rum": {}}, ["rum", "run"]),
    ({"run": {"sede": 1}}, ["sede", "seed"]),
    ({"run": 3}, ["run", "3", "table"]),
    ({"run": {"rb_capture": "pins.vcd", "time": 1, "writes": None}}, ["rb_capture", "pins"]),
]
PREDICTIONS: _Cases = [
    ({"sweep": {"axes": {"op": [0.1]}}}, ["model", "missing", "markov"]),
    ({"sweep": {"axes": {"op": [0.1], "model": ["markow"]}}}, ["markow", "markov"]),
    ({"sweep": {"axes": {"model": ["markov"]}}}, ["over-provisioning is missing"]),
    ({"sweep": {"axes": {"s": [1]}}}, ["'s'", "spare_factor"]),
    ({"sweep": {"axes": {"op": [True], "model": ["markov"]}}}, ["op", "number"]),
    ({"sweep": {"axes": {"op": [0.1], "d": [0.5], "model": ["markov"]}}}, ["d = 0.5"]),
    ({"predict": {"pages": 3}, "sweep": {}}, ["predict.pages", "pages_per_block"]),
    ({"device": {}, "sweep": {}}, ["device", "predict"]),
    ({"sweep": {"replicas": 2, "axes": {"op": [0.1], "model": ["markov"]}}}, ["replicas"]),
    (
        {"predict": {"utilization": 0.5, "hot_ratio": 0.5, "model": "markov"},
         "sweep": {"axes": {"target_wa": [2]}}},
        ["target_wa", "utilization"],
    ),
]  # fmt: skip
MEAN_FIELDS: _Cases = [
    ({"mode": "hcw"}, ["hcw", "hcwf"]),
    ({"mode": "hcwf-swap"}, ["d_swap", "missing"]),
    ({"d_swap": 3}, ["d_swap", "hcwf"]),
    ({"d": 0}, ["d is 0"]),
    ({"hot_fraction": "much"}, ["hot_fraction", "number"]),
    ({"op": 0.1, "fill": 0.2}, ["op"]),
]
REFUSED: _Cases = [
    (SMALL, ["table [sweep]"]),
    *((plan(**tables), words) for tables, words in EXPERIMENTS),
    *(({"verb": "predict"} | tables, words) for tables, words in PREDICTIONS),
    *(({"verb": "meanfield", "meanfield": MEAN_FIELD | {"op": 0.2} | changes, "sweep": {}}, words)
      for changes, words in MEAN_FIELDS),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "words"), REFUSED)
def test_a_plan_that_cannot_be_is_one_sentence(asked: dict[str, Any], words: list[str]) -> None:
    with refused_with(*words):
        plan_of(asked)
