"""Experiments and specs as values: from keywords, options and files, with one grammar."""

from __future__ import annotations

import inspect
import pickle
import typing
from pathlib import Path

import numpy as np
import pytest

import writeamp as wa
from in_process import document, refusal
from places import TRACE
from refusals import refused_with
from writeamp.registry import Spec, engine_entries, split_specs
from writeamp.settings.experiment import VERBS, setting_places
from writeamp.studies import arguments

REQUIRED = {"simulate": {}, "compare": {"managers": "single,hcwf:d=5"}, "endurance": {"w_max": 20}}


def experiment(verb: str = "simulate", **settings: object) -> wa.Experiment:
    return wa.Experiment.of(verb, **(REQUIRED[verb] | settings))


@pytest.mark.parametrize("verb", VERBS)
def test_an_experiment_survives_its_file_its_table_and_a_pickle(verb: str, tmp_path: Path) -> None:
    asked = experiment(verb, workload="hot-cold:f=0.1,r=0.9", op=0.2, seed=7, victims="fifo")
    path = tmp_path / "experiment.toml"
    asked.to_toml(path)
    for found in (
        wa.Experiment.from_toml(path),
        wa.Experiment.from_dict(asked.to_dict()),
        pickle.loads(pickle.dumps(asked)),
    ):
        assert found == asked
        assert found.hash == asked.hash


@pytest.mark.parametrize("verb", VERBS)
def test_the_complete_experiment_is_written(verb: str) -> None:
    table = experiment(verb).to_dict()
    assert table["verb"] == verb
    assert table["load"]["precondition"] == "full"
    assert table["run"]["seed"] == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"workload": "uniform", "manager": "single", "victims": "greedy", "seed": 1}),
        ({"workload": "hot-cold:f=0.1,r=0.9"}, {"workload": "hot-cold(r=0.9,f=1e-1)"}),
        ({"manager": "hcwf", "workload": "zipf"},
         {"manager": "hcwf:d=10", "workload": wa.workload("zipf", s=0.99),
          "victims": "d-choices(d=10)"}),
        ({"op": 0.25}, {"fill": 0.8}),
        ({}, {"device": "generic", "blocks": 8192}),
        ({}, {"batch_pages": 7}),
        ({"utilization": 1}, {"utilization": np.float64(1.0)}),
    ],
)  # fmt: skip
def test_what_means_the_same_has_one_hash(one: dict, other: dict) -> None:
    assert experiment(**one).hash == experiment(**other).hash


@pytest.mark.parametrize(
    "other",
    [{"seed": 2}, {"op": 0.2}, {"workload": "zipf"}, {"manager": "sepgc"}, {"writes": 10},
     {"victims": "fifo"}, {"precondition": "none"}, {"layout": "striped"}, {"warmup": 0}],
)  # fmt: skip
def test_what_differs_has_another_hash(other: dict) -> None:
    assert experiment(**other).hash != experiment().hash


def test_a_hash_is_the_same_in_every_version() -> None:
    # Changing these changes the names of results that people keep.
    assert experiment().hash.startswith("0d13dc0da1d8")


def test_traces_are_held_by_path_or_by_digest(tmp_path: Path) -> None:
    by_path = experiment(trace=TRACE, repeat=2)
    assert by_path.to_dict()["load"]["trace"] == str(TRACE)
    held = experiment(trace=wa.traces.read(TRACE))
    again = experiment(trace=wa.traces.read(TRACE))
    assert held == again
    assert held.hash == again.hash != by_path.hash
    assert pickle.loads(pickle.dumps(held)).hash == held.hash
    digest = held.to_dict()["load"]["trace"]["digest"]
    assert digest.startswith("sha256:")
    with pytest.raises(wa.WriteampError, match=r"load\.trace: the trace was in memory"):
        wa.Experiment.from_dict(held.to_dict())
    other = experiment(trace=wa.traces.to_pages(wa.traces.read(TRACE)))
    assert other.hash != held.hash


def test_paths_in_a_file_are_relative_to_it(tmp_path: Path, monkeypatch: object) -> None:
    folder = tmp_path / "studies"
    folder.mkdir()
    (tmp_path / "trace.parquet").write_bytes(TRACE.read_bytes())
    monkeypatch.chdir(tmp_path)  # type: ignore[attr-defined]
    asked = experiment(trace="trace.parquet")
    asked.to_toml(folder / "one.toml")
    assert 'trace = "../trace.parquet"' in (folder / "one.toml").read_text("utf-8")
    assert wa.Experiment.from_toml(folder / "one.toml").load.trace == "trace.parquet"
    monkeypatch.chdir(folder)  # type: ignore[attr-defined]
    assert wa.Experiment.from_toml("one.toml").load.trace == "../trace.parquet"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('verb = "simulate"\n[run]\nsede = 1', ["e.toml:run.sede", "did you mean 'seed'"]),
        ('verb = "simulate"\n[runn]\nseed = 1', ["e.toml:runn", "did you mean 'run'"]),
        ('verb = "simulat"', ["e.toml:verb", "did you mean 'simulate'"]),
        ("", ["e.toml", "verb is missing"]),
        ('verb = "simulate"\n[run]\nseed = -1', ["e.toml:run", "seed is -1", "from 0 to"]),
        ('verb = "simulate"\n[run]\nprecision = "x"', ["e.toml:run", "precision is 'x'"]),
        ('verb = "simulate"\nrun = 3', ["e.toml:run is 3", "a table"]),
        ('verb = "simulate"\n[load]\nworkload = "zipff"', ["e.toml:load", "'zipf'"]),
        ('verb = "endurance"', ["e.toml:run", "w_max is missing"]),
        ('verb = "endurance"\n[run]\nw_max = 9\n[load]\ntrace = "t"\nrepeat = 2', ["repeat"]),
        ('verb = "simulate"\n[device.profile]\nblocks = 3', ["device.profile", "channels"]),
        ("verb = ", ["e.toml: not valid TOML"]),
    ],
)  # fmt: skip
def test_what_a_file_has_wrong_is_named_with_its_place(
    text: str, words: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "e.toml"
    path.write_text(text)
    with refused_with(*words):
        wa.Experiment.from_toml(path)


def test_replacing_one_of_two_that_exclude_each_other_replaces_the_other() -> None:
    asked = experiment(fill=0.7, blocks=64)
    assert asked.with_settings(op=0.3).device.fill is None
    assert asked.with_settings(logical_pages=900).device.blocks is None
    replay = experiment(trace=TRACE, repeat=3)
    assert replay.with_settings(workload="zipf").load.trace is None
    assert replay.with_settings(workload="zipf").load.repeat == "auto"
    assert (
        experiment(workload="zipf", utilization=0.5).with_settings(trace=TRACE).load.workload
        is None
    )


def test_the_files_that_it_reads_are_traces_and_profiles() -> None:
    asked = experiment(trace="run.csv", precondition="aged:before.csv", device="mine.toml")
    assert asked.input_files == ("run.csv", "before.csv", "mine.toml")


@pytest.mark.parametrize("verb", VERBS)
def test_the_keyword_functions_take_every_setting_and_show_its_default(verb: str) -> None:
    function = getattr(wa, verb)
    shown = inspect.signature(function).parameters
    places = set(setting_places(verb)) - {"threads"}  # in whose place `runner` is
    assert set(shown) - {"progress", "runner", "keep"} == places
    typed = typing.get_type_hints(getattr(arguments, f"{verb.capitalize()}Arguments"))
    assert set(typed) == places - {"device", "workload"}
    assert shown["seed"].default == 1
    assert "\n        seed: seed of all random numbers" in function.__doc__


def test_an_argument_that_is_none_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'sede'"):
        wa.simulate(sede=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'repeat'"):
        wa.endurance(w_max=3, repeat=2)  # type: ignore[call-arg]


def test_a_file_runs_as_its_options_do_and_options_win(tmp_path: Path) -> None:
    arguments = "--workload zipf:s=1.1 --blocks 64 --pages-per-block 16 --op 0.25 --writes 5000"
    path = tmp_path / "one.toml"
    asked = document("simulate", f"{arguments} --save-config {path}")
    again = document("simulate", str(path))
    unlike = ("elapsed_s", "host_pages_per_s")
    assert {k: v for k, v in asked.items() if k not in unlike} == {
        k: v for k, v in again.items() if k not in unlike
    }
    other = document("simulate", f"{path} --fill 0.7 --seed 2")
    assert other["fill"] == pytest.approx(0.7, abs=1e-3)
    assert (other["seed"], other["workload"]) == (2, "zipf:s=1.1")


@pytest.mark.parametrize("verb", ["compare", "endurance"])
def test_the_other_verbs_read_and_write_files_too(verb: str, tmp_path: Path) -> None:
    path = tmp_path / "one.toml"
    experiment(verb, blocks=64, pages_per_block=16, op=0.25, replicas=2,
               **({"writes": 2_000} if verb == "compare" else {})).to_toml(path)  # fmt: skip
    saved = tmp_path / "two.toml"
    found = document(verb, f"{path} --save-config {saved}")
    assert found["replicas"] == 2
    assert wa.Experiment.from_toml(saved) == wa.Experiment.from_toml(path)
    assert wa.run(saved).to_dict().keys() >= {"replicas", "version"}


def test_a_file_for_another_verb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "one.toml"
    experiment().to_toml(path)
    said = refusal("compare", str(path))
    assert "verb is 'simulate'; it must be 'compare' here" in said
    assert "cannot read experiment" in refusal("simulate", str(tmp_path / "none.toml"))


SAME = [
    ("workloads", ["hot-cold:f=0.1,r=0.9", "hot-cold:r=0.9,f=1e-1", "hot-cold(f=.1,r=0.90)"]),
    ("workloads", ["zipf", "zipf:s=0.99", "zipf(s=9.9e-1)"]),
    ("workloads", ["phases:writes=1e5/2e5,of=uniform/zipf",
                   "phases(of=uniform/zipf(s=0.99),writes=100000/200000)"]),
    ("managers", ["hcwf", "hcwf:d=10", "hcwf(detector=oracle,d=1e1)"]),
    ("managers", ["hcwf:detector=bloom", "hcwf:detector=bloom(window=0.25)"]),
    ("victims", ["d-choices", "d-choices:d=10"]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "texts"), SAME)
def test_spellings_that_mean_the_same_are_equal(kind: str, texts: list[str]) -> None:
    specs = [Spec.of(kind, text) for text in texts]  # type: ignore[arg-type]
    assert len(set(specs)) == 1
    assert len({spec.canonical for spec in specs}) == 1
    assert [str(spec) for spec in specs] == texts
    assert Spec.of(kind, specs[0].canonical) == specs[0]  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["workloads", "managers", "victims", "wear_levelers", "detectors"])
def test_every_registered_example_parses_to_every_parameter(kind: str) -> None:
    for entry in engine_entries(kind):  # type: ignore[arg-type]
        spec = Spec.of(kind, entry.example)  # type: ignore[arg-type]
        own = [param.name for param in entry.params if not (param.common or param.later)]
        assert list(spec.params) == own


def test_a_spec_is_made_by_keyword_checked_and_prints_as_its_text() -> None:
    spec = wa.workload("mix", sizes=[0.1, 0.9], weights=(0.9, 0.1),
                       of=[wa.workload("hot-cold", f=0.2, r=0.8), "uniform"])  # fmt: skip
    assert str(spec) == "mix:sizes=0.1/0.9,weights=0.9/0.1,of=hot-cold(f=0.2,r=0.8)/uniform"
    assert spec == wa.workload(str(spec))
    assert pickle.loads(pickle.dumps(spec)) == spec
    with pytest.raises(AttributeError):
        spec.name = "zipf"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: wa.workload("hot-cold", f=0.1), ["needs hot_write_fraction="]),
        (lambda: wa.manager("hcwf:d=5", d_swap=9), ["and by keyword; use only one"]),
        (lambda: wa.victims("d-choices", d=True), ["d of victim policy is True"]),
        (lambda: wa.workload("zipf", s="1,t=2"), ["which has several values"]),
        (lambda: wa.simulate(workload=wa.victims("fifo")), ["fifo", "give a workload"]),
    ],
)  # fmt: skip
def test_what_is_no_spec_is_refused_when_made(make: object, words: list[str]) -> None:
    with refused_with(*words):
        make()  # type: ignore[operator]


def test_specs_are_accepted_wherever_their_text_is() -> None:
    case = {"blocks": 64, "pages_per_block": 16, "op": 0.25, "writes": 5_000, "warmup": 1_000}
    by_text = wa.simulate(
        workload="zipf:s=1.2", manager="hcwf:detector=bloom", victims="d-choices:d=5", **case
    )
    by_value = wa.simulate(
        workload=wa.workload("zipf", s=1.2),
        manager=wa.manager("hcwf", detector="bloom"),
        victims=wa.victims("d-choices", d=5),
        **case,
    )
    unlike = ("elapsed_s", "host_pages_per_s")
    first, second = by_text.to_dict(), by_value.to_dict()
    assert {k: v for k, v in first.items() if k not in unlike} == {
        k: v for k, v in second.items() if k not in unlike
    }
    found = wa.compare(
        managers=[wa.manager("single"), "sepgc"], workload="zipf", blocks=64, pages_per_block=16,
        op=0.25, writes=2_000, replicas=1,
    )  # fmt: skip
    assert [row.manager for row in found.rows] == ["single", "sepgc"]


@pytest.mark.parametrize(
    "text", ["hcwf-swap(d=5,d_swap=9),single", "hcwf-swap:d=5,d_swap=9,single"]
)
def test_compare_takes_every_spec_that_simulate_takes(text: str) -> None:
    found = document(
        "compare",
        f"--managers '{text}' --workload hot-cold:f=0.1,r=0.9 --blocks 64 --pages-per-block 16 "
        "--op 0.25 --writes 2000 --replicas 1",
    )
    assert [row["manager"] for row in found["rows"]] == split_specs("managers", text)


@pytest.mark.parametrize(
    "workload", ["hot-cold:f=0.1,r=0.9", "hot-cold:r=0.9,f=0.1", "hot-cold(f=1e-1,r=0.9)"]
)
def test_every_spelling_gets_its_mean_field(workload: str) -> None:
    result = wa.simulate(workload=workload, manager="hcwf(d=5)", blocks=64, pages_per_block=16,
                         op=0.25, writes=2_000, warmup=1_000)  # fmt: skip
    assert "mean field of hcwf(d=5)" in result.theory.model


@pytest.mark.parametrize("workload", ["uniform:trim=0.1", "hot-cold:f=0.1,r=0.9,trim=0.1"])
def test_no_theory_is_claimed_of_a_workload_that_trims(workload: str) -> None:
    case = {"blocks": 64, "pages_per_block": 16, "op": 0.25, "writes": 5_000, "manager": "hcwf"}
    assert "for comparison" in wa.simulate(workload=workload, **case).theory.model
    case["manager"] = "single"
    assert "for comparison" in wa.simulate(workload=workload, **case).theory.model
