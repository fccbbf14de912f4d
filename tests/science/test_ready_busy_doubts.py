"""Captures that a fit alone reads wrongly: right within the interval, or warned of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import in_process
from die_waveforms import Analyser, Command, Ready, Waveform, Work, work
from writeamp.devices.device import device
from writeamp.drives.measure import ReadyBusy, facts_of, ready_busy
from writeamp.drives.pins.capture import Durations, read
from writeamp.drives.pins.classes import CLASSES, Classification, shares
from writeamp.drives.pins.four_level import count

MLC = facts_of(device("ssd-v"))
READS = Command("read", 4000, 50, 0.02)
PROGRAMS = (Command("program", 2000, 300, 0.07), Command("program", 2000, 1500, 0.07))
ERASES = Command("erase", 40, 2000, 0.03)
PINS = 4


def dies(
    commands: Sequence[Command], count: int = PINS, ready: Ready | None = None, seed: int = 1
) -> list[Work]:
    random = np.random.default_rng(seed)
    return [work(commands, ready or Ready(), random) for _ in range(count)]


def alone(found: Sequence[Work], **more: object) -> Waveform:
    return replace(Waveform(tuple((die,) for die in found)), **more)


def measured(folder: Path, waveform: Waveform) -> ReadyBusy:
    """Measure a waveform whose write amplification is 1."""
    path = folder / "rb.vcd"
    waveform.write_vcd(path, seed=1)
    return ready_busy(path, MLC, float(MLC.program_bytes * waveform.programs))


def holds(found: ReadyBusy) -> bool:
    low, high = found.ci
    return low <= 1 <= high


def test_a_clean_capture_is_right_and_gives_no_warning(tmp_path: Path) -> None:
    found = measured(tmp_path, alone(dies((READS, *PROGRAMS, ERASES))))
    assert holds(found)
    assert found.methods_agree
    assert found.warnings == ()
    low, high = found.ci
    assert 0 < high - low < 0.01


@pytest.mark.parametrize("most", [2, 3, 4])
def test_reads_that_are_tried_again_are_reads(tmp_path: Path, most: int) -> None:
    again = [Command("read", 4000 // 3**more, 50 * (more + 1), 0.02) for more in range(1, most)]
    found = measured(tmp_path, alone(dies((READS, *again, *PROGRAMS, ERASES))))
    assert abs(found.mixture.wa - 1) < 1e-3
    assert holds(found)


def test_retries_as_long_as_programs_are_in_the_interval_and_told(tmp_path: Path) -> None:
    again = [Command("read", 4000 // 2**more, 50 * (more + 1), 0.02) for more in range(1, 7)]
    found = measured(tmp_path, alone(dies((READS, *again, *PROGRAMS, ERASES))))
    assert found.mixture.wa > 1.01
    assert holds(found)
    assert any("are retried" in sentence for sentence in found.warnings)


def test_operations_that_no_time_of_the_drive_explains_are_told(tmp_path: Path) -> None:
    strange = Command("program", 1000, 130, 0.02)
    found = measured(tmp_path, alone(dies((READS, strange, *PROGRAMS, ERASES))))
    assert holds(found)
    assert any("matches no time of the drive" in sentence for sentence in found.warnings)


def test_methods_that_disagree_do_not_stand_alone(tmp_path: Path) -> None:
    # At five times a read of 42 µs, retries are in the window of programs.
    base = Command("read", 4000, 42, 0.02)
    again = [Command("read", 2500 - 300 * more, 42 * (more + 1), 0.01) for more in range(1, 5)]
    path = tmp_path / "rb.vcd"
    waveform = alone(dies((base, *again, *PROGRAMS, ERASES)))
    found = measured(tmp_path, waveform)
    assert not found.methods_agree
    assert holds(found)
    assert found.ci[1] >= found.fixed.ci[1] > found.mixture.ci[1]
    assert any("neither is reliable alone" in sentence for sentence in found.warnings)
    arguments = f"{path} --device ssd-v --host-bytes {MLC.program_bytes * waveform.programs}"
    document = in_process.document("measure rb", arguments)
    assert document["methods_agree"] is False
    assert document["wa_ci95"] == list(found.ci)
    shown = in_process.run("measure rb", arguments)
    assert "disagree" in shown.out
    assert "neither is reliable alone" in shown.err


@pytest.mark.parametrize("erases", [1, 3, 7, 14, 28])
@pytest.mark.parametrize("programs", [150, 4000])
def test_few_erases_are_in_the_interval(tmp_path: Path, erases: int, programs: int) -> None:
    commands = [replace(command, count=programs) for command in PROGRAMS]
    found = dies(commands, PINS - 1)
    found += dies([*commands, replace(ERASES, count=erases)], 1, seed=2)
    result = measured(tmp_path, alone(found))
    assert holds(result)
    low, high = result.ci
    assert high > low


@pytest.mark.parametrize("idle_us", [60.0, 1000.0, 5000.0])
def test_two_dies_on_a_pin_are_told(tmp_path: Path, idle_us: float) -> None:
    found = dies((READS, *PROGRAMS, ERASES), 2 * PINS, Ready(1.5, idle_us))
    pairs = tuple((found[2 * pin], found[2 * pin + 1]) for pin in range(PINS))
    result = measured(tmp_path, Waveform(pairs))
    assert result.mixture.wa < 0.99
    assert any("share a pin" in sentence for sentence in result.warnings)


@pytest.mark.parametrize("unit_ns", [1, 100])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_ready_times_below_a_sample_are_told_and_in_the_interval(
    tmp_path: Path, unit_ns: int, share: float
) -> None:
    ready = Ready(1.5, 40, short_us=(0.05, 0.3), short_share=share)
    found = dies((READS, *PROGRAMS, ERASES), ready=ready)
    result = measured(tmp_path, alone(found, analyser=Analyser(100, unit_ns)))
    assert result.mixture.wa < 1
    assert holds(result)
    assert any("two samples of 0.1 µs" in sentence for sentence in result.warnings)


def test_short_ready_times_of_an_exact_capture_are_no_reason_to_warn(tmp_path: Path) -> None:
    ready = Ready(1.5, 40, short_us=(0.06, 0.3), short_share=0.5)
    found = dies((READS, *PROGRAMS, ERASES), ready=ready)
    result = measured(tmp_path, alone(found, analyser=Analyser(1, 1)))
    assert holds(result)
    assert result.warnings == ()


def test_operations_that_the_capture_cuts_are_in_the_interval(tmp_path: Path) -> None:
    found = dies(PROGRAMS, ready=Ready(1.5, 5))
    waveform = alone(found, start_us=1000.0, end_us=300_000.0)
    assert holds(measured(tmp_path, waveform))


def test_a_loaded_drive_is_not_taken_for_an_inverted_probe(tmp_path: Path) -> None:
    found = dies(PROGRAMS, ready=Ready(0.5, 0.5))
    alone(found, start_us=1000.0, end_us=900_000.0).write_vcd(tmp_path / "rb.vcd", seed=1)
    assert read(tmp_path / "rb.vcd").busy_share > 0.99


def test_small_captures_are_counted(tmp_path: Path) -> None:
    for seed in range(20):
        commands = (replace(READS, count=60), *(replace(command, count=20) for command in PROGRAMS))
        assert holds(measured(tmp_path, alone(dies(commands, seed=seed))))


def test_a_size_without_a_unit_is_bytes(tmp_path: Path) -> None:
    alone(dies(PROGRAMS)).write_vcd(tmp_path / "rb.vcd", seed=1)
    arguments = f"{tmp_path / 'rb.vcd'} --device ssd-v --host-bytes"
    plain = in_process.document("measure rb", f"{arguments} 32768000")
    assert plain["host_bytes"] == 32_768_000
    assert plain == in_process.document("measure rb", f"{arguments} 32000KiB")


def test_shares_that_add_up_to_more_than_one_by_rounding_are_counted_as_one() -> None:
    # Three bells of one kind, whose probabilities add up to 1 + 2⁻⁵².
    rows = np.array([[0.1, 0.2, 0.7 + 2**-52], [0.3, 0.3, 0.4]])
    assert rows[0].sum() > 1
    found = shares(Classification(("program",) * 3, 1.0), rows)
    assert all(np.all((found[name] >= 0) & (found[name] <= 1)) for name in CLASSES)
    durations = Durations(np.array([1.0, 2.0]), np.array([2.0, 3.0]), np.array([9, 9], np.uint64))
    assert count(durations, found)["program"].error == 0
