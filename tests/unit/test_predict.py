"""`writeamp predict` and `writeamp.predict`: what is asked, what is answered, and warnings."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from scipy.special import lambertw  # type: ignore[import-untyped]

import in_process
import writeamp as wa
from writeamp.errors import WriteampError
from writeamp.models import MODELS, d_choices, expected_value, required_op
from writeamp.plots import save
from writeamp.plots.figures.models import ModelCurve, models_over
from writeamp.theory.prediction import parse_sweep, predict_sweep

pytestmark = pytest.mark.usefixtures("plain_messages")


def run(arguments: str) -> in_process.Done:
    return in_process.run("predict", arguments)


def document(arguments: str) -> dict[str, Any]:
    return in_process.document("predict", arguments)


def answers(found: dict[str, Any], key: str) -> dict[str, Any]:
    return {row["model"]: row[key] for row in found["models"]}


def refusal(arguments: str, *words: str) -> str:
    return in_process.refusal("predict", arguments, *words)


def test_every_model_answers_with_what_it_assumes() -> None:
    names = " ".join(f"--model {name}" for name in MODELS)
    found = document(f"--op 0.28 --pages-per-block 64 --window 1 {names}")
    assert list(answers(found, "wa")) == list(MODELS)
    for row in found["models"]:
        assert row["assumes"] == MODELS[row["model"]].assumes
        assert row["warnings"] == []
        assert row["wa"] > 1


def test_a_model_that_is_known_to_be_wrong_is_asked_by_name_only() -> None:
    others = [name for name in MODELS if name != "coupon-collector"]
    for arguments in ("--op 0.28", "--target-wa 1.5", "--sweep op=0.1:0.3:2"):
        assert list(answers(document(arguments), "model")) == others
        assert "coupon" not in run(arguments).err
    assert run("--op 0.28 --model coupon-collector").status == 0
    assert [one.model.name for one in wa.predict(op=0.28)] == others


@pytest.mark.parametrize("ratio", ["--op 0.25", "--fill 0.8", "--spare-factor 0.2"])
def test_the_three_ratios_mean_the_same_drive(ratio: str) -> None:
    found = document(f"{ratio} --model expected-value --model d-choices --d 1")
    assert found["op"] == pytest.approx(0.25)
    assert answers(found, "wa")["expected-value"] == pytest.approx(float(expected_value(0.25)))
    assert answers(found, "wa")["d-choices"] == pytest.approx(5)


def test_utilization_and_hot_ratio_put_the_effective_op_in_place_of_op() -> None:
    found = document("--op 0.147 --utilization 0.9 --hot-ratio 0.3")
    assert found["op"] == 0.147
    assert found["effective_op"] == pytest.approx(0.247 / 0.3)
    # Table 6 of paper 1 prints 1.35.
    assert answers(found, "wa")["expected-value"] == pytest.approx(1.349, abs=5e-4)


def test_data_is_all_written_unless_a_hot_part_is_said() -> None:
    alone = document("--op 0.1 --utilization 0.9")
    assert alone == document("--op 0.1 --utilization 0.9 --hot-ratio 0.9")
    assert alone["effective_op"] == pytest.approx(1.1 / 0.9 - 1)
    assert alone["warnings"] == []


def test_cold_data_that_may_not_stay_cold_is_warned_of_where_it_decides() -> None:
    cold = run("--op 0.147 --utilization 0.9 --hot-ratio 0.3 --json")
    [sentence] = json.loads(cold.out)["warnings"]
    assert re.search("1% of the writes .* about 2.83, and expected-value is 52% too low", sentence)
    assert cold.err == f"writeamp: warning: {sentence}\n"
    assert wa.predict(op=0.147, utilization=0.9, written_fraction=0.3).warnings == [sentence]
    assert document("--op 0.147 --utilization 0.9 --hot-ratio 0.86")["warnings"] == []
    swept = run("--sweep op=0.1:2:20 --utilization 0.9 --hot-ratio 0.8 --json")
    assert "9 of 20 swept values have a warning, the first at op 0.1: these" in swept.err


def test_the_hot_part_of_a_drive_has_its_share_of_the_blocks() -> None:
    part = wa.predict(
        op=0.2,
        utilization=0.9,
        written_fraction=0.25,
        logical_blocks=4000,
        models=["coupon-collector"],
    )
    whole = wa.predict(op=0.3 / 0.25, logical_blocks=1000, models=["coupon-collector"])
    assert part[0].wa == pytest.approx(whole[0].wa, rel=1e-12)


def test_a_target_gives_each_model_the_op_that_it_needs() -> None:
    found = document("--target-wa 1.5")
    assert found["target_wa"] == 1.5
    assert "op" not in found
    for name, op in answers(found, "op").items():
        drive = {"op": op, "pages_per_block": 128, "window": 64}
        [again] = wa.predict(**drive, models=[name])
        assert again.wa == pytest.approx(1.5, rel=1e-12)
    assert all("wa" not in row for row in found["models"])


def test_the_parameters_of_each_model_reach_it() -> None:
    greedy = document("--op 0.28 --model d-choices --d inf --pages-per-block 64")
    assert greedy["models"][0]["wa"] == float(d_choices(0.28 / 1.28, 64, math.inf))
    plain, windowed, reserved = (
        document(f"--op 0.28 --model coupon-collector --logical-blocks 1000 {more}")["models"][0]
        for more in ("--window 1", "--window 8", "--window 8 --reserve 100")
    )
    assert windowed["wa"] < reserved["wa"] < plain["wa"]


def test_a_large_block_is_predicted_by_every_model() -> None:
    found = document("--op 0.28 --pages-per-block 32768")
    assert None not in answers(found, "wa").values()


def test_warnings_stand_in_the_document_and_on_stderr() -> None:
    done = run("--op 1.5 --model uniform-distribution --model fifo --json")
    [uniform, fifo] = json.loads(done.out)["models"]
    assert "impossible WA below 1" in uniform["warnings"][0]
    assert fifo["warnings"] == []
    assert done.err == f"writeamp: warning: uniform-distribution: {uniform['warnings'][0]}\n"


def test_a_model_that_cannot_answer_is_null_unless_it_was_asked_for_by_name() -> None:
    found = document("--target-wa 40 --pages-per-block 16")
    assert answers(found, "op")["markov"] is None
    assert "wa must be less than" in answers(found, "warnings")["markov"][0]
    assert answers(found, "op")["expected-value"] == float(required_op(40))
    assert "wa must be less than" in refusal("--target-wa 40 --pages-per-block 16 --model markov")
    assert "wa must be less than" in refusal("--target-wa 3 --model coupon-collector")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("", ["give one of --op, --fill, --spare-factor, or --target-wa"]),
        ("--op 0.1 --fill 0.9", ["op", "fill", "only one"]),
        ("--op 0.1 --target-wa 2", ["--op and --target-wa"]),
        ("--target-wa 2 --utilization 0.9 --hot-ratio 0.3", ["--utilization", "--target-wa"]),
        ("--target-wa 1", ["--target-wa", "above 1"]),
        ("--target-wa nan", ["--target-wa", "above 1"]),
        ("--op nan", ["op", "above 0"]),
        ("--op 0.1 --hot-ratio 0.9", ["utilization is missing", "--written-fraction"]),
        (
            "--op 0.1 --utilization 0.3 --hot-ratio 0.9",
            ["--written-fraction", "at most the utilization"],
        ),
        ("--op 0.1 --utilization 1.2 --hot-ratio 0.9", ["utilization", "at most 1"]),
        ("--op 0.1 --d 1.5", ["d must be", "infinite"]),
        ("--op 0.1 --window 0", ["window must be"]),
        ("--op 0.1 --window x", ["x", "whole number"]),
        ("--op 0.1 --reserve -1", ["reserve must be"]),
        ("--op 0.1 --logical-blocks 1", ["--logical-blocks must be"]),
        ("--op 0.1 --plot x.png", ["--sweep"]),
        ("--fdp soc=4%", ["--op", "--fill", "--spare-factor"]),
        ("--fdp soc=0 --op 0.1", ["soc=0", "above 0 and below 1"]),
        ("--fdp x=1 --op 0.1", ["x", "soc_writes"]),
        ("--fdp soc=4%,trim=0.1 --op 0.1", ["trim", "leave it out"]),
        ("--fdp= --op 0.1", ["fdp", "soc=4%"]),
        ("--fdp soc=4% --op 0.1 --utilization 2", ["utilization", "at most 1"]),
        ("--fdp soc=4% --op 0.1 --model fifo", ["--model", "--fdp"]),
        ("--fdp soc=4% --sweep op=0.1:1:9", ["--sweep", "--fdp"]),
        ("--sweep op=0.1:1:9 --plot x.gif", [".gif", "png"]),
        ("--sweep op", ["name=from:to:points"]),
        ("--sweep op=0.1:1", ["name=from:to:points"]),
        ("--sweep op=0.1:1:1", ["2 to 10000"]),
        ("--sweep op=0.1:inf:9", ["finite"]),
        ("--sweep ops=0.1:1:9", ["ops", "'op'", "target_wa"]),
        ("--sweep op=0.1:1:9 --op 0.2", ["op is swept"]),
        ("--sweep op=0.1:1:9 --fill 0.2", ["op", "fill", "only one"]),
        ("--sweep op=0:1:9", ["op", "above 0"]),
        ("--sweep pages_per_block=8:64:3 --op 0.1 --pages-per-block 8", ["is swept"]),
    ],
)
def test_bad_input_is_refused_in_one_sentence(arguments: str, words: list[str]) -> None:
    refusal(arguments, *words)


def test_a_cache_with_fdp_is_theorem_1_beside_the_printed_figures() -> None:
    for soc, expected in ((4, 1.09), (20, 2.13), (40, 3.54), (64, 5.25)):
        found = document(f"--fdp soc={soc}%,soc_writes=25% --op 0.07")
        physical = (soc / 100 + 0.07) / (soc / 100)
        delta = -lambertw(-physical * math.exp(-physical)).real / physical
        assert found["wa_of_soc"] == pytest.approx(1 / (1 - delta), rel=1e-9)
        assert found["wa_of_soc"] == pytest.approx(expected, abs=0.005)
        assert found["wa"] == pytest.approx(0.25 * found["wa_of_soc"] + 0.75, rel=1e-12)
    half = document("--fdp soc=8% --op 0.1 --utilization 50%")
    assert half["op_of_soc"] == pytest.approx((0.5 + 0.1) / 0.04)
    assert document("--fdp soc=0.04 --fill 0.8")["op"] == pytest.approx(0.25)


def test_the_op_that_agrees_with_a_printed_figure_predicts_it() -> None:
    found = document("--fdp soc=4% --op 0.07")
    assert (found["soc"], found["soc_writes"]) == (0.04, 0.33)
    with_fdp = [row for row in found["printed"] if row["fdp"]]
    assert [row["printed_wa"] for row in with_fdp] == [1.03, 1.03, 2.5]
    assert with_fdp[0]["op_if_wa_of_cache"] is with_fdp[0]["op_if_wa_of_soc"] is None
    for row in with_fdp[1:]:
        for name, key in (("wa", "op_if_wa_of_cache"), ("wa_of_soc", "op_if_wa_of_soc")):
            half = 0.05 if row["printed_wa"] == 2.5 else 0.005
            for op, sign in zip(row[key], (1, -1), strict=True):
                again = wa.predict_fdp(f"soc={row['soc']}", op=op)
                edge = row["printed_wa"] + sign * half
                assert getattr(again, name) == pytest.approx(edge, rel=1e-9)
    assert all(row["wa"] is None for row in found["printed"] if not row["fdp"])
    table = run("--fdp soc=4%,soc_writes=0 --op 0.07")
    assert "WA of 1.0000" in table.out
    assert "(soc_writes)" in table.out
    assert "is an assumption" not in table.err + table.out
    assert "is an assumption" in run("--fdp soc=4% --op 0.07 --verbose").err
    assert any("is an assumption" in note for note in found["notes"])


def test_a_sweep_has_a_row_for_every_value() -> None:
    found = document("--sweep op=0.1:1.0:10 --model expected-value --model markov")
    assert [row["op"] for row in found["sweep"]] == pytest.approx([i / 10 for i in range(1, 11)])
    for row in found["sweep"]:
        assert answers(row, "wa")["expected-value"] == float(expected_value(row["op"]))
    assert [row["model"] for row in found["models"]] == ["expected-value", "markov"]


@pytest.mark.parametrize(
    ("sweep", "rest", "asked"),
    [
        ("fill=0.5:0.9:3", "", "wa"),
        ("spare_factor=0.1:0.5:3", "", "wa"),
        ("target_wa=1.2:2:3", "", "op"),
        ("pages_per_block=16:64:3", "--op 0.28", "wa"),
        ("pages_per_block=16:64:3", "--target-wa 1.5", "op"),
        ("op=0.1:0.5:3", "--utilization 0.9 --hot-ratio 0.5", "wa"),
    ],
)
def test_every_quantity_can_be_swept(sweep: str, rest: str, asked: str) -> None:
    found = document(f"--sweep {sweep} {rest} --model markov")
    name = sweep.partition("=")[0]
    assert name not in found
    values = [row["models"][0][asked] for row in found["sweep"]]
    assert len(set(values)) == 3
    assert all(value > 0 for value in values)


def test_a_sweep_says_once_for_each_model_where_it_is_outside() -> None:
    done = run("--sweep op=0.5:1.5:11 --model uniform-distribution --model fifo --json")
    assert done.err.count("\n") == 1
    assert "5 of 11 swept values violate its assumptions, the first at op 1.1" in done.err
    rows = json.loads(done.out)["sweep"]
    warned = [bool(answers(row, "warnings")["uniform-distribution"]) for row in rows]
    assert warned == [False] * 6 + [True] * 5


def test_a_table_of_a_sweep_is_short_and_has_its_ends() -> None:
    done = run("--sweep op=0.05:1.0:100 --model expected-value --model fifo")
    assert "12 of 100 swept values" in done.out
    assert "0.05" in done.out
    assert done.out.count("│") == 12 * 4


def test_a_sweep_is_drawn_where_asked(tmp_path: Path) -> None:
    done = run(f"--sweep op=0.05:1.0:20 --plot {tmp_path}/wa.svg")
    assert done.status == 0
    drawn = (tmp_path / "wa.svg").read_text()
    for text in ("Write amplification that the models predict", "128 pages per block", "markov"):
        assert text in drawn
    assert [path.name for path in tmp_path.iterdir()] == ["wa.svg"]


def test_a_figure_merges_equal_models_and_leaves_out_what_is_unknown(tmp_path: Path) -> None:
    curves = [
        ModelCurve("expected-value", [0.5, 0.4]),
        ModelCurve("fifo", [0.5, 0.4]),
        ModelCurve("markov", [math.nan, 0.3]),
        ModelCurve("coupon-collector", [math.nan, math.nan]),
    ]
    chart = models_over("target_wa", [1.5, 2.0], curves, subtitle="128 pages per block")
    assert [line.label for line in chart.lines] == ["expected-value = fifo", "markov"]
    assert (list(chart.lines[1].x), list(chart.lines[1].y)) == ([2.0], [0.3])
    assert chart.y_label.startswith("op = (T-U)/U")
    for suffix in ("html", "svg"):
        save(chart, tmp_path / f"op.{suffix}")
        assert "expected-value = fifo" in (tmp_path / f"op.{suffix}").read_text()


def test_a_figure_without_a_point_is_an_error() -> None:
    with pytest.raises(WriteampError, match="at least one prediction"):
        models_over("op", [0.1], [ModelCurve("markov", [math.nan])], subtitle="")


def test_the_library_sweeps_as_the_command_does() -> None:
    points = predict_sweep("op=0.1:0.3:3", pages_per_block=64, models=["markov"])
    assert [point.value for point in points] == pytest.approx([0.1, 0.2, 0.3])
    [single] = wa.predict(op=points[1].value, pages_per_block=64, models=["markov"])
    assert points[1].predictions == [single]


def test_swept_pages_per_block_are_whole_and_distinct() -> None:
    assert parse_sweep("pages_per_block=1:3:5").values == (1, 2, 3)


def test_predictions_in_the_library_carry_op_and_wa_both_ways() -> None:
    [forward] = wa.predict(op=0.28, models=["fifo"])
    [back] = wa.predict(target_wa=forward.wa, models=["fifo"])
    assert (forward.op, back.wa) == (0.28, forward.wa)
    assert back.op == pytest.approx(0.28, rel=1e-12)


@pytest.mark.parametrize(
    "drive",
    ["--fill 1e-9 --pages-per-block 16", "--op 100000000000% --pages-per-block 65536 --d 2"],
)
def test_an_all_but_empty_drive_does_not_amplify(drive: str) -> None:
    found = answers(document(drive), "wa")
    assert found["d-choices"] == pytest.approx(1, abs=1e-6)


def test_a_model_outside_its_domain_is_marked_wherever_it_is_shown(tmp_path: Path) -> None:
    table = run("--target-wa 1.5 --model coupon-collector --model markov").out
    assert re.search(
        r"coupon-collector +│ 0\.2490\* │ \* OUTSIDE ITS ASSUMPTIONS: 1\.5000 is below", table
    )
    assert re.search(r"markov +│ +0\.6363 │ uniform random writes", table)
    swept = run("--sweep op=0.5:3:2 --model uniform-distribution").out
    assert "1.5000 │" in swept
    assert "0.6667* │" in swept
    assert "* the drive violates the model's assumptions" in swept
    models = json.loads(run("--op 2800% --json").out)["models"]
    assert {row["model"] for row in models if not row["in_domain"]} == {
        "uniform-distribution",
        "markov",
    }
    assert all(row["in_domain"] == (not row["warnings"]) for row in models)
    assert all(row["wa"] >= 1 for row in models if row["in_domain"])
    models = "--model uniform-distribution --model coupon-collector"
    assert run(f"--sweep op=0.5:3:9 {models} --plot {tmp_path}/wa.svg").status == 0
    drawn = (tmp_path / "wa.svg").read_text()
    for name in ("uniform-distribution", "coupon-collector"):
        assert f"{name}, outside" in drawn


def test_a_curve_is_dotted_where_its_model_is_outside_its_domain() -> None:
    curve = ModelCurve("markov", [1.2, 1.1, 0.9], [True, True, False])
    inside, outside = models_over("op", [1.0, 2.0, 3.0], [curve], subtitle="").lines
    assert (list(inside.x), list(outside.x)) == ([1.0, 2.0], [3.0])
    assert (inside.dash, outside.dash, outside.label) == (
        "solid",
        "dot",
        "markov, outside its assumptions",
    )
    assert inside.color == outside.color
