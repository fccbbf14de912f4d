"""Lifetimes by steps of percentage used, least lives, clocks and doubts, and under a load."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import in_process
import writeamp as wa
from in_process import run
from places import ROOT
from smart_documents import ata, intel, text_of_ata
from writeamp.devices.drive import Device
from writeamp.drives.counters.amounts import BYTE, Counter
from writeamp.drives.counters.facts import CounterFacts, Erases
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.drives.lifetime.of_history import lifetime_of_history
from writeamp.drives.lifetime.result import DriveLifetime, WhatIf
from writeamp.drives.lifetime.under_load import lifetime_under_load, too_small
from writeamp.errors import WriteampError
from writeamp.text import hashed_serial, short_hash

DAY_S, YEAR_S = 86_400.0, 365 * 86_400.0


def read_at(day: float, percent: float, host_bytes: float = 1e12, **more: Any) -> Snapshot:
    counter = Counter("host", round(host_bytes), BYTE, "host", "s", rounding="exact")
    facts = CounterFacts("s", model="A", taken_at=day * DAY_S, percentage_used=percent,
                  counters=(counter,), **more)  # fmt: skip
    return Snapshot("a", facts, ("s",))


def drive(years: float, days: np.ndarray[Any, Any], age_days: float) -> list[Snapshot]:
    """Return readings of a drive whose rated life is used in so many years."""
    rate = 100 / (years * 365)
    return [
        read_at(day, math.floor((day + age_days) * rate), 1e9 * day,
                power_on_hours=(day + age_days) * 24)
        for day in days
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(40))
def test_bounds_hold_the_true_years_of_drives_that_are_read_at_odd_times(seed: int) -> None:
    rng = np.random.default_rng(seed)
    years, age_days = rng.uniform(1, 30), rng.uniform(0, 300)
    days = np.sort(rng.uniform(1, rng.uniform(10, 1000), rng.integers(2, 200)))
    true = years - (days[-1] + age_days) / 365
    if true <= 0:
        return
    found = lifetime_of_history(drive(years, days, age_days))
    if found.years is None:
        assert found.at_least_years <= true
    else:
        low, high = found.interval
        assert low - 1e-9 <= true <= high + 1e-9


def test_more_steps_bring_closer_bounds() -> None:
    widths = []
    for last in (400, 2000):
        found = lifetime_of_history(drive(20, np.arange(1, last, 5.0), 0))
        widths.append((found.interval[1] - found.interval[0]) / (found.years or 1))
        assert found.method == "steps of percentage used"
    assert widths[1] < 0.7 * widths[0]


def test_no_step_gives_a_least_life_and_no_date() -> None:
    found = lifetime_of_history([read_at(day, 0) for day in (0, 100, 365)])
    assert (found.years, found.interval) == (None, None)
    assert found.at_least_years == pytest.approx(99)


def test_snapshots_without_a_time_are_ordered_by_power_on_hours() -> None:
    def hours(at: float, percent: float) -> Snapshot:
        facts = CounterFacts("s", percentage_used=percent, power_on_hours=at)
        return Snapshot("a", facts, ("s",))

    found = lifetime_of_history([hours(10_000, 3), hours(30_000, 8), hours(20_000, 5)])
    low, high = found.interval
    assert 30 < low < 92 / 5 * 20_000 / 8760 < high < 60
    assert "power-on hours" in found.warnings[0]


def test_a_backtest_says_how_often_forecasts_of_the_last_step_held() -> None:
    days = np.arange(1, 1000, 5.0)
    steady = lifetime_of_history(drive(10, days, 0)).backtest
    assert steady.forecasts > 10
    assert steady.held == steady.forecasts
    assert steady.percent == 27
    # Ten times as fast from the middle on.
    faster = [read_at(day, 2 + day // 37 + max(day - 500, 0) // 4) for day in days]
    found = lifetime_of_history(faster).backtest
    assert found.held < found.forecasts
    assert lifetime_of_history([read_at(day, 0) for day in (0, 365)]).backtest is None


def life_of(*readings: tuple[float, ...]) -> DriveLifetime:
    """Return the life by readings of day, percentage used and, of some, power-on hours."""
    return lifetime_of_history(
        [read_at(day, percent, **({"power_on_hours": more[0]} if more else {}))
         for day, percent, *more in readings]
    )  # fmt: skip


# Of an 850 Pro whose hours are the only clock: 9%, 10%, 15% and 16% at 1371 to 1843 hours.
PACKET = ROOT / "tests/data/cases/drives/25-packet-850pro"


@pytest.mark.parametrize(
    ("files", "years", "low", "high", "is_changed"),
    [
        ("ac", 0.656, 0.55, 0.80, True),
        ("ca", 0.656, 0.55, 0.80, True),
        ("abc", 0.656, 0.55, 0.80, True),
        ("bd", 0.65, 0.55, 0.79, True),
        ("dbca", 0.647, 0.55, 0.76, True),
        # One step was seen: the rise counts, and the life so far is the slowest rate.
        ("ab", 0.66, 0.32, 1.65, False),
        ("cd", 0.64, 0.30, 1.19, False),
    ],
)
def test_a_rise_that_is_seen_is_the_rate(
    files: str, years: float, low: float, high: float, is_changed: bool
) -> None:
    paths = " ".join(str(PACKET / f"{name}.txt") for name in files)
    done = in_process.run("lifetime", f"{paths} --json")
    found = json.loads(done.out)
    assert found["years"] == pytest.approx(years, abs=0.01)
    assert (found["years_low"], found["years_high"]) == pytest.approx((low, high), abs=0.015)
    changes = [one for one in found["warnings"] if "rate of wear changed" in one]
    assert len(changes) == is_changed
    assert not is_changed or ("57.5% of the rated life per year" in changes[0]) == ("a" in files)


def test_a_changed_rate_is_a_warning_with_both_rates() -> None:
    found = life_of((0, 2), (400, 12), (1600, 15))
    assert found.years == pytest.approx(85 / (3 / 1200) / 365)
    assert found.interval[0] == pytest.approx(84 / (4 / 1200) / 365)
    assert "9.12% of the rated life per year before, 0.912% of" in found.warnings[0]
    # Every forecast of a step that came within 1200 days would hold.
    assert found.backtest is None


@pytest.mark.parametrize(
    ("readings", "per_day"),
    [
        (((0, 1), (100, 5), (125, 6)), 5 / 125),
        (((0, 3), (200, 9), (230, 10)), 7 / 230),
        (((0, 2), (10, 3), (400, 50)), 48 / 400),
        # Within a day, an uneven load has no highest rate.
        (((0, 2), (0.2, 6), (0.3, 10), (0.6, 10), (0.9, 10)), 8 / 0.9),
    ],
)
def test_the_middle_is_the_whole_rise_over_the_whole_span(
    readings: tuple[tuple[float, ...], ...], per_day: float
) -> None:
    found = life_of(*readings)
    percent = readings[-1][1]
    assert found.years == pytest.approx((100 - percent) / per_day / 365)
    assert 1.02 * found.interval[0] < found.years < 0.98 * found.interval[1]


def test_a_drive_that_counts_in_coarse_steps_is_seen_by_its_many_readings() -> None:
    for last in (400, 150):
        coarse = [read_at(day, 50 + day // 50 * 5) for day in range(51, last, 5)]
        found = lifetime_of_history(coarse)
        assert found.warnings == ()
        left = 50 - coarse[-1].facts.taken_at / DAY_S * 0.1  # type: ignore[operator]
        assert found.interval[0] < left / 0.1 / 365 < found.interval[1]
        assert "steps of 5%" in found.dominates


def test_a_load_that_stops_is_no_coarse_step() -> None:
    found = life_of((0, 10), (100, 20), (200, 20), (500, 20))
    assert "36.5% of the rated life per year before, less than 0.912% of" in found.warnings[0]
    assert found.at_least_years == pytest.approx(79 / (1 / 400) / 365)


def test_loads_that_differ_from_day_to_day_are_no_change_of_the_rate() -> None:
    rng = np.random.default_rng(7)
    wear = np.cumsum(0.3 * rng.lognormal(0, 0.5, 250) / np.exp(0.125))
    found = lifetime_of_history([read_at(day, math.floor(worn)) for day, worn in enumerate(wear)])
    assert found.warnings == ()
    assert "from day to day" in found.dominates
    assert found.interval[0] < (100 - wear[-1]) / 0.3 / 365 < found.interval[1]


@pytest.mark.parametrize("seed", range(10))
def test_a_third_reading_contradicts_the_first_two_only_with_a_warning(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(25):
        days = np.cumsum(10 ** rng.uniform(0, 3, 3))
        percents = np.cumsum(rng.integers(0, 12, 3))
        readings = [read_at(day, percent) for day, percent in zip(days, percents, strict=True)]
        two, three = (
            _percents_a_year(readings[:2]),
            _percents_a_year(readings),
        )
        is_apart = two[0] > three[1] * 1.001 or three[0] > two[1] * 1.001
        warned = "changed" in " ".join(lifetime_of_history(readings).warnings)
        assert warned or not is_apart, list(zip(days, percents, strict=True))


@pytest.mark.parametrize(
    "readings",
    [
        # The rates of two and of three readings have a value in common, the ends of life do not.
        ((4270.76, 57, 102_498), (6177.2, 76, 148_253), (6538.76, 81, 156_930)),
        ((2102.2, 27, 50_453), (6521, 86, 156_504), (7361.86, 94, 173_998)),
    ],
)
def test_a_third_reading_that_moves_the_end_of_life_is_warned_of(
    readings: tuple[tuple[float, ...], ...],
) -> None:
    two, three = life_of(*readings[:2]), life_of(*readings)
    years = (readings[2][0] - readings[1][0]) / 365
    assert (
        three.interval[1] + years < two.interval[0] or two.interval[1] < three.interval[0] + years
    )
    assert "the rate of wear changed before the last reading" in three.warnings[0]


def test_an_interval_holds_a_rate_that_the_latest_readings_allow() -> None:
    found = life_of((1664.3, 27), (2305.9, 37), (2470.3, 38))
    assert found.interval[0] < 62 / (11 / 806) / 365
    assert found.interval[1] > 62 / (2 / 164.4) / 365


@pytest.mark.parametrize("days", [0.01, 0.5])
def test_one_step_within_a_short_time_tells_no_rate(days: float) -> None:
    with_hours = life_of((0, 5, 10_000), (days, 6, 10_000))
    assert with_hours.method == "life so far"
    assert with_hours.years == pytest.approx(94 / (6 / 10_000) / 8760)
    without = life_of((0, 5), (days, 6))
    assert (without.years, without.interval) == (None, None)
    assert without.at_least_years == pytest.approx(93 / (2 / days) / 365)


def _percents_a_year(readings: list[Snapshot]) -> tuple[float, float]:
    """Return the slowest rate and the fastest that an interval allows."""
    found, percent = lifetime_of_history(readings), readings[-1].facts.percentage_used or 0
    if found.years_low is None or found.years_high is None:
        return 0.0, (99 - percent) / (found.at_least_years or 1e-9)
    return (100 - percent) / found.years_high, (99 - percent) / max(found.years_low, 1e-9)


@pytest.mark.parametrize(
    ("readings", "per_day", "sentence"),
    [
        # The clock goes on where power-on hours have stopped, or were set back.
        (((0, 5, 900), (100, 9, 1000), (200, 13, 1000)), 8 / 200, "hours stopped at 1,000"),
        (((0, 5, 9000), (100, 9, 10), (200, 13, 2410)), 8 / 200, "or were reset"),
        (((0, 5, 0), (10, 9, 5000), (20, 13, 9000)), 8 / 20, "one of the two is wrong"),
        (((0, 5, 1e9), (400, 9, 1e9 + 9600)), 4 / 400, "hours exceed 100 years"),
        # Hours are the clock where that of a machine was not set.
        (((10, 5, 7e3), (19_000, 9, 9400)), 4 / 100, "not set: one snapshot is from before"),
        # Readings before a fall are of another count.
        (((0, 60), (100, 90), (200, 4), (300, 10)), 6 / 100, "fell from 90% to 4%"),
        (((300, 10), (0, 60), (200, 4), (100, 90)), 6 / 100, "fell from 90% to 4%"),
        (((0, 60, 9e3), (100, 90, 9e4), (200, 4, 9e4)), None, "fell from 90% to 4%"),
    ],
)
def test_clocks_that_stop_and_percentages_that_fall_are_warned_of(
    readings: tuple[tuple[float, ...], ...], per_day: float | None, sentence: str
) -> None:
    found = life_of(*readings)
    assert sentence in " ".join(found.warnings)
    if per_day is None:
        assert (found.years, found.at_least_years, found.method) == (None, None, "unknown")
    else:
        left = 100 - max(readings)[1]
        assert found.years == pytest.approx(left / per_day / 365)


def test_power_on_hours_that_stand_still_are_no_clock() -> None:
    facts = [
        CounterFacts("s", percentage_used=p, power_on_hours=h) for p, h in ((9, 400), (12, 500))
    ]
    facts += [replace(facts[-1], percentage_used=15)]
    found = lifetime_of_history([Snapshot("a", one, ("s",)) for one in facts])
    assert (found.years, found.at_least_years, found.method) == (None, None, "unknown")
    assert "stay at 500 while percentage used rises from 12% to 15%" in found.warnings[0]


def test_a_single_reading_allows_another_load_than_that_of_the_life_so_far() -> None:
    assert life_of((0, 1, 10_000)).at_least_years == pytest.approx(98 / 2 * 10_000 / 8760)
    found = life_of((0, 20, 10_000))
    assert found.years == pytest.approx(80 / (20 / 10_000) / 8760)
    assert found.interval[0] < 0.7 * found.years < 1.4 * found.years < found.interval[1]


def test_rated_cycles_follow_from_erases_and_the_percentage_used() -> None:
    erases = (Erases(2444, 2445, None, "attribute 167"),)
    found = lifetime_of_history([read_at(0, 12, power_on_hours=20_000, erases=erases)])
    (said,) = (words for name, words in found.assumptions if name == "rated cycles")
    low, _, high, *_ = said.replace(",", "").replace(":", "").split()
    assert float(low) < 20_000 < float(high)


def test_a_life_that_is_over_is_said_to_be() -> None:
    found = lifetime_of_history([read_at(0, 111, power_on_hours=1000)])
    assert found.years == 0
    assert "the drive may still work" in found.warnings[0]


@pytest.mark.parametrize(
    ("wear", "used", "hours", "years", "sentence"),
    [
        (1, 118, 30_000, 0, "unless the value is inverted; 30,000 power-on hours and attribute"),
        (1, 255, 30_000, 0, "255% or more of the rated life is used: the rated life is over"),
        (
            100,
            118,
            30_000,
            None,
            "118% used: the rated life is over, unless the value is inverted",
        ),
        (100, 100, 30_000, None, "neither power-on hours nor a wear attribute confirm it"),
        # What is left, by a wear attribute of a family that is not known; or too early.
        (
            97,
            98,
            30_000,
            None,
            "98% used, unless the value is inverted; neither power-on hours nor",
        ),
        (60, 98, 300, None, "98% used, unless the value is inverted; neither power-on hours nor"),
    ],
)
def test_device_statistics_that_may_be_inverted_are_confirmed_or_unknown(
    wear: int, used: int, hours: int, years: float | None, sentence: str, *, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text(
        text_of_ata(ata("X", {177: (3500, wear)}, used=used, hours=hours))
    )
    done = in_process.run("lifetime", f"{tmp_path / 'a.txt'} --json")
    assert sentence in done.err
    assert done.status == (2 if years is None else 0)
    assert years is None or json.loads(done.out)["years"] == years


def test_another_use_of_a_drive_is_warned_of() -> None:
    host = np.cumsum([1e10] * 10 + [5e10] * 10)
    changed = lifetime_of_history([read_at(day, 3 + day // 7, b) for day, b in enumerate(host)])
    steady = lifetime_of_history([read_at(day, 3 + day // 7, 1e10 * day) for day in range(20)])
    assert len(changed.warnings) == 1
    assert "10 GB per day" in changed.warnings[0]
    assert steady.warnings == ()
    assert steady.host_bytes_a_day == pytest.approx(1e10)


@pytest.mark.parametrize(
    ("snapshots", "sentence"),
    [
        ([Snapshot("a", CounterFacts("s"), ("s",))], "percentage used"),
        ([read_at(0, 5)], "power-on hours"),
        (
            [Snapshot("a", CounterFacts("s", percentage_used=1.0), ("s",))] * 3,
            "some snapshots have no time",
        ),
        ([read_at(0, 5), read_at(0, 9)], "two snapshots of the same time have 5% and 9%"),
        ([read_at(0, 5)] * 2, "of one moment and have no power-on hours"),
        ([read_at(0, 5, 9e12), read_at(9, 6, 8e12)], "fell from 9,000,000,000,000 to 8,"),
        (
            [read_at(0, 5), Snapshot("b", CounterFacts("s", model="B", taken_at=1.0), ())],
            "several drives",
        ),
    ],
)
def test_what_says_nothing_of_a_life_is_refused(snapshots: list[Snapshot], sentence: str) -> None:
    with pytest.raises(WriteampError, match=sentence):
        lifetime_of_history(snapshots)


def test_a_cleared_counter_is_a_warning_only_if_serial_numbers_show_one_drive() -> None:
    cleared = [read_at(0, 5, 9e12, serial="S"), read_at(99, 6, 8e12, serial="S")]
    assert "the counter was cleared" in lifetime_of_history(cleared).warnings[-1]
    # Snapshots of one moment may be passed in any order.
    at_once = [read_at(0, 5, count, power_on_hours=900) for count in (9e12, 8e12)]
    assert lifetime_of_history(at_once).warnings == lifetime_of_history(at_once[:1]).warnings


def test_the_command_wants_a_drive_or_a_load() -> None:
    assert "pass snapshots" in in_process.run("lifetime", "").err
    assert "--daily-writes" in in_process.run("lifetime", "--workload uniform").err
    in_process.refusal("lifetime", "nowhere.json --json")


def nvme(model: str, percent: int, day: int, hours: int | None = None) -> dict[str, Any]:
    """Return smartctl's JSON of an NVMe drive on this day."""
    return {
        "device": {"protocol": "NVMe"},
        "model_name": model,
        "local_time": {"time_t": round(1e9 + day * DAY_S)},
        "nvme_smart_health_information_log": {
            "data_units_written": 1000 * (day + 1),
            "percentage_used": percent,
            **({} if hours is None else {"power_on_hours": hours + 24 * day}),
        },
    }


def test_snapshots_of_one_drive_are_a_history(tmp_path: Path) -> None:
    paths = []
    for at, percent in enumerate((1, 2, 4)):
        path = tmp_path / f"{at}.json"
        path.write_text(json.dumps(nvme("A", percent, 365 * at)))
        paths.append(str(path))
    done = in_process.run("lifetime", f"{' '.join(reversed(paths))} --json")
    assert json.loads(done.out)["method"] == "steps of percentage used"
    page = tmp_path / "page.html"
    shown = in_process.run("lifetime", f"{' '.join(paths)} --report {page}").out
    assert "years left" in shown
    assert "GB between the snapshots" in shown
    markdown = in_process.run("report", str(page)).out
    assert " years left at this rate" in markdown
    found = json.loads(done.out)
    assert found["readings"] == [
        {"days": 365.0 * at, "percentage_used": used} for at, used in enumerate((1, 2, 4))
    ]
    low, middle, high = (found[f"wear_a_year{end}"] for end in ("_low", "", "_high"))
    assert low < middle < high
    # The rate of wear is the one that the years are computed from.
    assert 96 / middle == pytest.approx(found["years"])
    assert f"Rate of wear: {middle:.3g}% of the rated life per year" in markdown


def test_several_drives_are_a_table_and_told_apart_by_their_serial_numbers(tmp_path: Path) -> None:
    db = tmp_path / "history.sqlite"
    lives = {"a": (30, 33, 36), "b": (2, 2, 2), "c": (10, 30, 50), "d": (0, 0, 0)}
    paths = []
    for month in range(3):
        for name, percents in lives.items():
            path = tmp_path / f"{name}{month}.json"
            log = nvme("SAME", percents[month], 30 * month, hours=9000)
            path.write_text(json.dumps(log | {"serial_number": f"SERIAL {name}"}))
            paths.append(str(path))
    other = tmp_path / "no-wear.json"
    other.write_text(json.dumps(intel(1, 2) | {"serial_number": "NONE", "rotation_rate": 7200}))
    run("measure watch", f"{' '.join(paths)} {other} --db {db} --once")
    for drives in (f"--db {db}", f"{' '.join(paths)} {other}"):
        page = tmp_path / "page.html"
        done = run("lifetime", f"{drives} --report {page}")
        document = json.loads(run("lifetime", f"{drives} --json").out)
        found = document["lifetimes"]
        assert [one["percentage_used"] for one in found[:-1]] == [50, 36, 2, 0]
        assert [one["drive"] for one in found[:4]] == [
            f"SAME {short_hash(hashed_serial(f'SERIAL {name}'))}" for name in "cabd"
        ]
        assert "no snapshot has the used rated life" in found[-1]["reason"]
        assert done.out.index("50%") < done.out.index("36%")
        assert (
            f"5 drives: 1 may wear out within a year; the first is {found[0]['drive']}, after at "
            f"least {found[0]['years_low']:.3g} years; 1 of unknown remaining life."
        ) in run("report", str(page)).out
        chosen = json.loads(run("lifetime", f"{drives} --drive '{found[1]['drive']}' --json").out)
        assert chosen["years"] == found[1]["years"]


def test_no_more_than_100_years_are_foretold(tmp_path: Path) -> None:
    path = tmp_path / "drive.json"
    path.write_text(json.dumps(nvme("SLOW", 3, 0, hours=100_000)))
    page = tmp_path / "page.html"
    assert "more than 100" in run("lifetime", f"{path} --report {page}").out
    assert "at this rate" in run("report", str(page)).out
    slow = DriveLifetime("life so far", 1e4, 1e3, 1e5)
    assert slow.years_text == "more than 100 at this rate"
    assert replace(slow, years_low=50.0).years_text == (
        "more than 100 (90% interval: 50 to more than 100)"
    )


def test_a_change_that_shortens_the_life_is_marked() -> None:
    changes = tuple(WhatIf("a", 2.0, years) for years in (8.0, 9.99, 12.5, None))
    found = DriveLifetime("simulation", 10.0, 9.0, 11.0, what_if=changes)
    assert [row[3] for row in found.card().parts[0].rows] == ["-20%, worse", "none", "+25%", ""]
    assert [row["years_change"] for row in found.to_dict()["what_if"]][2:] == [0.25, None]


def test_wa_since_new_and_of_the_interval_stand_apart(tmp_path: Path) -> None:
    paths = []
    for day, (host, flash) in enumerate(((1000, 2000), (3000, 8000))):
        path = tmp_path / f"{day}.json"
        path.write_text(json.dumps(intel(host, flash, day)))
        paths.append(str(path))
    done = in_process.run("lifetime", f"{' '.join(paths)} --json")
    found = json.loads(done.out)
    assert found["wa"] == pytest.approx(8 / 3)
    assert found["wa_of_interval"] == 3


def test_the_library_reads_histories(tmp_path: Path) -> None:
    with pytest.raises(WriteampError, match="does not exist"):
        wa.measure.history(tmp_path / "none.sqlite")


def test_years_under_a_load_are_the_account_of_cycles_writes_and_wear(tmp_path: Path) -> None:
    found = lifetime_under_load("tlc-datacenter", daily_bytes=1e12, workload="uniform", cycles=60)
    fairness = float(dict(found.assumptions)["PE fairness"].split()[0])
    physical_bytes = 1820 * 4 * 4 * 8 * 4608 * 4096
    account = 60 * fairness * physical_bytes / found.wa / 1e12 / 365
    assert found.years == pytest.approx(account, rel=0.02)
    erases_a_year = found.wa * 1e12 * 365 / physical_bytes
    assert found.percentage_used_a_year == pytest.approx(
        100 * erases_a_year / 60 / fairness, rel=0.02
    )
    more_op = max(one.years or 0 for one in found.what_if if one.change.startswith("op"))
    assert more_op > found.years
    assert found.dominates == "the evenness of the wear"


def test_a_trace_on_a_trimmed_drive_wears_as_much_flash_as_on_the_full_one(tmp_path: Path) -> None:
    # With few blocks, wear is about as even on both drives.
    device = tmp_path / "few-blocks.toml"
    device.write_text(
        "[geometry]\nblocks_per_plane = 36\npages_per_block = 4096\n[management]\nop = 0.145\n"
    )
    trace = ROOT / "examples/postgres-tpcb.parquet"
    found = lifetime_under_load(str(device), daily_bytes=1e10, trace=trace, cycles=80)
    (trimmed,) = (one for one in found.what_if if one.change.startswith("TRIM"))
    assert trimmed.wa < 0.9 * found.wa
    assert trimmed.years * trimmed.wa == pytest.approx(found.years * found.wa, rel=0.07)


@pytest.mark.parametrize("blocks", [63, 64])
def test_a_simulated_drive_of_few_blocks_is_doubted(blocks: int) -> None:
    shape = SimpleNamespace(physical_pages=16 * blocks + 15, pages_per_erase_unit=16)
    device = cast("Device", shape)
    found = list(too_small(device, is_of_trace=True))
    assert [sentence[:78] for sentence in found] == (
        ["the simulated drive is too small because the trace writes few pages: it has 63"]
        if blocks == 63
        else []
    )
