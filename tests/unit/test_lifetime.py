"""Lifetimes: steps of percentage used, least lives, and drives worn out under a load."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import in_process
import numpy as np
import pytest
import writeamp as wa
from places import ROOT
from smart_documents import intel
from writeamp.errors import WriteampError
from writeamp.lifetime.of_history import lifetime_of_history
from writeamp.lifetime.under_load import lifetime_under_load
from writeamp.measure.counters.amounts import BYTE, Counter
from writeamp.measure.counters.facts import Erases, Facts
from writeamp.measure.counters.snapshot import Snapshot

DAY_S, YEAR_S = 86_400.0, 365 * 86_400.0


def read_at(day: float, percent: float, host_bytes: float = 1e12, **more: Any) -> Snapshot:
    counter = Counter("host", round(host_bytes), BYTE, "host", "s", rounding="exact")
    facts = Facts("s", model="A", taken_at=day * DAY_S, percentage_used=percent,
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
        assert found.at_least_years is not None
        assert found.at_least_years <= true
    else:
        assert found.ci is not None
        low, high = found.ci
        assert low - 1e-9 <= true <= high + 1e-9


def test_more_steps_bring_closer_bounds() -> None:
    widths = []
    for last in (400, 2000):
        found = lifetime_of_history(drive(20, np.arange(1, last, 5.0), 0))
        assert found.ci is not None
        widths.append((found.ci[1] - found.ci[0]) / (found.years or 1))
        assert found.method == "steps of percentage used"
    assert widths[1] < 0.7 * widths[0]


def test_no_step_gives_a_least_life_and_no_date() -> None:
    found = lifetime_of_history([read_at(day, 0) for day in (0, 100, 365)])
    assert (found.years, found.ci) == (None, None)
    assert found.at_least_years == pytest.approx(99)


def test_snapshots_without_a_time_are_ordered_by_power_on_hours() -> None:
    def hours(at: float, percent: float) -> Snapshot:
        facts = Facts("s", percentage_used=percent, power_on_hours=at)
        return Snapshot("a", facts, ("s",))

    found = lifetime_of_history([hours(10_000, 3), hours(30_000, 8), hours(20_000, 5)])
    assert found.ci is not None
    low, high = found.ci
    assert 30 < low < 92 / 5 * 20_000 / 8760 < high < 60
    assert "power-on hours" in found.warnings[0]


def test_a_backtest_says_how_often_forecasts_of_the_last_step_held() -> None:
    days = np.arange(1, 1000, 5.0)
    steady = lifetime_of_history(drive(10, days, 0)).backtest
    assert steady is not None
    assert steady.forecasts > 10
    assert steady.held == steady.forecasts
    assert steady.percent == 27
    # Ten times as fast from the middle on.
    faster = [read_at(day, 2 + day // 37 + max(day - 500, 0) // 4) for day in days]
    found = lifetime_of_history(faster).backtest
    assert found is not None
    assert found.held < found.forecasts
    assert lifetime_of_history([read_at(day, 0) for day in (0, 365)]).backtest is None


def test_rated_cycles_follow_from_erases_and_the_percentage_used() -> None:
    erases = (Erases(2444, 2445, None, "attribute 167"),)
    found = lifetime_of_history([read_at(0, 12, power_on_hours=20_000, erases=erases)])
    (said,) = (words for name, words in found.assumptions if name == "rated cycles")
    low, _, high, *_ = said.replace(",", "").replace(":", "").split()
    assert float(low) < 20_000 < float(high)


def test_a_life_that_is_over_is_said_to_be() -> None:
    found = lifetime_of_history([read_at(0, 111, power_on_hours=1000)])
    assert found.years == 0
    assert "does not end the drive" in found.warnings[0]


def test_another_use_of_a_drive_is_warned_of() -> None:
    host = np.cumsum([1e10] * 10 + [5e10] * 10)
    changed = lifetime_of_history([read_at(day, 3 + day // 7, b) for day, b in enumerate(host)])
    steady = lifetime_of_history([read_at(day, 3 + day // 7, 1e10 * day) for day in range(20)])
    assert len(changed.warnings) == 1
    assert "10 GB a day" in changed.warnings[0]
    assert steady.warnings == ()
    assert steady.host_bytes_a_day == pytest.approx(1e10)


@pytest.mark.parametrize(
    ("snapshots", "sentence"),
    [
        ([Snapshot("a", Facts("s"), ("s",))], "percentage used"),
        ([read_at(0, 5)], "power-on hours"),
        ([Snapshot("a", Facts("s", percentage_used=1.0), ("s",))] * 3, "neither when"),
        ([read_at(0, 5), Snapshot("b", Facts("s", model="B", taken_at=1.0), ())], "several drives"),
    ],
)
def test_what_says_nothing_of_a_life_is_refused(snapshots: list[Snapshot], sentence: str) -> None:
    with pytest.raises(WriteampError, match=sentence):
        lifetime_of_history(snapshots)


def test_years_under_a_load_are_the_account_of_cycles_writes_and_wear(tmp_path: Path) -> None:
    found = lifetime_under_load("tlc-datacenter", daily_bytes=1e12, workload="uniform", cycles=60)
    assert found.wa is not None
    assert found.years is not None
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
    assert found.dominates == "how evenly the drive wears"


def test_a_trace_on_a_trimmed_drive_wears_as_much_flash_as_on_the_full_one() -> None:
    trace = ROOT / "examples/postgres-tpcb.parquet"
    found = lifetime_under_load("tlc-datacenter", daily_bytes=1e12, trace=trace, cycles=40)
    assert found.years is not None
    assert found.wa is not None
    (trimmed,) = (one for one in found.what_if if one.change.startswith("TRIM"))
    assert trimmed.years is not None
    assert trimmed.wa is not None
    assert trimmed.wa < 0.9 * found.wa
    assert trimmed.years * trimmed.wa == pytest.approx(found.years * found.wa, rel=0.07)


def test_the_command_wants_a_drive_or_a_load() -> None:
    assert "give snapshots" in in_process.run("lifetime", "").err
    assert "--daily-writes" in in_process.run("lifetime", "--workload uniform").err
    done = in_process.run("lifetime", "nowhere.json --json")
    assert (done.status, done.out) == (2, "")


def test_snapshots_of_one_drive_are_a_history(tmp_path: Path) -> None:
    paths = []
    for at, percent in enumerate((1, 2, 4)):
        path = tmp_path / f"{at}.json"
        log = {
            "device": {"protocol": "NVMe"},
            "model_name": "A",
            "local_time": {"time_t": round(at * YEAR_S)},
            "nvme_smart_health_information_log": {
                "data_units_written": 1000 * (at + 1),
                "percentage_used": percent,
            },
        }
        path.write_text(json.dumps(log))
        paths.append(str(path))
    done = in_process.run("lifetime", f"{' '.join(reversed(paths))} --json")
    assert json.loads(done.out)["method"] == "steps of percentage used"
    page = tmp_path / "page.html"
    shown = in_process.run("lifetime", f"{' '.join(paths)} --report {page}").out
    assert "years left" in shown
    assert "host writes a day of the interval" in shown
    assert " years left, " in in_process.run("report", str(page)).out


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
    with pytest.raises(WriteampError, match="there is no history"):
        wa.measure.history(tmp_path / "none.sqlite")
