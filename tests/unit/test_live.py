"""Estimate of a disk's wear from a sample of its writes, and its result."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import in_process
import writeamp as wa
from samples import live
from writeamp.drives.live.estimate import estimate, sampled
from writeamp.drives.live.session import burst_notes
from writeamp.reports.headlines.headline import headline

PAGE_BYTES = 4096
GB = 10**9


def frame(pages: np.ndarray) -> pl.DataFrame:
    """Return writes of one page each."""
    rows = {"op": ["write"] * len(pages), "offset": pages * PAGE_BYTES}
    return pl.DataFrame(rows | {"length": [PAGE_BYTES] * len(pages)})


@pytest.mark.parametrize("scale", [1, 2, 7, 239])
def test_of_each_group_of_pages_one_is_in_the_sample(scale: int) -> None:
    everything = sampled(np.array([0]), np.array([100 * scale]), scale)
    assert everything.tolist() == list(range(100))
    # However the same pages are divided among writes, the same are in the sample.
    cuts = np.unique(np.r_[0, np.random.default_rng(scale).integers(0, 100 * scale, 40)])
    assert sampled(cuts, np.r_[cuts[1:], 100 * scale], scale).tolist() == everything.tolist()


def test_wa_is_that_of_the_whole_drive_at_its_scale() -> None:
    """Uniform writes to a third of a drive of 524,288 pages, of which every second is sampled."""
    pages = np.random.default_rng(1).integers(0, (1 << 19) // 3, 1_000_000)
    found = estimate([frame(pages)], PAGE_BYTES << 19, profile="generic", op=0.15)
    assert found is not None
    assert (found.scale, found.assumptions[0].op) == (2, 0.15)
    assert found.sampled_writes == pytest.approx(500_000, rel=0.01)
    whole = wa.simulate(
        wa.device("generic", logical_pages=1 << 19, op=0.15),
        trace=pages,
        mapping="as-is",
        writes=3_000_000,
        repeat=3,
        replicas=1,
    )
    assert found.wa == pytest.approx(whole.wa, rel=0.03)
    low, high = found.bounds
    assert low <= found.wa < high
    everywhere = wa.simulate("generic", size="256MiB", op=0.15, writes=300_000, replicas=1)
    assert found.assumptions[-1].addresses == "everywhere"
    assert found.assumptions[-1].wa == pytest.approx(everywhere.wa, rel=0.05)


def test_without_writes_there_is_no_estimate() -> None:
    reads = frame(np.arange(10)).with_columns(op=pl.lit("read"))
    assert estimate([reads], GB, profile="generic") is None
    assert estimate([], GB, profile="generic") is None


def test_a_single_write_is_enough_for_an_estimate() -> None:
    """It is repeated 500,000 times, which took minutes and gigabytes as a trace of its own."""
    found = estimate([frame(np.array([5]))], GB, profile="generic")
    assert found is not None
    assert (found.sampled_writes, found.wa) == (1, pytest.approx(1, abs=0.01))
    assert found.notes == ("only 1 page write in the sample; record for longer",)


def test_rates_are_those_of_the_recording() -> None:
    document = json.loads(json.dumps(live(10_000_000, [np.arange(2000)]).to_dict()))
    assert document["gb_a_day"] == pytest.approx(86.4)
    assert document["tb_a_year"] == pytest.approx(31.536)
    assert document["years"] == pytest.approx(600 / 31.536)
    assert document["flash_gb_a_day"] == pytest.approx(86.4 * document["wa"])
    assert document["processes"][0] == {
        "name": "logger", "host_bytes": 10_000_000,
        "gb_a_day": document["gb_a_day"], "tb_a_year": document["tb_a_year"],
    }  # fmt: skip
    assert headline(document).startswith("31.54 TB a year at this rate, 100% of it by logger. WA ")
    assert headline(document).endswith("The rated 600 TB last 19 years.")
    nothing = live(0, [])
    assert nothing.years is None
    assert headline(nothing.to_dict()) == "Nothing was written in 10 s."
    assert [card.title for card in nothing.card().parts] == ["By process"]


def test_bursts_that_make_the_rates_uncertain_are_noted() -> None:
    every_ms = frame(np.arange(5000)).with_columns(timestamp_ns=np.arange(5000) * 1_000_000)
    assert burst_notes([every_ms[:2500], every_ms[2500:]]) == []
    burst = every_ms.with_columns(timestamp_ns=pl.col("timestamp_ns") // 5 + 30_000_000_000)
    [note] = burst_notes([every_ms, burst, every_ms.with_columns(op=pl.lit("read"))])
    assert note.startswith("50% of the bytes were written within one second. The kernel")


def test_what_cannot_be_watched_is_refused() -> None:
    assert "not a block device" in in_process.refusal("live", "/dev/null --once --for 1s")
    assert "--every" in in_process.refusal("live", "/dev/null --every 1ms")
