"""Placements and victim policies of users, in Python: what they do, and how they fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import in_process
import writeamp as wa
from own_policies import (
    DRIVE,
    LOAD,
    ROOT,
    RUN,
    SEPBIT,
    AllAtOnce,
    Base,
    Greedy,
    Handles,
    Oldest,
    Regions,
    counted,
    needs_numba,
)


@pytest.mark.parametrize("layout", ["flat", "striped", "striped-per-lun", "static"])
def test_sepbit_in_thirty_lines_is_the_built_in_one_to_the_last_counter(layout: str) -> None:
    drive = {"device": "eagletree", "blocks": 640, "pages_per_block": 16, "op": 0.6}
    run = {"workload": LOAD, "layout": layout, "writes": 30_000, "replicas": 1}
    managers = f"{SEPBIT}:compiled=no", "sepbit"
    found = [wa.simulate(manager=manager, **drive, **run) for manager in managers]
    assert found[0].causes == found[1].causes
    assert found[0].causes["gc"] > 1000
    assert list(found[0].erases_of_block) == list(found[1].erases_of_block)


def test_the_lines_of_the_example_are_about_thirty() -> None:
    text = (ROOT / "examples" / "my_placement.py").read_text()
    of_class = text[text.index("class SepBIT") :]
    assert len([line for line in of_class.splitlines() if line.strip()]) <= 35


@needs_numba
def test_a_compiled_placement_does_what_the_same_class_does_in_python() -> None:
    assert counted(SEPBIT) == counted(f"{SEPBIT}:compiled=no") == counted("sepbit")


class RegionsOfOldest(Regions):
    victims = Oldest


class NumpyStreams(Base):
    """A policy whose streams are numbers of NumPy and truth values."""

    migration_streams = (1,)

    def on_write(self, page: int, now: int) -> Any:
        return np.int8(0)

    def on_migrate(self, page: int, victim: Any) -> Any:
        return page >= 0


@pytest.mark.parametrize(
    ("mine", "built_in", "victims"),
    [
        (Regions, "dac", None),
        (wa.manager(Regions, regions=4), "dac:regions=4", None),
        (AllAtOnce, "dac", None),
        (RegionsOfOldest, "dac", "fifo"),
        (NumpyStreams, "sepgc", None),
    ],
    ids=str,
)
def test_a_class_does_what_the_same_scheme_does_in_rust(
    mine: Any, built_in: str, victims: str | None
) -> None:
    assert counted(mine) == counted(built_in, victims=victims)


def test_a_placement_hears_what_the_host_says_of_its_pages() -> None:
    load = "hot-cold:f=0.1,r=0.9"
    found = [
        wa.simulate(workload=load, manager=one, victims="greedy", **RUN)
        for one in (Handles, "nvme-fdp:handles=2")
    ]
    assert found[0].causes == found[1].causes
    assert found[0].hints == "groups"


@pytest.mark.parametrize("manager", ["single", "sepgc", "sepbit", Regions])
def test_a_victim_policy_of_python_does_what_the_same_does_in_rust(manager: Any) -> None:
    assert counted(manager, victims=Oldest) == counted(manager, victims="fifo")
    # Which of equals lost a page first in one tick of the clock, no column says.
    pages = [counted(manager, victims=one, warmup=0)["gc"] for one in (Greedy, "greedy")]
    assert pages[0] == pytest.approx(pages[1], rel=0.01)


def test_threads_batches_and_replicas_change_nothing() -> None:
    runs = [
        wa.compare(workload=LOAD, managers=[Regions, "dac"], **(RUN | {"replicas": 3}), **more)
        for more in (
            {"runner": wa.runners.Here()},
            {"runner": wa.runners.Threads(3)},
            {"batch_pages": 7},
        )
    ]
    seen = [[row.wa for row in run.rows] for run in runs]
    assert seen[0] == seen[1] == seen[2]
    assert seen[0][0] == seen[0][1]


def test_a_policy_that_fails_takes_no_other_row_of_a_comparison_with_it() -> None:
    class Third(Regions):
        def on_write(self, page: int, now: int) -> int:
            if now == 3000:
                raise ValueError("enough")
            return super().on_write(page, now)

    with pytest.raises(wa.PolicyError, match=r"on_write of Third.* raised ValueError") as found:
        wa.compare(workload=LOAD, managers=["single", Third, "dac"], **RUN)
    assert "enough" in found.value.traceback
    finished = found.value.finished
    assert [row.name for row in finished.rows] == ["single", "dac"]
    assert finished.unfinished == ("Third",)


def test_a_timed_run_and_lives_of_drives_ask_it_too() -> None:
    load = "io:write_size=16k"
    timed = [
        wa.simulate("ssd-v", workload=load, manager=one, size="64MiB", op=0.8, time="20ms")
        for one in (Regions, "dac")
    ]
    assert timed[0].to_dict()["causes"] == timed[1].to_dict()["causes"]
    lives = [
        wa.endurance(workload="uniform", manager=one, w_max=6, replicas=2, **DRIVE)
        for one in (Regions, "dac")
    ]
    assert lives[0].wa == lives[1].wa


def test_an_exception_ends_the_run_with_its_traceback_and_where_the_run_was() -> None:
    class Failing(Base):
        def on_write(self, page: int, now: int) -> int:
            return self.on_cue(page, now)

        def on_cue(self, page: int, now: int) -> int:
            return {0: 0}[now // 20_000]

    with pytest.raises(wa.PolicyError, match=r"on_write of .*Failing raised KeyError: 1") as found:
        counted(Failing)
    error = found.value
    assert isinstance(error, wa.WriteampError)
    assert isinstance(error.__cause__, KeyError)
    assert (error.hook, error.host_pages) == ("on_write", 20_000)
    assert error.page is not None
    assert "in on_cue" in error.traceback
    assert "/writeamp/custom/" not in error.traceback


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (1, "returned the stream 1, but its streams are 0 only"),
        (-1, "returned the stream -1, but its streams are 0 only"),
        (2**70, "it must be a whole number"),
        (0.0, r"returned 0\.0; it must be a whole number"),
        (None, "returned None; it must be a whole number"),
    ],
    ids=str,
)
def test_what_is_no_stream_is_refused(returned: Any, words: str) -> None:
    class Wrong(Base):
        streams = 1

        def on_write(self, page: int, now: int) -> int:
            return returned

    with pytest.raises(wa.PolicyError, match=words):
        counted(Wrong)


def test_victims_that_are_none_and_that_gain_nothing_are_refused() -> None:
    class Beyond(wa.VictimPolicy):
        def choose(self, candidates: Any, now: int) -> int:
            return len(candidates)

    class Fullest(wa.VictimPolicy):
        def choose(self, candidates: Any, now: int) -> int:
            return candidates.invalid_pages.argmin()

    with pytest.raises(wa.PolicyError, match="candidates, numbered from 0"):
        counted("single", victims=Beyond)
    with pytest.raises(wa.WriteampError, match="freed no page"):
        counted("single", victims=Fullest)
    with pytest.raises(wa.WriteampError, match="greedy, fifo"):
        counted("wolf", "hot-cold:f=0.1,r=0.9", victims=Greedy)


def test_a_virtual_drive_runs_no_python() -> None:
    said = in_process.refusal("serve", f"--manager {SEPBIT} --size 64MiB --run true")
    assert "written in Python" in said
    assert "sepbit" in said


def test_a_placement_may_declare_its_hints_by_the_older_name() -> None:
    older = type("Older", (wa.Placement,), {"hears": "groups"})
    assert older.required_hints == "groups"  # type: ignore[attr-defined]
    with pytest.raises(wa.WriteampError, match=r"required_hints is 'groups', but hears, its older"):
        type("Both", (wa.Placement,), {"hears": "nothing", "required_hints": "groups"})
