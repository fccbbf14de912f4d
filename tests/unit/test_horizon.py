"""Warning of the placement `oracle` when it looks ahead less far than pages live."""

from __future__ import annotations

import pytest

import writeamp as wa

DRIVE = {"blocks": 400, "pages_per_block": 16, "op": 0.5, "workload": "hot-cold:f=0.1,r=0.9"}
RUN = {"writes": 20_000, "replicas": 1}


@pytest.mark.parametrize(
    ("manager", "share"),
    [
        ("oracle:spacing=linear,streams=64", "next 64 blocks' worth of writes, 0.24 of the drive"),
        ("oracle:spacing=linear", "next 16 blocks' worth of writes, 0.06 of the drive"),
        ("oracle", None),
        ("oracle:streams=64", None),
        ("sepgc", None),
    ],
)
def test_a_short_horizon_is_warned_of(manager: str, share: str | None) -> None:
    simulated = wa.simulate(manager=manager, **DRIVE, **RUN)
    compared = wa.compare(managers=[manager], **DRIVE, **RUN)
    for warnings in (simulated.warnings, compared.warnings):
        said = [one for one in warnings if "has a class for each" in one]
        assert len(said) == (share is not None)
        assert all(str(share) in one for one in said)


def test_a_horizon_of_the_whole_drive_is_no_warning() -> None:
    settings = {"blocks": 100, "pages_per_block": 16, "op": 2.3, **RUN}
    found = wa.simulate(manager="oracle:spacing=linear,streams=32", workload="zipf", **settings)
    assert not [one for one in found.warnings if "has a class for each" in one]
