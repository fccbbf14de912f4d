"""Lifetimes of profiles that are worn out under a load."""

from __future__ import annotations

from pathlib import Path

import pytest

from places import ROOT
from writeamp.drives.lifetime.under_load import lifetime_under_load


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
