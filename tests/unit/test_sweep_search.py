"""Search by Optuna: it finds, it goes on where it was, and it is an extra."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from polars.testing import assert_frame_equal

import writeamp as wa
from refusals import refused_with
from stand_in_runners import StopsAfter
from sweeping import plan, search
from writeamp.errors import Interrupted, WriteampError
from writeamp.studies.sweep.plan import plan_of
from writeamp.studies.sweep.points import SweepDataset

pytestmark = pytest.mark.usefixtures("in_process")

AXES = search()["sweep"]["axes"]


@pytest.fixture
def _optuna() -> None:
    pytest.importorskip("optuna", reason="needs optuna, the extra `search`")


@pytest.mark.usefixtures("_optuna")
def test_a_search_comes_near_the_least(tmp_path: Path) -> None:
    found = wa.sweep(search(samples=40), keep=tmp_path)
    least = found.to_frame()
    at = least["wa"].arg_min()
    assert at is not None
    assert found.best == {"op": least["op"][at], "model": least["model"][at], "wa": least["wa"][at]}
    assert least["wa"].min() < wa.predict(op=0.48, models=["markov"])[0].wa
    # Those that it chose itself, after its first ten at random, are better than random ones.
    assert least["wa"][20:].median() < least["wa"][:10].median()


@pytest.mark.usefixtures("_optuna")
def test_a_search_is_the_same_again_and_runs_nothing_twice(tmp_path: Path) -> None:
    first = wa.sweep(search(), keep=tmp_path / "first")
    again = wa.sweep(search(), keep=tmp_path / "first")
    assert (again.done, again.skipped) == (0, first.points)
    other = wa.sweep(search(), keep=tmp_path / "other")
    tables = [one.to_frame().drop("elapsed_s") for one in (first, other)]
    assert_frame_equal(*tables)


@pytest.mark.usefixtures("_optuna")
def test_a_search_goes_on_after_an_interruption_and_further_with_more_samples(
    tmp_path: Path,
) -> None:
    with pytest.raises(Interrupted) as stopped:
        wa.sweep(search(batch=5), keep=tmp_path / "out", runner=StopsAfter(4))
    left = stopped.value.finished.unfinished
    assert [one is None for one in left] == [False] + [True] * (len(left) - 1)
    assert len(left) == stopped.value.finished.plan.expected_points - 4
    assert SweepDataset.open(tmp_path / "out").rows().height == 4
    whole = wa.sweep(search(batch=5), keep=tmp_path / "out").to_frame()
    expected = wa.sweep(search(batch=5), keep=tmp_path / "other").to_frame()
    assert whole["hash"].to_list() == expected["hash"].to_list()
    more = wa.sweep(search(batch=5, samples=20), keep=tmp_path / "out")
    assert more.skipped >= 10


@pytest.mark.usefixtures("_optuna")
def test_a_trial_is_judged_by_the_mean_of_its_replicas(tmp_path: Path) -> None:
    axes = {"manager": ["single", "sepgc"], "blocks": {"from": 64, "to": 128}}
    table = {"design": "search", "samples": 4, "maximize": "erases", "replicas": 2, "axes": axes}
    found = wa.sweep(plan(table), keep=tmp_path).to_frame()
    assert found["replica"].to_list() == [0, 1] * (found.height // 2)
    assert 64 <= found["blocks"].min() <= found["blocks"].max() <= 128


@pytest.mark.usefixtures("_optuna")
@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"maximize": "op"}, ["goal", "minimize"]),
        ({"samples": 0}, ["samples", "whole number"]),
        ({"zip": ["op", "model"]}, ["zip"]),
        ({"axes": {}}, ["at least one"]),
        ({"axes": AXES | {"op": {"from": -1, "to": 1}}}, ["op = -1"]),
        ({"axes": AXES | {"model": ["markov", "markow", "fifo"]}}, ["markow"]),
        ({"batch": 0}, ["batch"]),
    ],
)
def test_a_search_that_cannot_be_is_one_sentence(keys: dict[str, Any], words: list[str]) -> None:
    with refused_with(*words):
        plan_of(search(**keys))


@pytest.mark.usefixtures("_optuna")
def test_an_unknown_goal_is_named_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(WriteampError, match="'wb'; valid: wa, op"):
        wa.sweep(search(minimize="wb"), keep=tmp_path)


def test_a_goal_is_for_searches_only() -> None:
    with pytest.raises(WriteampError, match="minimize is only for design search"):
        plan_of(plan({"minimize": "wa", "axes": {"op": [0.2]}}))


def test_without_optuna_a_search_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(WriteampError, match=r"writeamp\[search\]"):
        plan_of(search())
