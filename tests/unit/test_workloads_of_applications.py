"""Workloads of applications above the host: logs that are rewritten, and object caches."""

from __future__ import annotations

from typing import Any

import pytest

import writeamp as wa

RUN: dict[str, Any] = {"blocks": 256, "pages_per_block": 32, "op": 0.25, "writes": 60_000}


def layers(load: str, **changes: Any) -> dict[str, float]:
    """Return the bytes of the application, and those of the layers below."""
    found = wa.simulate(**RUN | {"warmup": 20_000} | changes, workload=load)
    return dict(found.to_dict()["application"])


@pytest.mark.parametrize(
    ("growth", "discard", "factor"), [("1", "on", 2), ("0.5", "on", 3), ("0.25", "off", 5)]
)
def test_a_rewritten_log_costs_its_data_once_in_each_growth(
    growth: str, discard: str, factor: float
) -> None:
    load = f"log-rewrite:growth={growth},discard={discard},bs=16k"
    application = layers(load, writes=200_000)
    measured = application["host_bytes_per_application_byte"]
    assert measured == pytest.approx(factor, rel=0.03)


def test_a_deleted_log_is_spare_space_only_if_it_is_trimmed() -> None:
    run = RUN | {"warmup": 20_000, "writes": 100_000}
    on, off = (
        wa.simulate(**run, workload=f"log-rewrite:bs=16k,discard={discard}")
        for discard in ("on", "off")
    )
    assert on.wa < off.wa
    assert on.host["trimmed_pages"] > 0
    assert off.held_pages == off.device.logical_pages


def test_a_cache_of_objects_has_a_handle_for_each_class() -> None:
    load = "kv-offload:objects=8k/64k,space=1/3,writes=1/1,bs=16k"
    alone, separate = (
        wa.simulate(**RUN | {"writes": 100_000}, workload=load, manager=manager)
        for manager in ("single", "nvme-fdp")
    )
    assert separate.wa < alone.wa
    assert "application" not in alone.to_dict()
    assert str(wa.workload("kv-offload")).startswith("kv-offload:writes=45/270/180/180/180")


def test_objects_larger_than_erase_units_are_overwritten_as_a_whole() -> None:
    large, small = (
        wa.simulate(**RUN, workload=f"kv-offload:objects={size},space=1,writes=1,bs=128k")
        for size in ("512k", "16k")
    )
    assert large.wa < 1.2 < small.wa


@pytest.mark.parametrize(
    "spec",
    [
        "log-rewrite:logs=60000",
        "log-rewrite:growth=0",
        "kv-offload:objects=1G,space=1,writes=1",
        "kv-offload:objects=1M/2M",
        "kv-offload:reuse=1",
    ],
)
def test_an_application_that_does_not_fit_is_refused(spec: str) -> None:
    with pytest.raises(wa.WriteampError) as refused:
        wa.simulate(**RUN, workload=spec)
    assert "\n" not in str(refused.value)
