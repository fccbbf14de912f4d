"""Values of Desnoyers 2012, recomputed by formulas and with simulated drives."""

from __future__ import annotations

import pytest

from replayed import Replay, assert_matches_are_computed
from reproduced import assert_reproduced
from writeamp_papers import PAPERS, Bench, Findings
from writeamp_papers.desnoyers2012 import paper

MIXED = "greedy, 90% of writes to 5% of pages, mixed: simulation"


@pytest.fixture(scope="module")
def replay() -> Replay:
    return Replay()


@pytest.fixture(scope="module")
def found(replay: Replay) -> Findings:
    return PAPERS["desnoyers2012"].run(Bench(runner=replay))


def test_verdicts_hold_what_all_papers_must_hold(found: Findings) -> None:
    assert_reproduced("desnoyers2012", found)
    differing = [item.item for item in found.items if item.verdict == "differs"]
    assert differing == [MIXED]


def test_every_match_is_computed(found: Findings, replay: Replay) -> None:
    roots = [(paper, name) for name in ("expected_value", "markov", "d_choices")]
    assert_matches_are_computed(
        found, lambda: PAPERS["desnoyers2012"].run(Bench(runner=replay.changed())), *roots
    )


def test_formulas_and_simulations_agree_with_each_other(found: Findings) -> None:
    ours = {item.item: item.ours for item in found.items}
    for spare_factor in paper.PRINTED_LRW:
        simulated, formula = (
            ours[f"LRW, S_f={spare_factor}: {way}"] for way in ("simulation", "formula")
        )
        assert simulated == pytest.approx(formula, rel=0.004)


def test_one_class_of_pages_is_the_uniform_case() -> None:
    assert paper.lrw_of_two_classes(0.1, 0.5, 0.5) == pytest.approx(paper.lrw(0.1), rel=1e-9)


def test_a_spare_factor_that_is_taken_for_op_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper, "op_of", lambda *, spare_factor: spare_factor)
    found = PAPERS["desnoyers2012"].parts[0](Bench())
    agreeing = [item.item for item in found.items if item.verdict != "differs"]
    # The mean field takes the spare factor itself.
    assert agreeing == ["greedy, S_f=0.1, 64 pages: mean field"]
