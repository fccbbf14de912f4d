"""Theory beside a measurement: of the drive as full as it is, marked where it fails."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

import writeamp as wa
from in_process import document, run
from page_traces import TRIM, WRITE, page_trace
from places import EXAMPLES
from writeamp.answers.question import Question
from writeamp.answers.settings import QuestionSettings
from writeamp.answers.way import Findings
from writeamp.answers.ways import FORMULA
from writeamp.models import MODELS, Describes
from writeamp.settings.experiment import Experiment

SMALL = {"blocks": 256, "pages_per_block": 32}


def test_what_the_fill_wrote_is_no_spare_space() -> None:
    pages = np.random.default_rng(1).integers(0, 1000, 60_000, np.uint32)
    full, own = (
        wa.simulate(trace=pages, op=0.1, precondition=state, spread=False, **SMALL)
        for state in ("full", "workload")
    )
    device = full.device
    assert full.theory.op == pytest.approx(device.op)
    assert full.theory.wa == pytest.approx(wa.models.expected_value(device.op))
    assert own.theory.op == pytest.approx(device.physical_pages / 1000 - 1)


def test_unwritten_space_is_spare_also_in_the_picture() -> None:
    result = wa.simulate(op=0.25, utilization=0.8, writes=100_000, **SMALL)
    used_op = result.device.physical_pages / result.held_pages - 1
    assert used_op == pytest.approx(1.25 / 0.8 - 1, rel=1e-3)
    assert result.theory.wa == pytest.approx(wa.models.markov(used_op, 32))
    levels = [mark.value for mark in result.figure().levels]
    assert levels == pytest.approx([wa.models.markov(used_op, 32), wa.models.fifo(used_op)])
    assert result.wa == pytest.approx(result.theory.wa, rel=0.02)


def test_a_model_gives_way_to_one_that_holds_so_that_no_wa_below_one_is_shown() -> None:
    result = wa.simulate(op="2800%", writes=100_000, **SMALL)
    assert wa.models.markov(28, 32) < 1
    assert (result.theory.wa, result.theory.outside) == (pytest.approx(1.0), None)
    assert "mean field (greedy" in result.theory.model
    assert all(mark.value >= 1 for mark in result.figure().levels)


def test_a_model_outside_its_domain_is_marked_in_the_table_and_left_out_of_the_picture() -> None:
    text = "--blocks 52 --pages-per-block 32 --op 0.28 --writes 50000"
    shown = " ".join(run("simulate", text).out.replace("│", " ").split())
    assert "OUTSIDE ITS ASSUMPTIONS: with only 11.4 spare blocks" in shown
    found = document("simulate", text)["theory"]
    assert found["outside"].startswith("with only 11.4 spare blocks")
    small = wa.simulate(blocks=52, pages_per_block=32, op=0.28, writes=50_000)
    assert small.figure().levels == ()


@pytest.mark.parametrize(
    ("victims", "wa_of"),
    [
        ("random", lambda op: wa.models.d_choices(op / (1 + op), 32, 1)),
        ("d-choices:d=3", lambda op: wa.models.d_choices(op / (1 + op), 32, 3)),
        ("fifo", wa.models.fifo),
    ],
)
def test_each_victim_policy_that_theory_knows_has_its_own_model(
    victims: str, wa_of: object
) -> None:
    assert callable(wa_of)
    result = wa.simulate(op=0.25, victims=victims, writes=200_000, **SMALL)
    assert result.theory.wa == pytest.approx(wa_of(result.theory.op))
    assert "for comparison" not in result.theory.model
    assert result.wa == pytest.approx(result.theory.wa, rel=0.02)
    drawn = result.figure().levels[0]
    assert (drawn.value, drawn.dash) == (result.theory.wa, "dash")
    assert drawn.label == f"{result.theory.model}: {result.theory.wa:.3f}"


def test_a_model_of_its_own_stands_alone_beside_a_run() -> None:
    own = wa.simulate(op=0.25, victims="random", writes=10_000, **SMALL)
    assert [mark.value for mark in own.figure().levels] == [own.theory.wa]
    none = wa.simulate(op=0.25, victims="cost-benefit", writes=10_000, **SMALL)
    assert [mark.value for mark in none.figure().levels] == [one.wa for one in none.uniform_theory]


def test_no_theory_is_claimed_of_a_manager_that_foresees_uniform_writes() -> None:
    result = wa.simulate(op=0.25, manager="oracle", victims="greedy", writes=10_000, **SMALL)
    assert "for comparison" in result.theory.model
    assert not result.theory.describes_run


def test_a_model_is_shown_by_each_verb_for_the_policies_that_it_describes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    between = Describes(
        victims="windowed-greedy",
        row="window",
        label="window of {victims}",
        arguments={"window": "victims.window"},
    )
    model = replace(MODELS["coupon-collector"], rules=(), describes=(between,))
    victims = "windowed-greedy:window=7"
    drive = {"op": 0.25, "victims": victims, "writes": 10_000, **SMALL}
    expected = wa.models.coupon_collector(0.25, 32, 7, logical_blocks=256 / 1.25)
    for is_described in (False, True):
        if is_described:
            monkeypatch.setitem(MODELS, "coupon-collector", model)
        result = wa.simulate(**drive, spread=False)
        compared = wa.compare(**drive, managers=["single"], replicas=1)
        question = Question.of(Experiment.of("simulate", **drive), QuestionSettings())
        [row] = FORMULA.rows(question, Findings(), lambda *_: None)
        assert result.theory.describes_run is is_described
        assert (f"window of {victims}" in compared.loads[0].models) is is_described
        assert (compared.rows[0].theory is not None) is is_described
        assert (row.way, row.reason == "") == (
            ("formula window", True) if is_described else ("formula markov", False)
        )
    assert (result.theory.model, result.theory.wa) == (f"window of {victims}", row.wa)
    assert row.wa == pytest.approx(expected, rel=0.01)
    assert [mark.label for mark in result.figure().levels] == [f"window of {victims}: {row.wa:.3f}"]


def test_all_verbs_and_the_demo_say_one_theory_of_a_trace_that_trims(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)
    import demo  # type: ignore[import-not-found]  # noqa: PLC0415

    settings = {"trace": demo.TRACE, "op": demo.OP, "repeat": 1}
    result = wa.simulate(**settings, spread=False)
    share = result.held_pages / result.device.logical_pages
    assert share < 0.95
    op = result.device.physical_pages / result.held_pages - 1
    fifo, greedy = wa.models.fifo(op), wa.models.markov(op, 128)
    assert (result.theory.wa, result.theory.op) == (pytest.approx(fifo), pytest.approx(op))
    assert [one.wa for one in result.uniform_theory] == pytest.approx([fifo, greedy])

    compared = wa.compare(**settings, managers=["single"], replicas=1)
    assert [one["wa"] for one in compared.to_dict()["theory"]] == pytest.approx([fifo, greedy])
    assert [mark.value for mark in compared.figure().levels] == pytest.approx([fifo, greedy])
    predicted = wa.predict(op=result.device.op, utilization=share, models=["fifo", "markov"])
    assert [one.wa for one in predicted] == pytest.approx([fifo, greedy])
    spread = wa.simulate(**settings)  # which the demo shows
    shown = demo.table([spread], demo.theory_of(spread))
    assert [*shown.columns[1].cells][-2:] == [f"{fifo:.3f}", f"{greedy:.3f}"]
    assert f"effective op {op:.4g} ({share:.1%}" in str(shown.caption)
    sys.modules.pop("demo")


def test_a_drive_whose_blocks_a_model_cannot_compute_has_another_one() -> None:
    huge = wa.simulate(
        blocks=8, pages_per_block=1 << 21, op=1.0, victims="d-choices:d=3", writes=1, warmup=0
    )
    assert "for comparison" in huge.theory.model


def test_a_drive_that_trims_left_empty_has_a_theory() -> None:
    trace = page_trace([*range(200)] * 2, [WRITE] * 200 + [TRIM] * 200)
    settings = {"precondition": "none", "op": 0.3, "pages_per_block": 4, "replicas": 1, "repeat": 1}
    found = wa.simulate(trace=trace, spread=False, **settings)
    assert found.held_pages == 0
    assert found.theory.wa == pytest.approx(1)
    assert found.to_dict()["theory"]["op"] == found.device.physical_pages - 1
