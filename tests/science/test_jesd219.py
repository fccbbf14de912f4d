"""Life under JESD219 beside that of a load."""

from __future__ import annotations

from pathlib import Path

import pytest

import writeamp as wa
from writeamp.devices.profile import profile
from writeamp.drives.lifetime.under_load import lifetime_under_load

ROOT = Path(__file__).resolve().parents[2]


def test_a_rating_is_beside_the_life_of_a_load() -> None:
    drive = {"device": "fdp-datacenter", "daily_bytes": 1e12, "cycles": 60}
    uniform, rated = (
        lifetime_under_load(workload=load, **drive) for load in ("uniform", "jesd219")
    )
    assert uniform.jesd219 is not None
    assert rated.tbw is not None
    assert uniform.jesd219["tbw"] == pytest.approx(rated.tbw)
    assert uniform.jesd219["dwpd"] == pytest.approx(rated.dwpd)
    shape, sheet = profile("fdp-datacenter").shape, profile("fdp-datacenter").data_sheet
    assert sheet is not None
    programmed = 60 * shape.physical_pages * shape.page_bytes
    assert uniform.rating_wa == pytest.approx(programmed / (sheet.rated_tbw * 1e12))
    assert lifetime_under_load(workload="uniform", **drive | {"device": "x25-m"}).rating_wa is None


def test_life_under_jesd219_has_the_policy_and_the_error_of_a_scaled_drive() -> None:
    drive = {"capacity": "64GiB", "op": 0.2, "w_max": 10, "replicas": 2}
    policy = {"victims": "windowed-greedy:window=4096"}
    beside = wa.endurance(workload="uniform", **drive, **policy).to_dict()
    alone = wa.endurance(workload="jesd219", **drive, **policy).to_dict()
    assert beside["jesd219"] == alone["jesd219"]
    assert beside["jesd219"]["tbw_ci95"] == alone["tbw_ci95"]


def test_a_drive_with_larger_mapping_units_lives_as_its_bytes_per_host_byte() -> None:
    drive = {"device": "tlc-datacenter", "daily_bytes": 1e12, "cycles": 60, "workload": "jesd219"}
    pages, units = (lifetime_under_load(**drive, mapping_unit=unit) for unit in (None, 16384))
    for found in (pages, units):
        assert found.wa is not None
        assert found.wa_bytes is not None
        fairness = float(dict(found.assumptions)["PE fairness"].split()[0])
        physical_bytes = 1820 * 4 * 4 * 8 * 4608 * 4096
        account = 60 * fairness * physical_bytes / found.wa_bytes / 1e12 / 365
        assert found.years == pytest.approx(account, rel=0.02)
    # Their requests cover 2.6 times their bytes in units of 16 KiB, and 1.03 times in pages.
    assert units.wa_bytes / units.wa == pytest.approx(2.604, rel=0.01)
    assert pages.wa_bytes / pages.wa == pytest.approx(1.031, rel=0.01)
    assert dict(units.assumptions)["mapping unit"] == "16 KiB"


def test_a_trace_fills_whole_pages_of_the_drive_that_it_wears_out() -> None:
    trace = ROOT / "examples/postgres-tpcb.parquet"
    found = lifetime_under_load("qlc", daily_bytes=1e12, trace=trace, cycles=3)
    assert found.years is not None
    # Most requests are of pages of 8 KiB.
    assert found.wa_bytes > 1.2 * found.wa
