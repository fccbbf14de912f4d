"""Fitted parameters of paper 2's devices: the host's time, and the verdicts of the fit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import writeamp_papers
from writeamp.learn.blackbox.space import KIB
from writeamp_papers.huang2011 import devices
from writeamp_papers.huang2011.curves import FITTED
from writeamp_papers.huang2011.devices import HOST_NS
from writeamp_papers.huang2011.runs import WAYS, Stretch, measured
from writeamp_papers.huang2011.workloads import one_direction

_FIT = Path(writeamp_papers.__file__).parents[1] / "benches" / "fit_huang2011.py"


def metrics_of_small_reads(device: str, depth: int) -> tuple[float, ...]:
    point = one_direction(KIB, 1.0, 0, is_write=False, depth=depth)
    (metrics,) = measured(Stretch(device, WAYS[0], (), (point,), 1 << 28, 0.5, seed=2))
    return metrics


@pytest.mark.parametrize("device", ["SSD_I", "Array_I"])
def test_the_host_serves_one_request_after_another_also_for_an_array(device: str) -> None:
    _, _, iops = metrics_of_small_reads(device, depth=64)
    assert iops == pytest.approx(1e9 / HOST_NS, rel=0.02)


def test_one_request_outstanding_takes_longer_by_the_time_of_the_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    latency_ms, _, _ = metrics_of_small_reads("SSD_I", depth=1)
    monkeypatch.setattr(devices, "HOST_NS", 0)
    devices.built.cache_clear()
    without_ms, _, _ = metrics_of_small_reads("SSD_I", depth=1)
    devices.built.cache_clear()
    assert latency_ms - without_ms == pytest.approx(HOST_NS / 1e6, rel=0.01)


def test_the_fit_of_the_profiles_uses_just_the_statements_that_are_called_fitted() -> None:
    names = re.findall(r'f?"F(\d[-\d, ]+) ', _FIT.read_text(encoding="utf-8"))
    used = {f"P2-F{name[0]}{number}" for name in names for number in re.findall(r"-\d+", name)}
    assert used == FITTED
