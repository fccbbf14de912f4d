"""Runners of this process: all that is asked of them is done, by no more threads than help."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import writeamp as wa
from patience import PATIENCE_S
from places import TRACE
from stand_in_runners import AsElsewhere, Backwards, StopsAfter
from writeamp.runners import (
    Here,
    Runner,
    Shared,
    Stopped,
    Threads,
    gather,
    gather_whole,
    local_runner,
    processors,
    stop_if_asked,
    useful_threads,
    using_processors,
)

SKEWED = {"blocks": 64, "pages_per_block": 16, "op": 0.25, "workload": "hot-cold:f=0.1,r=0.9"}
ENDLESS = {"blocks": 2048, "op": 0.28}
RUNNERS: dict[str, Callable[[], Runner]] = {
    "here": Here,
    "backwards": Backwards,
    "2 threads": lambda: Threads(2),
    "5 threads": lambda: Threads(5),
    "elsewhere": AsElsewhere,
}


@pytest.fixture(params=RUNNERS)
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    with using_processors(5):  # so that there are 5 threads on any machine
        yield RUNNERS[request.param]()


# Each import of NumPy by polars takes 0.2 s longer than the one before.
FIRST_ARRAYS = """
import itertools, threading, time
import polars as pl
import numpy as np
import polars._dependencies as lazy
from writeamp.runners import Threads

imported, turns, begin = lazy.import_module, itertools.count(1), threading.Barrier(2)

def slowly(name):
    module = imported(name)
    time.sleep(0.2 * next(turns))
    return module

def height(rows):
    begin.wait()
    return pl.DataFrame({"a": np.zeros(rows)}).height

lazy.import_module = slowly
print(sorted(Threads(2).results(height, [1, 2])))
"""


def test_two_threads_may_use_the_first_arrays_of_polars_at_once() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST_ARRAYS], check=True, stdout=subprocess.PIPE, text=True
    )
    assert done.stdout == "[(0, 1), (1, 2)]\n"


def squared(number: int) -> int:
    return number**2


def work_until_stopped() -> None:
    while True:
        time.sleep(0.01)
        stop_if_asked()


class TestGathering:
    def test_results_are_in_the_order_of_the_jobs(self, runner: Runner) -> None:
        assert gather(runner, squared, range(40)) == [number**2 for number in range(40)]

    def test_no_job_has_no_result(self, runner: Runner) -> None:
        assert gather(runner, squared, []) == []

    def test_progress_counts_the_jobs_that_are_done(self, runner: Runner) -> None:
        seen: list[tuple[int, int]] = []
        gather(runner, squared, range(4), progress=lambda done, jobs: seen.append((done, jobs)))
        assert seen == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]

    def test_each_result_comes_with_the_index_of_its_job(self) -> None:
        seen: list[tuple[int, int]] = []
        gather(Backwards(), squared, [5, 6, 7], each=lambda at, found: seen.append((at, found)))
        assert seen == [(2, 49), (1, 36), (0, 25)]

    def test_an_interrupt_hands_over_what_was_finished(self) -> None:
        with pytest.raises(wa.Interrupted) as raised:
            gather(StopsAfter(2), squared, [5, 6, 7])
        assert raised.value.finished == {0: 25, 1: 36}

    def test_of_a_whole_nothing_is_handed_over(self) -> None:
        with pytest.raises(KeyboardInterrupt) as raised:
            gather_whole(StopsAfter(2), squared, [5, 6, 7])
        assert not isinstance(raised.value, wa.Interrupted)


class TestThreads:
    def test_there_are_no_more_than_processors_and_jobs(self) -> None:
        cores = processors()
        assert useful_threads(100_000, 100_000) == cores
        assert useful_threads(None, 1) == 1
        assert useful_threads(1, 100) == 1
        found = wa.endurance(
            blocks=60, w_max=3, replicas=9, pages_per_block=16, runner=wa.runners.Threads(100_000)
        )
        assert found.plan.threads == min(cores, 9)

    def test_as_many_work_at_the_same_time_as_are_asked_for(self) -> None:
        meeting = threading.Barrier(3)

        def meet(_: int) -> int:
            meeting.wait(timeout=PATIENCE_S)
            return threading.get_ident()

        with using_processors(8):
            assert len(set(gather(Threads(3), meet, range(6)))) == 3

    def test_an_error_stops_the_others_and_is_raised(self) -> None:
        def work(one: int) -> None:
            if one == 0:
                raise KeyError(one)
            work_until_stopped()

        with using_processors(2), pytest.raises(KeyError):
            gather(Threads(), work, [1, 0])

    def test_who_stops_asking_stops_what_runs(self) -> None:
        started, stopped = threading.Event(), threading.Event()

        def work(one: int) -> None:
            if one == 0:
                started.wait(PATIENCE_S)
                return
            started.set()
            try:
                work_until_stopped()
            except Stopped:
                stopped.set()
                raise

        with using_processors(2):
            for _ in Threads().results(work, [0, 1]):
                break
        assert stopped.wait(PATIENCE_S)

    def test_work_within_work_stops_with_it(self) -> None:
        stopped = threading.Event()

        def inner(_: int) -> None:
            try:
                wa.simulate(writes=10**12, **ENDLESS)
            except Stopped:
                stopped.set()
                raise

        def outer(one: int) -> None:
            if one == 0:
                raise KeyError(one)
            gather(Threads(), inner, [0])

        with using_processors(2), pytest.raises(KeyError):
            gather(Threads(), outer, [1, 0])
        assert stopped.wait(PATIENCE_S)


class TestProcessors:
    def test_jobs_share_what_their_runner_has(self) -> None:
        with using_processors(6):
            assert gather(Threads(2), lambda _: processors(), range(4)) == [3] * 4
            assert gather(Threads(4), lambda _: processors(), range(4)) == [1] * 4
            assert gather(Here(), lambda _: processors(), range(2)) == [6, 6]

    def test_a_runner_within_a_runner_starts_no_thread_where_none_is_left(self) -> None:
        def threads_of_inner(_: int) -> set[int]:
            return set(gather(local_runner(8), lambda _: threading.get_ident(), range(8)))

        with using_processors(2):
            for found in gather(Threads(), threads_of_inner, range(4)):
                assert len(found) == 1

    def test_this_thread_does_what_no_other_would_help_with(self) -> None:
        with using_processors(1):
            assert isinstance(local_runner(10), Here)
        with using_processors(4):
            assert isinstance(local_runner(1), Here)
            assert isinstance(local_runner(10, most=1), Here)
            assert isinstance(local_runner(10), Threads)

    def test_the_share_ends_with_the_context_also_after_an_error(self) -> None:
        before = processors()
        with pytest.raises(KeyError), using_processors(before + 1):
            raise KeyError
        assert processors() == before


class TestShared:
    def test_a_value_is_itself_here_and_made_once_elsewhere(self, tmp_path: Path) -> None:
        made = tmp_path / "made"
        here = object()
        shared = Shared(here, partial(noted, made))
        assert shared.value is here
        first, second = (pickle.loads(pickle.dumps(shared)) for _ in range(2))
        assert not made.exists()
        assert first.value is second.value
        assert made.read_text() == "once"


def noted(path: Path) -> object:
    assert not path.exists()
    path.write_text("once")
    return object()


def said(found: wa.Comparison | wa.Endurance) -> dict[str, Any]:
    """Return what a result says, but for how long that took."""
    document = found.to_dict(curve=True) if isinstance(found, wa.Endurance) else found.to_dict()
    for table in (document, *document.get("rows", [])):
        for name in ("host_pages_per_s", "elapsed_s", "threads"):
            table.pop(name, None)
    return document


class TestMeasurements:
    managers = "single,sepgc,hcwf,wolf"

    def test_a_comparison_is_the_same_by_any_runner(self, runner: Runner) -> None:
        settings: dict[str, Any] = {"managers": self.managers, "writes": 20_000, **SKEWED}
        expected = wa.compare(**settings, runner=Here())
        found = wa.compare(**settings, runner=runner)
        assert said(found) == said(expected)
        for row, as_expected in zip(found.rows, expected.rows, strict=True):
            for one, other in zip(row.results, as_expected.results, strict=True):
                assert one.plan == other.plan
                assert {name: one.samples[name].tolist() for name in one.samples} == {
                    name: other.samples[name].tolist() for name in other.samples
                }

    def test_lives_are_the_same_by_any_runner(self, runner: Runner) -> None:
        settings: dict[str, Any] = {"w_max": 40, "replicas": 7, "manager": "sepgc", **SKEWED}
        expected = wa.endurance(**settings, victims="d-choices:d=3", runner=Here())
        found = wa.endurance(**settings, victims="d-choices:d=3", runner=runner)
        assert said(found) == said(expected)
        assert found.lives.equals(expected.lives)
        assert (found.erases_of_block == expected.erases_of_block).all()

    def test_who_compares_on_a_trace_has_it_and_no_result_brings_it(self) -> None:
        runner = AsElsewhere()
        settings: dict[str, Any] = {"trace": TRACE, "op": 0.2, "managers": "single,sepgc"}
        found = wa.compare(**settings, replicas=1, runner=runner)
        assert said(found) == said(wa.compare(**settings, replicas=1, runner=Here()))
        for row in found.rows:
            load = row.results[0].plan.load
            assert isinstance(load, wa.traces.PageTrace)
            assert max(runner.result_bytes) < load.start.nbytes / 2
            assert load.start.size > 0

    def test_drives_wear_out_elsewhere_under_a_trace(self) -> None:
        settings: dict[str, Any] = {"trace": TRACE, "op": 0.2, "w_max": 4, "replicas": 2}
        found = wa.endurance(**settings, runner=AsElsewhere())
        assert said(found) == said(wa.endurance(**settings))

    def test_progress_of_lives_elsewhere_counts_those_that_ended(self) -> None:
        seen: list[tuple[int, int]] = []
        wa.endurance(
            **SKEWED, w_max=10, replicas=3, runner=AsElsewhere(),
            progress=lambda *counts: seen.append(counts),
        )  # fmt: skip
        assert seen == [(0, 30), (10, 30), (20, 30), (30, 30)]

    def test_a_result_of_other_processes_does_not_say_how_many_threads_it_had(self) -> None:
        found = wa.endurance(**SKEWED, w_max=5, replicas=2, runner=AsElsewhere())
        assert found.plan.threads is None
        assert found.to_dict()["threads"] is None

    def test_an_interrupt_leaves_the_lives_that_ended(self) -> None:
        settings: dict[str, Any] = {"w_max": 10, "replicas": 5, **SKEWED}
        with pytest.raises(wa.Interrupted) as raised:
            wa.endurance(**settings, runner=StopsAfter(2))
        whole = wa.endurance(**settings)
        assert raised.value.finished.lives.equals(whole.lives[:2])
