"""Life under JESD219 beside that of a load."""

from __future__ import annotations

import pytest

import writeamp as wa
from writeamp.devices.profile import profile
from writeamp.drives.lifetime.under_load import lifetime_under_load


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
