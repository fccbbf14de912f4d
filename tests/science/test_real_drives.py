"""Twins of real drives predict published counters of phases that they were not learnt from."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from places import ROOT
from writeamp.learn.twin.families import FAMILIES
from writeamp.learn.twin.fitting import fit
from writeamp.learn.twin.phases.checked import CheckedPhase
from writeamp.learn.twin.phases.checking import PhaseTwin, check
from writeamp.learn.twin.phases.counted import CountedPhase
from writeamp.learn.twin.phases.served import GRID
from writeamp.learn.twin.phases.table import CountedDrive, chosen_drive, read_drives
from writeamp.learn.twin.phases.windows import PhaseWindows
from writeamp.learn.twin.table import table_of

COUNTERS = ROOT / "tests/data/real-drives/ssdiq_counters.csv"
MICRON, P5520 = "Micron 7450 MAX 800GB", "Solidigm D7-P5520 1.92TB"
# Few families, and op near that of both drives, so that tests are quick.
PAIRS = [("single", "greedy"), ("sepgc", "greedy"), ("sepgc", "cost-benefit"), ("single", "fifo")]
FAMILIES_OF_TESTS = tuple(family for family in FAMILIES if family[0].family in PAIRS)
GRID_OF_TESTS = replace(GRID, unit_pages=(64,), op=(0.13, 0.17, 0.22, 0.34, 0.42, 0.52))


@cache
def drive_of(name: str) -> CountedDrive:
    return chosen_drive(read_drives(COUNTERS), name)


@cache
def twin_of(drive_name: str, *learnt: str) -> PhaseTwin:
    """Return a twin of a drive, learnt from these phases."""
    drive = drive_of(drive_name)
    windows = PhaseWindows(drive, drive.chosen(learnt), GRID_OF_TESTS)
    table = table_of(windows.served, families=FAMILIES_OF_TESTS)
    return PhaseTwin.of("twin", fit(windows, table=table).profile(), "twin")


def micron() -> PhaseTwin:
    return twin_of(MICRON, "mp0op02:6", "mp0op02:7")


def predicted(twin: PhaseTwin, *phases: CountedPhase) -> list[CheckedPhase]:
    """Return the predictions for these phases of the twin's drive alone."""
    tests = check(twin, [CountedDrive(twin.drive, phases)]).phases
    return [phase for phase in tests if phase.is_test]


def error(phase: CheckedPhase) -> float:
    assert phase.steady.error is not None
    return abs(phase.steady.error)


@pytest.fixture(autouse=True)
def _cache_of_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_one_span_of_a_drive_predicts_its_other_spans() -> None:
    tests = predicted(micron(), *drive_of(MICRON).phases)
    assert {test.phase.pattern for test in tests} == {"uniform"}
    assert len({test.phase.span_bytes for test in tests}) == len(tests) == 3
    assert all(test.steady.holds for test in tests)
    assert all(error(test) < 0.01 for test in tests)
    # The WA of the fill belongs to the span: that of the whole drive is too low for smaller spans.
    measured = [test.steady.measured for test in tests]
    assert all(
        test.by_twin_alone < window.wa
        for test, window in zip(tests, measured, strict=True)
        if window and test.by_twin_alone
    )


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_wrong_counters_of_a_phase_are_outside_its_interval(factor: float) -> None:
    phases = [
        replace(phase, media_bytes=phase.media_bytes * factor) if phase.number == 5 else phase
        for phase in drive_of(MICRON).phases
        if phase.run == "mp0op02" and 4 <= phase.number <= 7
    ]
    (test,) = predicted(micron(), *phases)
    assert test.phase.number == 5
    assert test.steady.holds is False


def test_two_loads_predict_uniform_writes_after_another_preparation() -> None:
    learnt = [f"init07-san-seq-{load}:{at}" for load in ("uni", "zipf") for at in (0, 1)]
    tests = predicted(twin_of(P5520, *learnt), *drive_of(P5520).phases)
    by_name = {test.phase.name: test for test in tests}
    uniform = by_name["init07-san-seqshuffle-uni:1"]
    assert error(uniform) < 0.03
    assert uniform.steady.holds
    # On a sanitized drive, WA rises during the whole phase.
    sanitized = by_name["init07-san-none-zipf:0"]
    assert sanitized.steady.holds
    assert all(window.holds for window in sanitized.fifths)
