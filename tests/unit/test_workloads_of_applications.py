"""Workloads of applications above the host: logs that are rewritten."""

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


@pytest.mark.parametrize(
    "spec",
    [
        "log-rewrite:logs=60000",
        "log-rewrite:growth=0",
    ],
)
def test_an_application_that_does_not_fit_is_refused(spec: str) -> None:
    with pytest.raises(wa.WriteampError) as refused:
        wa.simulate(**RUN, workload=spec)
    assert "\n" not in str(refused.value)
