"""Captures of Ready/Busy pins: every format, and programs told from reads and erases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import in_process
import synthetic_captures as synthetic
from synthetic_captures import Kind
from writeamp.devices.device import device
from writeamp.drives.measure import PinFacts, facts_of, ready_busy
from writeamp.drives.pins import classes
from writeamp.drives.pins import mixture as mixtures
from writeamp.drives.pins.capture import Durations, read
from writeamp.drives.pins.classes import classify
from writeamp.drives.pins.four_level import OperationCount, four_level
from writeamp.drives.pins.measurement import ReadyBusy
from writeamp.errors import WriteampError

MLC = PinFacts(4, 1, 1, 1, 4096, (50.0,), (300.0, 1500.0), (2000.0,))
NAMES = ("rb0", "rb1", "rb2", "rb3")
GIB = 2.0**30
# Upper pages up to 2124 µs, erases from 1792 µs: the tails overlap, as on paper 5's MLC.
WRITES = (
    Kind("program", 40_000, 300, 27),
    Kind("program", 40_000, 1500, 180),
    Kind("erase", 600, 2000, 60),
)
MIXED = (Kind("read", 80_000, 50, 1), *WRITES)
SLC = (
    Kind("read", 20_000, 25, 0.5),
    Kind("program", 20_000, 250, 15),
    Kind("erase", 300, 2000, 60),
)
TLC = (
    Kind("read", 20_000, 60, 3),
    Kind("program", 10_000, 500, 40),
    Kind("program", 10_000, 900, 60),
    Kind("program", 10_000, 1800, 120),
    Kind("erase", 300, 3500, 100),
)


def measured(
    folder: Path, kinds: tuple[Kind, ...], facts: PinFacts, seed: int = 1, **more: Any
) -> ReadyBusy:
    path = folder / "rb.vcd"
    names = [f"rb{number}" for number in range(facts.dies)]
    synthetic.write_vcd(path, synthetic.pins(kinds, names, seed))
    return ready_busy(path, facts, GIB, **more)


def true_count(kinds: tuple[Kind, ...], of_class: str) -> int:
    return sum(kind.count for kind in kinds if kind.of_class == of_class)


def error(found: int, kinds: tuple[Kind, ...], of_class: str = "program") -> float:
    return found / true_count(kinds, of_class) - 1


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_programs_are_counted_to_a_thousandth_if_the_host_only_writes(
    tmp_path: Path, seed: int
) -> None:
    found = measured(tmp_path, WRITES, MLC, seed)
    assert abs(error(found.mixture.programs, WRITES)) < 1e-3
    # The window of paper 5 takes nearly all erases for programs.
    assert error(found.fixed.programs, WRITES) > 5e-3


@pytest.mark.parametrize("seed", [1, 2])
def test_programs_are_counted_to_a_hundredth_among_reads(tmp_path: Path, seed: int) -> None:
    found = measured(tmp_path, MIXED, MLC, seed)
    assert abs(error(found.mixture.programs, MIXED)) < 1e-3
    assert found.mixture.reads == true_count(MIXED, "read")


def test_single_level_and_triple_level_cells_are_told_apart(tmp_path: Path) -> None:
    slc = PinFacts(4, 1, 1, 2, 4096, (25.0,), (250.0,), (2000.0,))
    found = measured(tmp_path, SLC, slc)
    assert found.window_us == (200, 500)
    for kinds, one in (
        (SLC, found),
        (
            TLC,
            measured(
                tmp_path, TLC, PinFacts(4, 1, 1, 4, 16384, (60.0,), (500, 900, 1800), (3500,))
            ),
        ),
    ):
        counts = (one.mixture.reads, one.mixture.programs, one.mixture.erases)
        assert counts == tuple(true_count(kinds, name) for name in ("read", "program", "erase"))


def test_the_interval_holds_the_truth_and_is_no_wider_than_the_overlap(tmp_path: Path) -> None:
    wa_a_program = MLC.program_bytes / GIB
    held = 0
    for seed in range(10):
        found = measured(tmp_path, WRITES, MLC, seed)
        low, high = (bound / wa_a_program for bound in found.mixture.ci)
        held += low <= true_count(WRITES, "program") <= high
        assert high - low < 2 * true_count(WRITES, "erase")
    assert held >= 8


def test_durations_without_any_spread_are_components_too(tmp_path: Path) -> None:
    kinds = (
        Kind("program", 1000, 300, 0),
        Kind("program", 1000, 1500, 0),
        Kind("erase", 20, 2000, 0),
    )
    found = measured(tmp_path, kinds, MLC)
    assert (found.mixture.programs, found.mixture.erases) == (2000, 20)


def test_classes_follow_the_mean_of_all_pages_where_only_that_is_known(tmp_path: Path) -> None:
    facts = PinFacts(4, 1, 1, 1, 4096, (50.0,), (900.0,), (2000.0,), (200.0, 2200.0))
    assert abs(error(measured(tmp_path, MIXED, facts).mixture.programs, MIXED)) < 1e-3


def test_what_may_be_a_program_or_an_erase_is_refused_with_what_is_needed(tmp_path: Path) -> None:
    facts = PinFacts(4, 1, 1, 1, 4096, program_window_us=(200.0, 2200.0))
    with pytest.raises(WriteampError, match=r"may be programs or erases. Set .* --erase-us"):
        measured(tmp_path, WRITES, facts)
    clear = (*MIXED[:3], Kind("erase", 600, 5000, 100))
    assert measured(tmp_path, clear, facts).mixture.erases == 600


def test_the_four_levels_multiply(tmp_path: Path) -> None:
    facts = PinFacts(2, 2, 2, 2, 8192, (50.0,), (300.0, 1500.0), (2000.0,))
    found = measured(tmp_path, WRITES, facts)
    assert found.mixture.flash_bytes == found.mixture.programs * 2 * 8192
    assert found.mixture.wa == found.mixture.flash_bytes / GIB
    assert found.to_dict()["dies"] == 8


def test_one_pin_stands_for_all_and_the_spread_of_the_others_is_in_its_interval(
    tmp_path: Path,
) -> None:
    # As many channels as dies would hide which of the two is meant.
    facts = replace(MLC, channels=2, dies_per_chip=2)
    found = measured(tmp_path, WRITES, facts, pin="rb2")
    mine = found.mixture.by_pin["rb2"]["program"].value
    assert found.mixture.programs == round(4 * mine)
    spread = found.mixture.spread
    assert spread["min"] <= mine <= spread["max"]
    low, high = (bound * GIB / 4096 for bound in found.mixture.ci)
    assert high - low > 4 * spread["sd"]
    assert any("1 of 4 dies" in warning for warning in found.warnings)


def test_the_interval_of_one_die_is_that_of_a_draw_from_all() -> None:
    none = OperationCount(0, 0, 1)
    programs = dict(zip(NAMES, (900, 1000, 1000, 1100), strict=True))
    by_pin = {
        pin: {"read": none, "program": OperationCount(value, 0, 1), "erase": none}
        for pin, value in programs.items()
    }
    found = four_level(by_pin, ["rb1"], MLC, host_bytes=4096)
    assert found.wa == 4000
    deviation = np.std(list(programs.values()), ddof=1)
    assert found.ci[1] - found.wa == pytest.approx(1.96 * 4 * 0.75**0.5 * deviation, rel=1e-3)


WRITERS: dict[str, Callable[..., None]] = {
    "vcd": synthetic.write_vcd,
    "sigrok-session": synthetic.write_sr,
    "sigrok-csv": synthetic.write_sigrok_csv,
    "saleae-csv": synthetic.write_saleae_csv,
    "saleae-binary": synthetic.write_saleae_binary,
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_durations(tmp_path: Path, name: str) -> None:
    found = synthetic.pins((Kind("read", 60, 50, 3), Kind("program", 60, 300, 30)), NAMES, 4)
    WRITERS[name](tmp_path / "capture", found)
    capture = read(tmp_path / "capture")
    assert capture.format == name
    assert capture.repairs == {}
    for pin, (falls, rises) in zip(capture.pins, found.values(), strict=True):
        steps = -(-rises // 100) - -(-falls // 100)
        counted = np.repeat(pin.durations.middle_us, pin.durations.count.astype(int))
        assert np.allclose(counted, np.sort(steps) * 0.1, rtol=1e-3)


def test_operations_are_seen_over_time(tmp_path: Path) -> None:
    found = measured(tmp_path, SLC, PinFacts(4, 1, 1, 1, 4096, (25.0,), (250.0,), (2000.0,)))
    over_time = found.over_time()
    for name in ("read", "program", "erase"):
        assert abs(over_time[f"{name}s"].sum() / true_count(SLC, name) - 1) < 0.01
    assert np.all(over_time["busy_share"] <= 1)
    assert abs(over_time["busy_share"][:-1].mean() - found.capture.busy_share) < 0.02


def vcd(changes: str) -> str:
    return f"$timescale 1 us $end $var wire 1 ! rb0 $end $enddefinitions $end\n{changes}\n"


def test_cut_pulses_and_glitches_are_no_operations_and_are_told(tmp_path: Path) -> None:
    path = tmp_path / "rb.vcd"
    operations = "".join(f"#{1000 * k} 0! #{1000 * k + 300} 1!\n" for k in range(1, 50))
    path.write_text(vcd(f"#0 0! #5 1! #7 0! #8 1!\n{operations}#60000 0! #60100 x! #60200 1!"))
    capture = read(path)
    assert capture.pins[0].durations.total == 49
    assert capture.repairs == {
        "cut_at_start": 1,
        "short_pulses": 1,
        "cut_by_unknown": 1,
        "unknown_levels": 1,
    }


def test_a_glitch_to_ready_does_not_divide_an_operation(tmp_path: Path) -> None:
    path = tmp_path / "rb.vcd"
    glitch = "#1000 0! #101000 1! #101040 0! #301000 1!"
    path.write_text(vcd(f"#0 1! {glitch} #400000 0! #700000 1!").replace("1 us", "1 ns"))
    capture = read(path)
    assert capture.pins[0].durations.middle_us.tolist() == pytest.approx([300], rel=1e-3)
    assert capture.pins[0].durations.total == 2
    assert capture.repairs == {"bridged": 1}


def test_a_pin_that_rests_at_the_busy_level_is_refused_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "rb.vcd"
    pulses = "".join(f"#{10**6 * k} 1! #{10**6 * k + 300} 0!\n" for k in range(1, 50))
    path.write_text(vcd(f"#0 0!\n{pulses}#60000000"))
    with pytest.raises(WriteampError, match="pass --inverted"):
        read(path)
    assert read(path, inverted=True).pins[0].durations.total == 49


def test_too_slow_a_sampling_is_told(tmp_path: Path) -> None:
    found = synthetic.pins(WRITES, NAMES, 1, ready_us=0.5)
    synthetic.write_vcd(tmp_path / "rb.vcd", found, step_ns=1000)
    warnings = ready_busy(tmp_path / "rb.vcd", MLC, GIB).warnings
    assert any("operations count as one" in warning for warning in warnings)
    assert any("sampled every 1 µs" in warning for warning in warnings)


def test_profiles_say_what_pins_need() -> None:
    facts = facts_of(device("ssd-v"))
    assert (facts.dies, facts.program_bytes, facts.program_us) == (4, 4096, (300.0, 1500.0))
    assert facts.fixed_window_us() == (200.0, 2200.0)
    assert facts_of(device("ssd-s")).fixed_window_us() == (200.0, 500.0)
    assert facts_of(device("ssd-m")).pages_per_program == 2
    with pytest.raises(WriteampError, match="is a disk"):
        facts_of(device("spinpoint-m7"))


def test_a_duration_at_an_edge_of_the_fixed_window_is_no_program() -> None:
    middle_us = np.array([100.0, 200.0, 201.0, 499.0, 500.0, 2000.0])
    bins = Durations(middle_us - 0.5, middle_us + 0.5, np.ones(6, dtype=np.int64))
    found = classes.window_shares(bins, (200.0, 500.0))
    assert found["read"].tolist() == [1, 1, 0, 0, 0, 0]
    assert found["program"].tolist() == [0, 0, 1, 1, 0, 0]
    assert found["erase"].tolist() == [0, 0, 0, 0, 1, 1]


def test_a_mixture_is_no_worse_for_more_durations_of_one_kind() -> None:
    random = np.random.default_rng(1)
    for count in (1, 3, 30, 300):
        values = np.sort(random.normal(300, 10, count))
        durations = mixtures.Durations(values - 0.05, values + 0.05, np.ones(count, np.uint64))
        fitted = mixtures.fit(durations)
        assert set(classify(fitted, MLC).of_component) == {"program"}
        assert fitted.mean_us.size == 1


def test_the_command_prints_both_methods_and_draws(tmp_path: Path) -> None:
    path = tmp_path / "rb.vcd"
    synthetic.write_vcd(path, synthetic.pins(MIXED[:1] + SLC[1:], NAMES, 1))
    drive = "--device ssd-v --host-bytes 64MiB"
    found = in_process.document("measure rb", f"{path} {drive} --plot {tmp_path / 'rb.png'}")
    assert found["flash_bytes"] == found["programs"] * 4096
    assert found["wa"] == found["flash_bytes"] / found["host_bytes"]
    low, high = found["wa_ci95"]
    assert low <= found["wa"] <= high
    assert {"reads", "erases", "pages_per_program", "method", "fixed_window"} <= set(found)
    assert (tmp_path / "rb.png").stat().st_size > 10_000
    fixed = in_process.document("measure rb", f"{path} {drive} --method fixed --window 100:500")
    assert (fixed["method"], fixed["wa"]) == ("fixed", fixed["fixed_window"]["wa"])
    given = in_process.document(
        "measure rb",
        f"{path} --dies 4 --page-bytes 4KiB --read-us 50 --program-us 250 --erase-us 2000 "
        "--host-bytes 64MiB",
    )
    assert given["programs"] == found["programs"] == true_count(SLC, "program")
    shown = in_process.run("measure rb", f"{path} {drive}")
    assert "WA, mixture" in shown.out
    assert "WA, fixed window" in shown.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("none.vcd --device ssd-v --host-bytes 1GiB", "cannot read the capture"),
        ("rb.vcd --host-bytes 1GiB", "the drive is unknown. Pass --device"),
        ("rb.vcd --device ssd-v --host-bytes 1.5", "--host-bytes is '1.5'"),
        ("rb.vcd --device ssd-v --host-bytes 1GiB --pin rb9", "unknown pin 'rb9'"),
        (
            "rb.vcd --device ssd-v --host-bytes 1GiB --dies 2",
            "4 channels, but the drive has 2 dies",
        ),
        ("rb.vcd --device ssd-v --host-bytes 1GiB --window 9", "it must be LOW:HIGH"),
        ("rb.vcd --device ssd-v --host-bytes 1GiB --window 9:1", "low end must be below"),
        (
            "rb.vcd --device ssd-v --host-bytes 1GiB --method best",
            "unknown --method 'best'; valid: mixture, fixed",
        ),
        ("rb.vcd --device ssd-v --host-bytes 1GiB --erase-us x", "must be numbers in µs"),
        ("rb.vcd --device ssd-v --host-bytes 1GiB --erase-us -1", "be a duration above 0"),
        ("still.vcd --device ssd-v --host-bytes 1GiB", "no pin has a complete busy pulse"),
    ],
)
def test_bad_usage_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    synthetic.write_vcd(Path("rb.vcd"), synthetic.pins(SLC, NAMES, 1))
    Path("still.vcd").write_text(vcd("#0 1! #100"))
    said = in_process.refusal("measure rb", arguments)
    assert says in said


def test_a_truncated_capture_counts_what_is_left_of_it(tmp_path: Path) -> None:
    path = tmp_path / "rb.vcd"
    synthetic.write_vcd(path, synthetic.pins(SLC, NAMES, 1))
    left = path.read_text()[: path.stat().st_size * 2 // 3].rstrip()
    path.write_text(left)
    capture = read(path)
    words = left.partition("$enddefinitions")[2].split()[:-1]
    rises = sum(word.startswith("1") for word in words) - len(NAMES)  # at first all are ready
    assert sum(pin.durations.total for pin in capture.pins) == rises
    assert capture.repairs["cut_tail"] == 1
