"""Comparing block managers: one row each, the same drive and host for all."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import writeamp as wa
from in_process import document, run
from places import TRACE
from writeamp.plots.figures.wa_by_policy import PolicyResult, wa_by_policy
from writeamp.registry import split_specs
from writeamp.runs.seeds import replica_seed
from writeamp.statistics.replicas import student_interval
from writeamp.studies.compare import comparison
from writeamp.studies.compare.result import Comparison, Row

DRAWN: dict[str, Any] = {"op": 0.3, "pages_per_block": 32}
DRIVE = {"blocks": 128, "pages_per_block": 32, "op": 0.2}
HOT_COLD = "hot-cold:f=0.1,r=0.9"


def test_each_row_is_what_simulate_finds_with_the_same_seeds() -> None:
    found = wa.compare(
        workload=HOT_COLD, managers=["single", "hcwf:d=5"], replicas=2, writes=50_000, **DRIVE
    )
    assert [row.manager for row in found.rows] == ["single", "hcwf:d=5"]
    for row in found.rows:
        asked: dict[str, Any] = {"workload": HOT_COLD, "manager": row.manager, "writes": 50_000}
        alone = [
            wa.simulate(**asked, warmup=25_000, seed=seed, **DRIVE)
            for seed in (1, replica_seed(1, 1))
        ]
        assert [result.causes for result in row.results] == [one.causes for one in alone]
        assert row.wa == pytest.approx(sum(one.wa for one in alone) / 2)
        assert row.ci[0] < row.wa < row.ci[1]
        assert 0 < row.pe_fairness <= 1


def test_the_order_of_rows_and_the_number_of_threads_change_nothing() -> None:
    managers = ["sepgc", "single"]
    once = wa.compare(managers=managers, runner=wa.runners.Here(), writes=20_000, **DRIVE)
    again = wa.compare(
        managers=managers[::-1], runner=wa.runners.Threads(4), writes=20_000, **DRIVE
    )
    assert once.rows[0].wa == again.rows[1].wa
    assert once.rows[1].causes == again.rows[0].causes


def test_the_table_has_a_line_for_each_manager_and_the_keys_of_the_document() -> None:
    found = wa.compare(managers=["single", "sepgc"], replicas=1, writes=50_000, **DRIVE)
    keys = {"manager", "wa", "wa_ci95", "causes", "pe_fairness", "bytes_per_page"}
    for row in found.to_dict()["rows"]:
        assert keys | {"host_pages_per_s"} <= set(row)
    assert found.to_frame()["manager"].to_list() == ["single", "sepgc"]
    assert found.to_frame()["causes_host"].to_list() == [r.causes["host"] for r in found.rows]


def test_the_same_half_of_the_same_writes_is_measured_of_every_manager() -> None:
    found = wa.compare(
        managers="single,sepbit,wolf-interval", replicas=1, **(DRIVE | {"blocks": 512}),
        workload="groups:sizes=0.1/0.9,freq=0.9/0.1,swap_at=30000", writes=60_000,
    )  # fmt: skip
    measured = {row.causes["host"] for row in found.rows}
    in_all = {row.results[0].writes for row in found.rows}
    assert len(measured) == len(in_all) == 1
    assert measured.pop() == in_all.copy().pop() - in_all.pop() // 2


def test_a_run_too_short_to_erase_anything_has_no_fairness() -> None:
    found = wa.compare(managers="single", writes=10, replicas=1, **DRIVE)
    json.dumps(found.to_dict(), allow_nan=False)
    assert found.to_dict()["rows"][0]["pe_fairness"] is None


def test_a_parameter_without_its_colon_is_refused_with_the_spec_that_was_meant() -> None:
    with pytest.raises(wa.WriteampError, match=r"'d=5' follows 'hcwf' without a colon.*hcwf:d=5"):
        split_specs("managers", "single,hcwf,d=5")


@pytest.mark.parametrize(
    ("text", "specs"),
    [
        ("single,sepgc", ["single", "sepgc"]),
        ("hcwf-swap:d=5,d_swap=9,single", ["hcwf-swap:d=5,d_swap=9", "single"]),
        ("single, hcwf:d=5,detector=bloom(window=0.1,false_positives=0.2),sepgc",
         ["single", "hcwf:d=5,detector=bloom(window=0.1,false_positives=0.2)", "sepgc"]),
    ],
)  # fmt: skip
def test_commas_within_a_spec_do_not_separate(text: str, specs: list[str]) -> None:
    assert split_specs("managers", text) == specs


def test_an_error_names_the_manager_that_it_comes_from() -> None:
    with pytest.raises(wa.WriteampError, match=r"^hcwf: hcwf needs hints on the group"):
        wa.compare(trace=TRACE, managers=["hcwf"], replicas=1, op=0.2)


def test_the_verb_prints_a_table_or_a_document_and_draws(tmp_path: Path) -> None:
    picture = tmp_path / "compare.png"
    command = (
        f"--managers single,hcwf:d=5 --workload {HOT_COLD} --blocks 128 "
        f"--pages-per-block 32 --op 0.2 --writes 50000 --replicas 2 --plot {picture}"
    )
    assert "hcwf:d=5" in run("compare", command).out
    assert picture.stat().st_size > 10_000
    assert [row["manager"] for row in document("compare", command)["rows"]] == [
        "single",
        "hcwf:d=5",
    ]


WITH_THEORY: dict[str, Any] = {
    "workload": ["uniform", HOT_COLD],
    "managers": ["single", "hcwf:d=5"],
    "victims": ["greedy", "d-choices:d=3"],
    "replicas": 1,
    "writes": 20_000,
}


def test_a_row_has_the_theory_that_simulate_says_of_it_and_none_where_that_is_for_comparison() -> (
    None
):
    found = wa.compare(**WITH_THEORY, **DRIVE)
    described = []
    for row, facts in zip(found.rows, found.to_dict()["rows"], strict=True):
        alone = wa.simulate(
            workload=row.workload,
            manager=row.manager,
            victims=None if row.manager == "hcwf:d=5" else row.victims,
            writes=20_000,
            spread=False,
            **DRIVE,
        ).theory
        said = (facts["theory_wa"], facts["theory_model"])
        if "for comparison" in alone.model:
            assert said == (None, None)
            continue
        assert said == (alone.wa, alone.model)
        described.append((row.workload, row.policy))
    assert described == [
        ("uniform", "single with greedy"),
        ("uniform", "single with d-choices:d=3"),
        ("uniform", "hcwf:d=5 with d-choices:d=5"),
        (HOT_COLD, "hcwf:d=5 with d-choices:d=5"),
    ]
    frame = found.to_frame()
    assert frame["theory_wa"].null_count() == len(found.rows) - len(described)
    assert frame["theory_model"].null_count() == len(found.rows) - len(described)


def test_theory_of_a_row_is_marked_on_its_bar_and_shown_beside_its_wa(tmp_path: Path) -> None:
    found = wa.compare(**WITH_THEORY, **DRIVE)
    chart = found.figure()
    rows = [row for load in found.loads for row in load.by_wa]
    marks = [row.theory.wa if row.theory else None for row in rows]
    (points,) = chart.points
    assert points.label == "theory of the row"
    assert dict(zip(points.y, points.x, strict=True)) == {
        at: mark for at, mark in enumerate(marks) if mark
    }
    assert min(chart.reaches()) >= 1
    card = found.card()
    shown = [row[part.columns.index(">theory")] for part in card.parts for row in part.rows]
    assert shown == [f"{mark:.3f}" if mark else "" for mark in marks]
    assert any("mean field of hcwf:d=5" in note for note in card.legend)
    found.plot(tmp_path / "marked.html")
    assert f"theory of the row: {points.x[0]:.4f}" in (tmp_path / "marked.html").read_text()


def test_rows_that_one_model_describes_name_it_and_rows_without_any_have_no_mark() -> None:
    short: dict[str, Any] = {"replicas": 1, "writes": 20_000} | DRIVE
    one = wa.compare(managers="single,sepgc", **short)
    (points,) = one.figure().points
    assert points.label == "theory: Markov (greedy, uniform writes)"
    none = wa.compare(managers="single", workload="zipf", **short)
    assert none.figure().points == ()
    assert ">theory" not in none.card().columns


def a_row(*, drifting: int) -> Row:
    """Return a row of three replicas, of which so many are said to drift."""
    found = wa.compare(managers="single", writes=100_000, **DRIVE).rows[0]
    assert found.steady
    drifts = {"steady": False, "reason": "drifting: write amplification still falls by 0.0168"}
    results = [
        replace(result, steady_state=replace(result.steady_state, **drifts))
        if at < drifting
        else result
        for at, result in enumerate(found.results)
    ]
    return Row("single", tuple(results))


@pytest.mark.parametrize(
    ("drifting", "reason"),
    [(1, r"^2 of 3 runs are steady: no drift"), (2, "in the mean of 3 runs$"), (3, "^drifting")],
    ids=["one run decides nothing", "the mean decides for two", "all three decide"],
)
def test_a_row_is_steady_unless_all_of_its_runs_drift(drifting: int, reason: str) -> None:
    row = a_row(drifting=drifting)
    assert row.steady == (drifting < 3)
    assert re.search(reason, row.steady_reason)
    warnings = [
        f"the WA of single is not steady and may change in a longer run: {row.steady_reason}"
    ]
    assert Comparison((row,)).warnings == ([] if row.steady else warnings)


def test_a_mean_that_drifts_is_not_steady_and_says_why() -> None:
    # The measured half has a change of the workload in its middle.
    phases = "phases:writes=150000/75000,of=uniform/sequential"
    arguments = f"--managers single --workload {phases} --writes 200000 --blocks 128 --op 0.2"
    [row] = document("compare", f"{arguments} --pages-per-block 32")["rows"]
    assert not row["steady"]
    assert row["steady_reason"]
    done = run("compare", f"{arguments} --pages-per-block 32")
    assert "│ * " in done.out
    assert ", not steady: each page" in " ".join(done.out.split())
    assert done.out.count("WA is not steady") == 1
    assert row["steady_reason"] not in done.out
    assert done.err.count("\n") == 1
    assert row["steady_reason"] in done.err


def test_replicas_that_are_all_alike_have_the_interval_of_one() -> None:
    found = wa.compare(trace=TRACE, managers="single", op=0.2, repeat=2, replicas=2)
    [row] = found.rows
    assert row.results[0].wa == row.results[1].wa
    assert row.ci == row.results[0].ci
    assert row.ci[0] < row.wa < row.ci[1]
    chart = found.figure()
    assert "± is 95% confidence" in chart.subtitle
    assert "±" in chart.texts[0]
    assert chart.low[0] < row.wa < chart.high[0]


def test_no_row_of_a_trace_is_told_more_precisely_than_its_own_runs_are() -> None:
    found = wa.compare(
        trace=TRACE, managers="single", victims=["greedy", "d-choices:d=10"], repeat=1, **DRAWN
    )
    for row in found.rows:
        low, high = np.mean([result.ci for result in row.results], axis=0)
        assert row.ci[0] - 1e-9 <= low < row.wa < high <= row.ci[1] + 1e-9
    drawn = found.rows[1]
    over_replicas = student_interval(np.array([result.wa for result in drawn.results]))
    assert over_replicas[1] - over_replicas[0] < (drawn.ci[1] - drawn.ci[0]) / 5


def test_a_trace_is_no_more_steady_than_simulate_finds_it_and_the_advice_is_the_same() -> None:
    alone = wa.simulate(trace=TRACE, victims="greedy", spread=False, repeat=1, **DRAWN)
    assert alone.steady_state.reason.startswith("drifting: write amplification still rises")
    found = wa.compare(trace=TRACE, managers="single", victims="greedy", repeat=1, **DRAWN)
    [row] = found.rows
    assert not row.steady
    assert row.steady_reason.startswith("drifting: write amplification still rises")
    [_, advice] = found.warnings
    assert advice == alone.warnings[1]
    assert advice.endswith("in 1 pass, too little for a steady WA; increase --repeat")


@pytest.mark.parametrize("repeat", [3, 4])
def test_a_trace_that_is_looped_is_judged_by_its_passes(repeat: int) -> None:
    found = wa.compare(
        trace=TRACE, managers="sepgc", victims="cost-benefit", repeat=repeat, **DRAWN
    )
    [row] = found.rows
    assert re.search(rf"the last \d of {repeat} passes are within 1%", row.steady_reason)
    passes = row.results[0].passes["wa"].to_numpy()[-2:]
    assert row.ci[0] < passes.min() < passes.max() < row.ci[1]
    assert row.ci[0] < row.wa < row.ci[1]
    assert found.warnings == []


def test_an_interval_that_says_little_is_warned_of() -> None:
    found = wa.compare(trace=TRACE, managers="sepgc", repeat=3, replicas=1, **DRAWN)
    [result] = found.rows[0].results
    rough = replace(result.steady_state, ci_low=0.8 * result.wa, ci_high=1.2 * result.wa)
    row = Row("sepgc", (replace(result, steady_state=rough),))
    found = Comparison((row,))
    assert row.steady
    half_width = (row.ci[1] - row.ci[0]) / 2
    [warning] = found.warnings
    share = f"±{half_width / row.wa:.2%}"
    assert warning == f"sepgc: WA is uncertain by {share}; increase --repeat"


def test_rows_with_the_same_trouble_are_warned_of_together_by_their_load() -> None:
    found = wa.compare(
        workload=["uniform", "zipf"], managers="single,sepgc,dac,sfs,multilog,warcip", replicas=1,
        writes=2_000, **DRIVE,
    )  # fmt: skip
    reasons = [row.steady_reason for row in found.rows]
    assert all(reason.startswith("too short: the whole flash was") for reason in reasons)
    assert len(set(reasons)) > 1
    [warning] = found.warnings
    assert warning.startswith(
        "the WA of all 12 rows is not steady and may change in a longer run: too short: "
    )
    assert re.search(r"programmed \d\.\d+–\d\.\d+ times since the fill", warning)
    *zipf, last = found.rows[6:]
    steady = replace(last.results[0].steady_state, steady=True)
    last = replace(last, results=(replace(last.results[0], steady_state=steady),))
    of_uniform, of_zipf, *_ = Comparison((*found.rows[:6], *zipf, last)).warnings
    assert of_uniform.startswith("the WA of all 6 rows of uniform is not steady")
    names = "single, sepgc, dac, sfs and 1 more"
    assert of_zipf.startswith(f"the WA of 5 rows of zipf ({names}) is not steady")


def test_the_line_of_a_comparison_has_the_least_wa_and_counts_the_rows() -> None:
    found = wa.compare(
        workload=["uniform", "zipf"], managers="single,sepgc", replicas=1, writes=2_000, **DRIVE
    )
    line = str(found)
    assert line.startswith("4 rows, the least WA on uniform ")
    assert repr(found) == f"<Comparison: {line}>"
    for load in found.loads:
        assert f"on {load.name} {load.by_wa[0].manager} with {load.by_wa[0].wa:.4f}" in line
    assert "\n" not in line


@pytest.mark.parametrize("size", ["--blocks 128 --pages-per-block 32", "--capacity 100MB"])
def test_a_row_that_fails_leaves_the_others_shown(
    size: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_alone = comparison.run

    def fail_for_sepgc(plan: Any, drive: Any) -> Any:
        if plan.policy.manager == "sepgc":
            raise wa.WriteampError("the engine gave up")
        return run_alone(plan, drive)

    monkeypatch.setattr(comparison, "run", fail_for_sepgc)
    done = run("compare", f"{size} --op 0.2 --managers sepgc,single --writes 20000")
    assert done.status == 2
    assert "INTERRUPTED after 1 of 2 rows" in " ".join(done.out.split())
    assert re.search(r"│ single +│", done.out)
    assert done.err.endswith("writeamp: sepgc: the engine gave up\n")


TIGHT: dict[str, Any] = {"op": 0.05, "blocks": 64, "pages_per_block": 32, "replicas": 1}


def test_a_row_that_cannot_run_has_a_reason_and_an_op_that_works(tmp_path: Path) -> None:
    result = wa.compare(
        managers="sepbit,single", victims="greedy,fifo", workload="uniform,zipf", **TIGHT
    )
    assert [row.manager for row in result.rows] == ["single"] * 4
    assert [row.name for row in result.omitted][1] == "sepbit with fifo on uniform"
    rows = result.to_dict()["rows"]
    assert [row["wa"] is None for row in rows] == [True, True, False, False] * 2
    assert rows[0].keys() == rows[2].keys()
    assert rows[2]["reason"] is rows[2]["working_op"] is None
    op = rows[0]["working_op"]
    ending = f"; --op {op:g} works"
    assert rows[0]["reason"].startswith("the drive is too small for sepbit: ")
    assert rows[0]["reason"].endswith(ending)
    # The op works, and a smaller one in whole per cents does not.
    assert wa.compare(managers="sepbit", **TIGHT | {"op": op, "writes": 2000}).rows
    with pytest.raises(wa.WriteampError, match=r"^sepbit: the drive is too small"):
        wa.compare(managers="sepbit", **TIGHT | {"op": op - 0.01})
    assert result.to_frame()["reason"].null_count() == 4
    assert [part.rows[-1][2] for part in result.card().parts] == ["–", "–"]
    chart = result.figure()
    assert chart.texts.count("cannot run") == 4
    result.plot(tmp_path / "omitted.svg")
    command = "--op 0.05 --blocks 64 --pages-per-block 32 --replicas 1 --writes 2000 --managers"
    some = run("compare", f"{command} sepbit,single")
    assert some.status == 0
    assert ending in " ".join(some.out.split())
    none = run("compare", f"{command} sepbit,dac")
    assert (none.status, none.out) == (2, "")
    assert none.err.startswith("writeamp: sepbit: the drive is too small")


def test_a_row_that_is_refused_after_its_drive_was_built_is_omitted() -> None:
    many = "/".join("1" * 40)
    result = wa.compare(
        managers="wolf,single", workload=f"groups:sizes={many},freq={many}", **TIGHT | {"op": 0.2}
    )
    assert [row.manager for row in result.rows] == ["single"]
    [row] = result.omitted
    assert "40 groups of pages" in row.reason
    assert row.working_op is None


def test_a_row_that_cannot_run_at_a_capacity_has_its_requested_name() -> None:
    result = wa.compare(
        managers="dac:regions=64,single", capacity="100GB", op=0.002, writes=20_000, replicas=1
    )
    assert [row.manager for row in result.omitted] == ["dac:regions=64"]
    assert result.rows[0].substitutes


def test_a_picture_without_an_interval_promises_none() -> None:
    rows = [PolicyResult("single", 2.0, {"host": 1, "gc": 1}, 2.0, 2.0)]
    assert "±" not in wa_by_policy(rows, title="", subtitle="").subtitle


def test_a_trace_in_pages_is_named_by_its_file() -> None:
    pages = wa.traces.to_pages(wa.traces.read(TRACE))
    found = wa.compare(trace=pages, managers="single", op=0.2, replicas=1, writes=20_000)
    assert found.to_dict()["workload"] == TRACE.name
    assert TRACE.name in found.figure().title


def test_a_comparison_warns_of_the_drive_as_a_simulation_does() -> None:
    drive = {"blocks": 128, "pages_per_block": 16, "op": "400%", "writes": 20_000}
    found = wa.compare(managers=["single", "sepgc"], replicas=2, **drive)
    assert sum("op is a ratio" in sentence for sentence in found.warnings) == 1
