"""Generated traces of paper 2: their statistics, their drift, and its effect on errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from places import SHARED
from writeamp import traces as published_traces
from writeamp.learn.blackbox.features.trace_windows import of_trace
from writeamp_papers.huang2011 import trace_loads, traces
from writeamp_papers.huang2011.campaign import SHORT
from writeamp_papers.huang2011.printed import TRACES
from writeamp_papers.huang2011.trace_drift import PUBLISHED_DRIFT, drift_items
from writeamp_papers.huang2011.trace_loads import (
    FINANCIAL_THIRDS,
    SEARCH_THIRDS,
    STATISTICS,
    Spread,
    Third,
    as_trace,
    thirds_of,
)
from writeamp_papers.items import Item

NO_DRIFT = (Third(1.0, 1.0, 1.0, 1.0, Spread(rate=0.3)),) * 3


@pytest.mark.parametrize("name", STATISTICS)
def test_generated_thirds_have_the_stated_statistics(name: str) -> None:
    for stated in thirds_of(name):
        requests = stated.windows(400, 1.0, seed=1)
        is_write = (requests["op"] == "write").to_numpy()
        assert requests.height / 400 == pytest.approx(stated.rate_s, rel=0.05)
        assert is_write.mean() == pytest.approx(stated.write_share, abs=0.03)
        windows = of_trace(as_trace(requests), 1.0)
        assert windows["window"].to_list() == list(range(400))
        assert windows["requests"].std() > 0.8 * stated.spread.rate * stated.rate_s
        with_reads = windows.filter(pl.col("write_ratio") < 1)
        assert with_reads["read_size_bytes"].mean() == pytest.approx(stated.read_bytes, rel=0.1)
        assert with_reads["read_randomness"].mean() == pytest.approx(
            1 - stated.sequential_share, abs=0.05
        )


def drift_of(monkeypatch: pytest.MonkeyPatch, **thirds: tuple[Third, ...]) -> list[Item]:
    """Return the items on drift, with other thirds of the Financial or search traces."""
    for name, changed in thirds.items():
        monkeypatch.setattr(trace_loads, name, changed)
    windows = {trace: traces.generated_windows(trace, SHORT) for trace in TRACES}
    return drift_items(windows, SHORT.windows)


def test_traces_without_drift_or_with_that_of_the_other_trace_are_detected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert {item.verdict for item in drift_of(monkeypatch)} == {"checked"}
    for thirds in (NO_DRIFT, SEARCH_THIRDS):
        items = drift_of(monkeypatch, FINANCIAL_THIRDS=thirds)
        wrong = [item for item in items if item.verdict == "differs"]
        assert sum("drift of Financial1:" in item.item for item in wrong) >= 3
    # A share of writes of 0.02% cannot vary by 30%.
    thirds = tuple(replace(third, spread=Spread()) for third in FINANCIAL_THIRDS)
    items = drift_of(monkeypatch, FINANCIAL_THIRDS=FINANCIAL_THIRDS, SEARCH_THIRDS=thirds)
    wrong = [item for item in items if item.verdict == "differs"]
    assert sum("drift of WebSearch1:" in item.item for item in wrong) == 2


@pytest.mark.skipif(not SHARED.is_dir(), reason="the published traces are not at hand")
@pytest.mark.parametrize(
    ("file", "trace", "count", "thirds"),
    [
        ("financial1_prefix10k.spc", "Financial1", 8, FINANCIAL_THIRDS),
        ("websearch1_prefix24783.spc", "WebSearch1", 20, SEARCH_THIRDS),
    ],
)
def test_thirds_and_drift_are_those_of_the_published_first_requests(
    file: str, trace: str, count: int, thirds: tuple[Third, ...]
) -> None:
    requests = published_traces.read(SHARED / "traces" / file).requests
    end_ns = int(requests["timestamp_ns"].max()) + 1  # type: ignore[arg-type]
    windows = (
        requests.group_by(pl.col("timestamp_ns") * (3 * count) // end_ns)
        .agg(
            rate=pl.len(),
            share=(pl.col("op") == "write").mean(),
            read=pl.col("length").filter(pl.col("op") == "read").mean(),
        )
        .sort("timestamp_ns")
    )
    rate, share, read = (
        windows[name].to_numpy().astype(float).reshape(3, count).mean(axis=1)
        for name in ("rate", "share", "read")
    )
    assert [third.rate for third in thirds] == pytest.approx(rate / rate.mean(), abs=1e-3)
    assert [third.read_bytes for third in thirds] == pytest.approx(read / read.mean(), abs=1e-3)
    drift = {"rate": last_to_others(rate), "size of reads": last_to_others(read)}
    if trace == "Financial1":
        odds = share / (1 - share)
        whole = share.mean() / (1 - share.mean())
        assert [third.write_odds for third in thirds] == pytest.approx(odds / whole, abs=1e-3)
        first = share[:2].mean()
        drift["odds of a write"] = odds[2] / (first / (1 - first))
    for name, value in drift.items():
        assert PUBLISHED_DRIFT[trace][name] == pytest.approx(value, abs=1e-3)


def last_to_others(values: np.ndarray) -> float:
    return float(values[2] / values[:2].mean())
