"""Intervals between two snapshots: bounds, and what is named instead of averaged."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import in_process
from places import ROOT
from smart_documents import intel, verdict
from writeamp.drives.counters.amounts import BYTE, DATA_UNIT, LBA, MIB32, Counter
from writeamp.drives.counters.answer import interval_answer, life_answer
from writeamp.drives.counters.clocks import taken_at
from writeamp.drives.counters.reading import read_snapshot
from writeamp.drives.counters.result import DriveCounters

SHARED = ROOT.parent / "shared" / "smart" / "more"
UNITS = (BYTE, LBA, MIB32, DATA_UNIT)


def between(folder: Path, before: dict[str, Any], after: dict[str, Any]) -> DriveCounters:
    paths = [folder / "before.json", folder / "after.json"]
    for path, document in zip(paths, (before, after), strict=True):
        path.write_text(json.dumps(document))
    first, last = (read_snapshot(path) for path in paths)
    return interval_answer(first, last)


def test_an_interval_divides_differences_and_says_its_days(tmp_path: Path) -> None:
    before = intel(1000, 4000, local_time={"time_t": 1_700_000_000})
    after = intel(3000, 7000, local_time={"time_t": 1_700_000_000 + 7 * 86_400})
    found = between(tmp_path, before, after)
    assert found.wa == 1.5
    assert found.bounds == (2999 / 2001, 3001 / 1999)
    assert found.days == 7
    assert found.to_dict()["host_bytes"] == 2000 << 25


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"serial_number": "B2"}, "serial differs"),
        ({"model_name": "INTEL SSDSC2KB480G8"}, "model differs"),
        ({"local_time": {"time_t": 900}}, "wrong order: the second is"),
    ],
)
def test_what_is_no_interval_of_one_drive_is_named(
    change: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    before = intel(1000, 4000, local_time={"time_t": 1000})
    found = between(tmp_path, before, intel(3000, 7000, **change))
    if "model_name" in change:
        before.pop("serial_number")
        found = between(tmp_path, before, intel(3000, 7000, serial_number="", **change))
    assert (found.wa, found.kind) == (None, "none")
    assert sentence in found.reason


def test_a_counter_that_fell_was_cleared(tmp_path: Path) -> None:
    found = between(tmp_path, intel(3000, 7000), intel(10, 30))
    assert found.wa is None
    assert "fell from 3,000 to 10" in found.reason


def test_another_firmware_is_a_doubt_and_few_units_too(tmp_path: Path) -> None:
    found = between(tmp_path, intel(1000, 4000), intel(1010, 4050, firmware_version="F2"))
    doubts = {one.name for one in found.checks if one.verdict == "doubt"}
    assert doubts == {"same firmware", "interval against granularity"}
    assert found.wa == 5
    (tmp_path / "one.json").write_text(json.dumps(intel(1000, 4000)))
    done = in_process.run("measure diff", f"{tmp_path}/one.json {tmp_path}/after.json --json")
    warnings = json.loads(done.out)["warnings"]
    assert {one.partition(":")[0] for one in warnings} == doubts
    assert [f"writeamp: warning: {one}" for one in warnings] == done.err.splitlines()


def test_nothing_written_is_no_number(tmp_path: Path) -> None:
    found = between(tmp_path, intel(1000, 4000), intel(1000, 4000))
    assert found.wa is None
    assert "no writes between" in found.reason


def test_a_snapshot_that_reads_the_host_twice_holds_both(tmp_path: Path) -> None:
    for name, units in (("1.json", 1000), ("3.json", 1010)):
        log = {"critical_warning": 0, "data_units_written": units}
        (tmp_path / name).write_text(json.dumps(log))
    media = {"physical_media_units_written": {"hi": 0, "lo": 2010 * 512_000}}
    (tmp_path / "2.json").write_text(json.dumps(media))
    found = life_answer(read_snapshot(tmp_path))
    assert found.wa == 2
    assert found.bounds == (2010 / 1010, 2010 / 999)


@given(
    true=st.lists(st.integers(0, 10**15), min_size=2, max_size=2).map(sorted),
    unit=st.sampled_from(UNITS),
    rounding=st.sampled_from(["up", "down"]),
)
def test_bounds_hold_the_true_amount_however_a_drive_rounds(
    true: list[int], unit: Any, rounding: Any
) -> None:
    def counted(size_bytes: int) -> Counter:
        size = Fraction(size_bytes) / unit.nominal
        count = -(-size // 1) if rounding == "up" else size // 1
        return Counter("host", int(count), unit, "a", "s", rounding=rounding)

    first, last = map(counted, true)
    life, interval = last.amount(), last.since(first)
    assert life.low <= true[1] <= life.high
    assert interval.low <= true[1] - true[0] <= interval.high


def test_a_counter_that_wraps_goes_on() -> None:
    before, after = (Counter("host", n, LBA, "a", "s", bits=32) for n in (2**32 - 10, 90))
    assert after.since(before).nominal == 100 * 512


@pytest.mark.skipif(not SHARED.is_dir(), reason="there are no samples of real drives beside this")
def test_a_real_drive_over_three_years() -> None:
    names = ("seagate-barracuda120-1tb-2022.json", "seagate-barracuda120-1tb-2025.json")
    first, last = (read_snapshot(SHARED / name) for name in names)
    found = interval_answer(first, last)
    assert found.wa == pytest.approx(2.2946, abs=1e-4)
    # By the times of `asctime`, in MSK; powered on were 1,088 days.
    assert found.days == pytest.approx(1175.93, abs=0.01)
    assert not found.is_powered_on
    turned = interval_answer(last, first)
    assert turned.reason == (
        "the files are in the wrong order: the second is 1,176 days older. Swap them"
    )
    assert [one.name for one in turned.checks if one.verdict == "fail"] == ["order"]


def test_a_ratio_below_1_by_granularity_alone_is_doubted(tmp_path: Path) -> None:
    found = between(tmp_path, intel(1000, 4000), intel(1004, 4002))
    assert found.wa < 1 <= found.bounds[1]
    assert verdict(found, "not below 1") == "doubt"


def test_ends_that_are_printed_alike_are_printed_once(tmp_path: Path) -> None:
    between(tmp_path, intel(10**7, 10**7), intel(2 * 10**7, 3 * 10**7))
    files = f"{tmp_path}/before.json {tmp_path}/after.json"
    (row,) = (
        one for one in in_process.run("measure diff", files).out.splitlines() if "│ WA " in one
    )
    assert row.split("│")[2].strip() == "2"


def test_days_of_power_on_hours_are_said_to_be(tmp_path: Path) -> None:
    hours = [{"power_on_time": {"hours": one}, "local_time": {}} for one in (0, 240)]
    found = between(tmp_path, intel(1000, 4000, **hours[0]), intel(3000, 7000, **hours[1]))
    assert (found.days, found.to_dict()["days_powered_on"]) == (10, True)
    assert dict(found.card().rows)["interval"] == "10 days powered on"


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ({"asctime": "Sun Jan 30 22:50:24 2022 MSK"}, 1_643_572_224),
        ({"asctime": "Sun Jan 30 22:50:24 2022 MSK", "time_t": 5}, 5),
        ({"asctime": "Sun Jan 30 22:50:24 2022 XYZ"}, None),
        ({"asctime": "Sun Jan 30 22:50:24 2022"}, None),
        ({"asctime": 7}, None),
    ],
)
def test_a_local_time_is_read_where_its_zone_is_known(
    said: dict[str, Any], seconds: float | None
) -> None:
    assert taken_at({"local_time": said}) == seconds
