"""Over-provisioning that a write amplification needs, and write amplification over op."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import in_process
import writeamp as wa
from in_process import document
from page_traces import page_trace
from places import TRACE
from stand_in_runners import EndsEarly
from writeamp.errors import Interrupted, RefusedError, WriteampError
from writeamp.plots.spec import LineChart
from writeamp.runners import Here, Threads
from writeamp.settings.experiment import Experiment
from writeamp.studies.capacity import scale as capacity_scale
from writeamp.studies.op import probes
from writeamp.studies.op.curve import run_op_curve
from writeamp.traces.pages import PageTrace

DRIVE: dict[str, Any] = {"logical_pages": 4096, "pages_per_block": 8, "writes": 300_000}
SMALL: dict[str, Any] = {"logical_pages": 2048, "pages_per_block": 16, "writes": 100_000}
OF_SMALL = "--logical-pages 2048 --pages-per-block 16 --writes 100000"

PAIRS: dict[str, tuple[float, dict[str, Any]]] = {
    "uniform, greedy": (1.8, {"workload": "uniform"}),
    "uniform, fifo": (2.2, {"workload": "uniform", "victims": "fifo"}),
    "zipf, sepgc": (1.6, {"workload": "zipf:s=0.99", "manager": "sepgc"}),
    "hot-cold, hcwf": (1.8, {"workload": "hot-cold:f=0.1,r=0.9", "manager": "hcwf:d=5"}),
    "database, sepbit": (1.5, {"workload": "database", "manager": "sepbit"}),
    "zipf, d-choices": (1.4, {"workload": "zipf:s=0.8", "victims": "d-choices:d=10"}),
}


def strided(pages: int, stride: int) -> PageTrace:
    """Return a trace that writes every page once, in strides, which loops lock in phase with."""
    return page_trace(np.arange(pages) * stride % pages)


LOCKED: dict[str, Any] = {"trace": strided(2048, 17), "pages_per_block": 16, "repeat": 10}


@pytest.mark.parametrize("pair", PAIRS)
def test_a_run_at_the_op_found_with_another_seed_has_the_wa_asked_for(pair: str) -> None:
    target_wa, settings = PAIRS[pair]
    settings = settings | DRIVE
    found = wa.required_op(target_wa, **settings)
    own = wa.simulate(**settings, op=found.op, seed=99)
    assert isinstance(own, wa.Result)
    assert own.device.geometry.blocks == found.result.device.geometry.blocks
    assert own.ci[0] <= own.wa <= own.ci[1] < 1.02 * own.wa
    # Both intervals err: that of this run, and that of the one by which the op was chosen.
    slack = (found.result.ci[1] - found.result.ci[0]) / 2
    assert own.ci[0] - slack <= target_wa <= own.ci[1] + slack
    assert found.ci[0] <= found.op <= found.ci[1] < 1.15 * found.ci[0]
    assert not any(found.is_open)


def test_the_op_found_with_another_seed_lies_in_the_interval() -> None:
    settings = DRIVE | {"workload": "uniform"}
    found, other = (wa.required_op(1.8, **settings, seed=seed) for seed in (1, 2))
    assert found.ci[0] <= other.op <= found.ci[1]
    theory = found.theory
    assert theory.op == pytest.approx(found.op, rel=0.02)
    assert theory.wa == pytest.approx(found.wa, rel=0.01)
    assert "greedy, uniform writes" in theory.model


def test_a_trace_is_met_to_the_block() -> None:
    weights = np.arange(1, 2001) ** -0.8
    trace = np.random.default_rng(1).choice(2000, 20_000, p=weights / weights.sum())
    played: dict[str, Any] = {"trace": trace, "manager": "sepgc", "pages_per_block": 16}
    played["repeat"] = 6
    found = wa.required_op(1.5, **played)
    own = wa.simulate(**played, op=found.op, spread=False, seed=7)
    assert own.causes == found.result.causes
    before, after = (
        wa.simulate(**played, op=found.op + way * found.step_op, spread=False) for way in (-1, 1)
    )
    assert before.wa > 1.5 > after.wa
    assert abs(own.wa - 1.5) <= min(before.wa - 1.5, 1.5 - after.wa) + 1e-9
    # Where the interval ends, the target leaves that of WA.
    ends = [wa.simulate(**played, op=op, spread=False) for op in (found.ci[0], found.ci[1])]
    assert ends[0].ci[0] > 1.5 > ends[1].ci[1]
    assert found.is_monotone


@pytest.mark.parametrize(
    ("target_wa", "settings", "words"),
    [
        (1.5, {"trace": np.random.default_rng(1).integers(0, 3000, 9000), "pages_per_block": 32,
               "repeat": 2}, "not steady"),
        (1.5, {"trace": strided(2048, 17), "pages_per_block": 16, "writes": 9,
               "precondition": "random:2"}, "too short for an interval"),
        (1.6, {"workload": "uniform", "logical_pages": 4096, "pages_per_block": 16, "writes": 100},
         "WA that is not steady"),
    ],
    ids=["passes that do not agree", "a trace of few writes", "few writes"],
)  # fmt: skip
def test_an_op_whose_runs_tell_nothing_has_no_interval(
    target_wa: float, settings: dict[str, Any], words: str
) -> None:
    found = wa.required_op(target_wa, **settings)
    assert not found.result.steady
    assert not found.result.steady_state.loop_decides
    assert all(math.isnan(end) for end in found.ci)
    assert any(words in one for one in found.warnings)
    said = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert said["op_low"] is said["op_high"] is None


def test_every_drive_shows_the_host_the_same() -> None:
    found = wa.required_op(1.8, workload="uniform", **SMALL)
    step = SMALL["pages_per_block"] / SMALL["logical_pages"]
    assert found.step_op == step
    for point in found.points:
        assert point["op"] == pytest.approx(point["blocks"] * step - 1)
    assert found.result.device.logical_pages == SMALL["logical_pages"]
    assert [point["op"] for point in found.points] == sorted(point["op"] for point in found.points)
    assert found.tried["blocks"].to_list() == [point["blocks"] for point in found.points]
    profile = wa.required_op(1.2, "fdp-datacenter", "uniform", size="64MiB", writes=200_000)
    assert profile.result.device.capacity_bytes == 64 * 2**20
    drive = profile.result.device
    assert profile.step_op == pytest.approx(
        drive.planes * drive.pages_per_block / drive.logical_pages
    )


def test_where_wa_is_not_monotone_the_interval_holds_every_crossing() -> None:
    found = wa.required_op(1.3, **LOCKED)
    curve = wa.wa_over_op([blocks / 128 - 1 for blocks in range(138, 180)], **LOCKED)
    ops = [result.device.op for result in curve.results]
    above = [result.wa > 1.3 for result in curve.results]
    crossings = [
        op for op, one, next_one in zip(ops, above, above[1:], strict=False) if one != next_one
    ]
    assert len(crossings) == 3, "WA falls below the target, rises above it and falls again"
    assert found.ci[0] <= min(crossings) < max(crossings) < found.ci[1]
    assert found.ci[1] > found.op + 0.1
    assert not found.is_monotone
    assert found.rise is not None
    assert found.rise.larger_op > found.rise.op
    assert found.rise.larger_wa > found.rise.wa
    (sentence,) = [one for one in found.warnings if "not monotone" in one]
    assert "crossing of 1.3" in sentence
    document = found.to_dict()
    assert document["monotone"] is False
    assert document["rise"]["larger_wa"] == found.rise.larger_wa


@pytest.mark.parametrize(
    ("target_wa", "settings", "words"),
    [
        (1000.0, {"workload": "uniform"}, "a WA of 1000 under single, greedy: WA is"),
        (1.0001, {"workload": "sequential"}, "fewest that the manager supports"),
        (1.001, {"workload": "uniform", "victims": "random"}, "the most that the search tries"),
    ],
)
def test_a_wa_that_no_op_reaches_is_refused_with_the_reach(
    target_wa: float, settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(WriteampError) as caught:
        wa.required_op(target_wa, **settings, **SMALL)
    sentence = str(caught.value)
    assert words in sentence
    assert "at op" in sentence
    assert "2,048 logical pages" in sentence


def test_the_reach_is_that_of_the_drives_at_its_ends() -> None:
    with pytest.raises(WriteampError) as caught:
        wa.required_op(1.001, workload="uniform", victims="random", **SMALL)
    largest = wa.simulate(workload="uniform", victims="random", op="400%", replicas=1, **SMALL)
    assert f"{largest.wa:.4f} at op 4, and 640 blocks" in str(caught.value)


def test_a_wa_of_one_is_found_where_nothing_is_copied() -> None:
    found = wa.required_op(1.0, **LOCKED)
    assert found.wa == 1.0
    assert found.result.causes["gc"] == 0


def test_a_table_begins_with_the_op_and_notes_that_differ_in_numbers_are_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    search = wa.required_op(1.0, **LOCKED)
    assert search.card().rows[0] == (
        "op for WA 1", f"{search.op:.4g} = (T-U)/U  ({search._interval()})"
    )  # fmt: skip
    curve = wa.wa_over_op([0.2, 0.3], **LOCKED)
    device = curve.results[0].device
    ends = " times, until its passes agreed", " times"
    looped = [
        SimpleNamespace(notes=[f"the trace was looped {passes}{end}"], device=device)
        for passes, end in zip((15, 12), ends, strict=True)
    ]
    monkeypatch.setattr(type(curve), "results", looped)
    assert curve.notes[0] == "the trace was looped 12–15 times"


REFUSED: list[tuple[str, str]] = [
    ("--target-wa 0.9", "--target-wa is 0.9; it must be a finite number, at least 1"),
    ("--target-wa nan", "--target-wa is nan"),
    ("--target-wa much", "'much' is not a number"),
    ("--target-wa 1.5 --sweep op=0.1:0.2:3", "exclude each other"),
    ("--target-wa 1.5 --op 0.2", "--op and --target-wa exclude each other"),
    ("--sweep op=0.1:0.2:3 --fill 0.8", "--fill and --sweep exclude each other"),
    ("--target-wa 1.5 --spare-factor 0.2", "--spare-factor and --target-wa"),
    ("--target-wa 1.5 --blocks 100", "--logical-pages, --logical-blocks or --size"),
    ("--target-wa 1.5 --time 1s", "untimed"),
    ("--target-wa 1.5 --timed", "untimed"),
    ("--sweep op=0.1:0.2:3 --rb-capture a.vcd", "untimed"),
    ("--target-wa 1.5 --series --json", "--series is for a single run"),
    ("--sweep op=0.1:0.2", "name=from:to:points"),
    ("--sweep pages_per_block=32:64:2", "unknown swept parameter 'pages_per_block'"),
    ("--sweep op=-0.1:0.2:3", "op is -0.1"),
    ("--sweep fill=0.5:1:3", "fill is 1.0"),
    ("--target-wa 1.5 --manager wolf --workload zipf:s=1 --logical-pages 2048", "wolf"),
    ("--sweep op=0.001:0.2:2 --manager sepgc --logical-pages 64 --pages-per-block 16", "at op"),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED)
def test_bad_questions_are_one_sentence(arguments: str, words: str) -> None:
    in_process.refusal("simulate", arguments, words)


def test_an_experiment_of_another_verb_is_refused() -> None:
    experiment = Experiment.of("endurance", w_max=10)
    with pytest.raises(WriteampError, match="for simulate, not for endurance"):
        run_op_curve(experiment, [0.1])


@pytest.mark.parametrize(
    ("sweep", "words"),
    [
        ([], "sweep is empty"),
        (0.1, "sweep is 0.1; it must be text"),
        ("op", "sweep 'op' is not name=from:to:points"),
        ([0.1, "much"], "op is 'much'; it must be a number"),
        ([float("inf")], "op is inf; it must be a finite number"),
        ([None], "every op must be a number"),
        ([0.1, None], "every op must be a number"),
    ],
)
def test_what_is_no_sweep_is_refused(sweep: Any, words: str) -> None:
    with pytest.raises(WriteampError, match=words):
        wa.wa_over_op(sweep, **SMALL)


def test_the_command_answers_as_the_library(tmp_path: Path) -> None:
    picture = tmp_path / "op.png"
    arguments = f"--workload hot-cold:f=0.1,r=0.9 {OF_SMALL} --target-wa 1.8 --manager sepgc"
    found = document("simulate", f"{arguments} --plot {picture}")
    own = wa.required_op(1.8, workload="hot-cold:f=0.1,r=0.9", manager="sepgc", **SMALL)
    answer = [found[key] for key in ("op", "op_low", "op_high", "wa")]
    assert answer == [own.op, *own.ci, own.wa]
    assert found["points"] == json.loads(json.dumps(list(own.points)))
    assert found["theory"].keys() == {"op", "wa", "model", "outside"}
    assert found["theory"]["op"] == own.theory.op
    assert found["logical_pages"] == SMALL["logical_pages"]
    assert found["spare_factor"] == pytest.approx(found["op"] / (1 + found["op"]))
    assert {"target_wa", "wa_ci95", "steady", "fill", "blocks", "warnings", "notes", "seed"} <= (
        found.keys()
    )
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert f"for WA 1.8 of {found['workload']}" in str(own)
    status, out, _ = in_process.run("simulate", arguments)
    assert status == 0
    assert f"{own.op:.4g} = (T-U)/U" in out
    assert f"{own.ci[0]:.4g} to {own.ci[1]:.4g}" in out


def test_a_sweep_has_the_counters_of_runs_of_their_own(tmp_path: Path) -> None:
    picture = tmp_path / "op.html"
    found = document(
        "simulate",
        f"--trace {TRACE} --manager sepgc --sweep op=0.05:0.4:3 --plot {picture}",
    )
    assert found["swept"] == "op"
    assert [point["asked"] for point in found["points"]] == pytest.approx([0.05, 0.225, 0.4])
    for point in found["points"]:
        own = wa.simulate(trace=TRACE, manager="sepgc", op=point["asked"], spread=False)
        assert isinstance(own, wa.Result)
        assert point["op"] == own.device.op
        assert point["wa"] == own.wa
        assert point["wa_ci95"] == list(own.ci)
        assert point["steady"] == own.steady
        assert point["theory"] == vars(own.theory)
    assert found["logical_pages"] == own.device.logical_pages
    assert b"<html" in picture.read_bytes()


@pytest.mark.parametrize("ratio", ["fill", "spare_factor"])
def test_a_sweep_runs_over_other_ratios(ratio: str) -> None:
    found = wa.wa_over_op(f"{ratio}=0.3:0.7:3", workload="uniform", **SMALL)
    shown = [getattr(result.device, ratio) for result in found.results]
    assert shown == pytest.approx([0.3, 0.5, 0.7], rel=0.02)
    figure = found.figure()
    assert isinstance(figure, LineChart)
    assert ratio.replace("_", " ") in figure.x_label
    status, out, _ = in_process.run("simulate", f"{OF_SMALL} --sweep {ratio}=0.5:0.7:2")
    assert status == 0
    assert ratio.split("_", maxsplit=1)[0] in out
    assert f"{wa.wa_over_op(f'{ratio}=0.5:0.7:2', **SMALL).points[0].result.device.op:.4g}" in out


def test_values_that_are_one_drive_are_simulated_once() -> None:
    calls: list[tuple[int, int]] = []
    drive = SMALL | {"workload": "uniform", "pages_per_block": 64}
    found = wa.wa_over_op([0.25, 0.2501, 0.5], progress=lambda *call: calls.append(call), **drive)
    assert len(found.points) == 3
    assert calls[-1] == (3, 3)
    again = wa.wa_over_op([0.26, 0.27], **drive)
    assert again.points[0].result is not None
    assert again.points[0].result.device == again.points[1].result.device
    (note,) = (note for note in again.notes if note.startswith("the 2 requested values"))
    assert note.endswith("simulated on only 1 drive, because drives consist of whole blocks")


def test_threads_change_nothing() -> None:
    here, threads = (
        wa.wa_over_op("op=0.1:0.5:4", workload="zipf:s=0.9", runner=runner, **SMALL)
        for runner in (Here(), Threads(2))
    )
    assert here.to_frame().equals(threads.to_frame())


def test_ctrl_c_keeps_the_points_that_were_finished() -> None:
    def stop(done: int, _: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        wa.wa_over_op("op=0.1:0.5:5", workload="uniform", runner=Here(), progress=stop, **SMALL)
    part = caught.value.finished
    assert isinstance(part, wa.OpCurve)
    assert len(part.points) == 2
    assert part.unfinished == pytest.approx((0.3, 0.4, 0.5))
    assert part.to_dict()["unfinished"] == list(part.unfinished)
    assert part.to_dict()["interrupted"] is True


def test_the_picture_shows_target_interval_and_theory() -> None:
    found = wa.required_op(1.8, workload="uniform", **SMALL)
    figure = found.figure()
    (band,) = figure.bands
    assert (band.x_low, band.x_high) == (found.ci[0], found.ci[1])
    (level,) = figure.levels
    assert level.value == 1.8
    labels = [line.label for line in figure.lines if line.label]
    assert any(label.startswith("theory:") for label in labels)
    assert any(f"op {found.op:.4g}" in label for label in labels)


def test_progress_grows_and_ends_within_what_is_expected() -> None:
    calls: list[tuple[int, int]] = []
    uniform = SMALL | {"workload": "uniform"}
    wa.required_op(1.8, progress=lambda *call: calls.append(call), **uniform)
    done = [one for one, _ in calls]
    assert done[-1] > 0
    assert all(one <= expected for one, expected in calls)


def test_an_experiment_file_is_asked_too(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    Experiment.of("simulate", workload="uniform", **SMALL).to_toml(file)
    found = document("simulate", f"{file} --target-wa 1.8")
    assert found["op"] == wa.required_op(1.8, workload="uniform", **SMALL).op


@pytest.fixture
def capacity(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the settings of a search for a capacity, on small drives that stand for it."""
    for name, pages in {"_MOST_PAGES": 4096, "_FEWEST_PAGES": 4096, "_FEWEST_BLOCKS": 64}.items():
        monkeypatch.setattr(capacity_scale, name, pages)
    return {"workload": "uniform", "pages_per_block": 16, "capacity": "1GiB", "precision": 0.005}


def test_a_capacity_is_searched_on_the_drive_that_stands_for_it(capacity: dict[str, Any]) -> None:
    found = wa.required_op(1.8, **capacity)
    plain = wa.required_op(1.8, **capacity | {"capacity": None, "logical_pages": 4096})
    assert found.op == plain.op
    assert found.ci[0] <= plain.ci[0] < plain.ci[1] <= found.ci[1]
    assert found.result.scaling is not None
    assert found.result.scaling.scale.factor == 2**30 / 4096 / 4096
    document = found.to_dict()
    assert document["capacity_bytes"] == 2**30
    assert document["scaling_error"] > 0
    curve = wa.wa_over_op("op=20%:40%:2", **capacity)
    assert curve.to_dict()["scale_factor"] == found.result.scaling.scale.factor
    assert all(point["scaling_error"] > 0 for point in curve.to_dict()["points"])
    # The error of scaling is part of the interval.
    wide = [one.result.ci[1] - one.result.ci[0] for one in curve.points]
    assert all(
        width >= 2 * p["scaling_error"]
        for width, p in zip(wide, curve.to_dict()["points"], strict=True)
    )


def test_a_second_search_for_a_capacity_runs_nothing_not_even_the_smaller_drive(
    capacity: dict[str, Any], tmp_path: Path
) -> None:
    first = wa.required_op(1.8, **capacity, keep=tmp_path / "out")
    runner = EndsEarly(0, lambda: pytest.fail("a drive was run"))
    again = wa.required_op(1.8, **capacity, keep=tmp_path / "out", runner=runner)
    assert again.store_stats is not None
    assert again.store_stats.done == 0
    assert runner.begun == 0
    assert again.to_dict()["scaling_error"] == first.to_dict()["scaling_error"] > 0


def test_a_smaller_drive_that_is_refused_leaves_the_error_of_scaling_unknown(
    capacity: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    smaller, real = 4096 // 4, probes.run

    def run(plan: Any, drive: Any, *progress: Any) -> Any:
        if drive.logical_pages == smaller:
            raise error
        return real(plan, drive, *progress)

    monkeypatch.setattr(probes, "run", run)
    error: WriteampError = RefusedError("too small")
    assert wa.required_op(1.8, **capacity).to_dict()["scaling_error"] is None
    error = WriteampError("the cluster is lost")
    with pytest.raises(WriteampError, match="the cluster is lost"):
        wa.required_op(1.8, **capacity)


def test_arguments_that_cannot_be_used_are_refused_before_a_run() -> None:
    with pytest.raises(WriteampError, match="progress is 5"):
        wa.required_op(1.6, progress=5)  # type: ignore[arg-type]
    with pytest.raises(WriteampError, match="progress is 5"):
        wa.wa_over_op([0.1], progress=5)  # type: ignore[arg-type]


def test_a_curve_says_each_kind_of_warning_once_and_asks_for_round_values() -> None:
    drive: dict[str, Any] = {"logical_pages": 4096, "pages_per_block": 16, "writes": 5000}
    found = wa.wa_over_op("op=0.05:0.4:6", **drive)
    assert [one.requested for one in found.points] == [0.05, 0.12, 0.19, 0.26, 0.33, 0.4]
    unsteady = [one for one in found.warnings if "not steady" in one]
    assert len(unsteady) == 1
    assert unsteady[0].startswith("at op 0.2617, 0.332, 0.4023")
