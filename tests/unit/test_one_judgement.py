"""One judgement of replayed traces for all verbs: by passes, repeated until they agree."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import writeamp as wa
from page_traces import READ, TRIM, WRITE, page_trace
from places import TRACE
from writeamp.runs import plan
from writeamp.runs.one_run import OneRun
from writeamp.runs.team import Scout
from writeamp.statistics.passes import analyse_passes

# Ten passes of the trace under sepgc at op 0.10.
LONG_RUN_WA = 2.390
SMALL: dict[str, Any] = {"op": 0.15, "pages_per_block": 32}


class Alternating(wa.Placement):
    """Placement that remembers what it does not save."""

    streams = 2

    def __init__(self, drive: Any) -> None:
        self.turn = 0

    def on_write(self, page: int, now: int) -> int:
        self.turn ^= 1
        return self.turn

    def on_migrate(self, page: int, victim: int) -> int:
        return self.on_write(page, 0)

    def save(self) -> bytes:
        return b""

    def restore(self, saved: bytes) -> None:
        pass


def drawn(pages: int, count: int, seed: int = 1) -> npt.NDArray[np.int64]:
    return np.random.default_rng(seed).integers(0, pages, count)


def test_the_shipped_trace_is_repeated_until_its_interval_holds_the_long_run() -> None:
    found = wa.simulate(trace=TRACE, op=0.10, manager="sepgc", spread=False)
    assert found.steady
    assert found.passes.height >= 3
    assert found.ci[0] <= LONG_RUN_WA <= found.ci[1]
    assert found.to_dict(theory=False)["repeat"] == found.passes.height
    assert f"the trace was looped {found.passes.height} times, until its" in " ".join(found.notes)


@pytest.mark.parametrize("repeat", [1, 2, 3])
def test_compare_judges_a_trace_as_simulate_does(repeat: int) -> None:
    trace = drawn(3000, 30_000)
    alone = wa.simulate(trace=trace, manager="sepgc", repeat=repeat, spread=False, **SMALL)
    [row] = wa.compare(trace=trace, managers="sepgc", repeat=repeat, **SMALL).rows
    assert row.wa == pytest.approx(alone.wa)
    assert row.ci == alone.ci
    assert row.steady == alone.steady
    assert alone.steady_state.reason in row.steady_reason
    assert alone.passes.height == repeat


def test_compare_repeats_a_trace_as_simulate_does() -> None:
    trace = drawn(3000, 30_000)
    alone = wa.simulate(trace=trace, manager="sepgc", spread=False, **SMALL)
    [row] = wa.compare(trace=trace, managers="sepgc", replicas=1, **SMALL).rows
    assert (row.wa, row.ci, row.steady) == (alone.wa, alone.ci, True)
    assert row.results[0].passes.height == alone.passes.height > 3


@pytest.mark.parametrize("repeat", [1, 2])
@pytest.mark.parametrize("warmup", ["auto", 15_000])
def test_a_short_trace_is_not_steady_before_its_third_pass(repeat: int, warmup: Any) -> None:
    found = wa.simulate(
        trace=drawn(3000, 30_000), repeat=repeat, warmup=warmup, spread=False, **SMALL
    )
    assert not found.steady
    assert "whole passes are needed to show that WA repeats" in found.steady_state.reason


def test_a_trace_longer_than_the_drives_memory_is_played_once() -> None:
    found = wa.simulate(trace=drawn(2000, 200_000), spread=False, **SMALL)
    assert found.passes.height == 1
    assert found.steady


def test_what_is_given_is_played_and_no_more() -> None:
    trace = drawn(3000, 30_000)
    for given in ({"writes": 25_000}, {"warmup": 0}, {"precondition": "random:1"}):
        assert wa.simulate(trace=trace, spread=False, **given, **SMALL).passes.height == 1


def test_a_trace_whose_loop_would_decide_its_wa_is_played_once_and_not_steady() -> None:
    found = wa.simulate(trace=np.random.default_rng(1).permutation(9000), spread=False, **SMALL)
    assert found.passes.height == 1
    assert not found.steady
    assert "in the order in which they were written" in found.steady_state.reason
    assert any("--precondition random" in sentence for sentence in found.warnings)


def test_a_loop_whose_passes_never_agree_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "_MOST_PASSES", 4)
    monkeypatch.setattr("writeamp.runs.runner._PRECISION_OF_PASSES", 0.0)
    found = wa.simulate(trace=drawn(3000, 30_000), spread=False, **SMALL)
    assert found.passes.height == 4


def test_what_has_hardly_begun_has_no_interval() -> None:
    found = wa.simulate(blocks=256, pages_per_block=32, op=0.15, writes=2_000)
    assert not found.steady
    assert all(math.isnan(bound) for bound in found.ci)


def test_no_interval_of_an_unsteady_run_reaches_to_one_by_its_first_samples() -> None:
    found = wa.simulate(
        trace=drawn(3000, 9_000), repeat=1, warmup=0, precondition="none", spread=False, **SMALL
    )
    assert not found.steady
    assert not found.ci[0] <= 1


def test_passes_that_go_on_falling_are_not_steady() -> None:
    falling = 2.0 - 0.003 * np.log2(np.arange(12) + 1)
    found = analyse_passes(1000, 1000 * falling)
    assert not found.steady or found.ci_low < 2.0 - 0.003 * math.log2(120)


def test_two_passes_have_the_interval_of_two_observations() -> None:
    found = analyse_passes(1000, [1500, 1100, 1102])
    # Student's 97.5% point of one degree of freedom, times half of what they differ by.
    assert found.ci_high - found.wa == pytest.approx(12.7062 * 0.001, rel=1e-5)


def test_many_passes_with_a_noise_of_their_own_are_steady_with_an_interval() -> None:
    rng = np.random.default_rng(3)
    found = [
        analyse_passes(10_000, np.rint(10_000 * (2 + 0.03 * rng.standard_normal(40))))
        for _ in range(50)
    ]
    assert np.mean([one.steady for one in found]) > 0.8
    assert np.mean([one.ci_low <= 2 <= one.ci_high for one in found if one.steady]) > 0.9


def test_passes_that_wander_have_an_interval_that_holds() -> None:
    found = [analyse_passes(10**6, np.rint(10**6 * wandering(24, seed))) for seed in range(200)]
    steady = [one for one in found if one.steady]
    assert len(steady) > 0.7 * len(found)
    assert np.mean([one.ci_low <= 2 <= one.ci_high for one in steady]) > 0.87


def wandering(passes: int, seed: int) -> npt.NDArray[np.float64]:
    """Return WA around 2 of which each pass keeps four fifths of the one before."""
    noise = np.random.default_rng(seed).standard_normal(passes + 200)
    for at in range(1, noise.size):
        noise[at] = 0.8 * noise[at - 1] + 0.6 * noise[at]
    return 2 + 0.006 * noise[200:]


def test_two_changes_the_same_way_in_the_last_two_doublings_are_a_drift() -> None:
    doublings = np.floor(np.log2(np.arange(96) + 1))
    found = [
        analyse_passes(
            10**6,
            np.rint(
                10**6 * (2 + 0.004 * doublings + 0.003 * np.random.default_rng(n).normal(size=96))
            ),
        )
        for n in range(50)
    ]
    assert np.mean([one.steady for one in found]) < 0.1
    reasons = {one.reason.partition(" by ")[0] for one in found}
    assert "drifting: write amplification rose" in reasons


def test_passes_that_step_without_any_noise_are_judged() -> None:
    found = analyse_passes(1000, np.repeat([2000, 2010, 2020, 2030], [3, 3, 6, 12]))
    assert not found.steady


@pytest.mark.parametrize(("manager", "times"), [("sepgc", 1), ("sepbit", 3)])
def test_a_scheme_that_remembers_pages_is_watched_for_longer(
    monkeypatch: pytest.MonkeyPatch, manager: str, times: int
) -> None:
    reached = []
    advance = OneRun.advance_to

    def spy(self: OneRun, pages: int, expected_pages: int) -> None:
        reached.append(pages)
        advance(self, pages, expected_pages)

    monkeypatch.setattr(OneRun, "advance_to", spy)
    found = wa.simulate(trace=drawn(3000, 30_000), manager=manager, spread=False, **SMALL)
    assert found.steady
    assert max(reached) == times * found.passes.height * 30_000


def test_what_a_longer_run_does_not_find_is_not_steady() -> None:
    found = wa.simulate(trace=drawn(3000, 30_000), manager="sepbit", spread=False, **SMALL)
    judged = OneRun(found.plan, found.device, found.plan.seed, None)
    judged.advance_to(6 * 30_000, 6 * 30_000)
    scout = Scout(judged)
    assert scout.confirmed(found.steady_state, 30_000, 6) == found.steady_state
    promised = replace(found.steady_state, ci_low=1.001, ci_high=1.002)
    held = scout.confirmed(promised, 30_000, 6)
    assert not held.steady
    assert (
        "6 passes predict a WA of 1.001 to 1.002, but the second half of 18 passes gives"
        in held.reason
    )


@pytest.mark.parametrize("manager", ["sepbit", "wolf-interval", "midas", Alternating])
def test_a_run_that_goes_on_from_another_is_one_from_the_start(manager: Any) -> None:
    found = wa.simulate(trace=drawn(3000, 30_000), manager=manager, spread=False, repeat=1, **SMALL)
    plan = replace(found.plan, host=replace(found.plan.host, repeat=9))
    judged, whole = (OneRun(plan, found.device, plan.seed, None) for _ in range(2))
    judged.start_series(1000)
    judged.advance_to(95_000, 270_000)
    before = judged.simulation.counters()
    continued = judged.continued()
    for one in (continued, whole):
        one.advance_to(270_000, 270_000)
    assert judged.simulation.counters() == before
    assert continued.simulation.counters() == whole.simulation.counters()
    assert continued.passes.flash_pages == whole.passes.flash_pages
    assert (continued.simulation.erase_counts() == whole.simulation.erase_counts()).all()
    assert len(judged.passes.flash_pages) == 3


def test_what_a_trace_ends_with_is_served_however_often_it_was_repeated() -> None:
    written = drawn(3000, 30_000)
    op = [WRITE] * written.size + [TRIM, READ]
    trace = page_trace([*written, 0, 0], op, counts=[1] * written.size + [500, 7])
    needed = wa.simulate(trace=trace, manager="sepgc", spread=False, **SMALL)
    passes = needed.passes.height
    stated = wa.simulate(trace=trace, manager="sepgc", spread=False, repeat=passes, **SMALL)
    for found in (needed, stated):
        assert found.held_pages == 2500
        assert found.host["trimmed_pages"] == 500 * passes
        assert found.host["read_pages"] == 7 * passes
    assert needed.wa == stated.wa
    foreseen = wa.simulate(trace=trace, manager="oracle", op=0.5, pages_per_block=8, spread=False)
    assert foreseen.held_pages == 2500


def test_the_hash_of_a_workload_is_what_it_was_before_traces_were_repeated_as_needed() -> None:
    said = wa.Experiment.of("simulate", workload="zipf", repeat=1)
    assert said.hash == wa.Experiment.of("simulate", workload="zipf").hash
    assert said == wa.Experiment.of("simulate", workload="zipf")
    once, needed = (
        wa.Experiment.of("simulate", trace="t.csv", **one) for one in ({"repeat": 1}, {})
    )
    assert once.hash != needed.hash
