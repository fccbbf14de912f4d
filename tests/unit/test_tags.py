"""Counters by tag: their sums, their windows, and the tag of each version of a page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import writeamp as wa
from page_traces import READ, TRIM, WRITE, page_trace
from registered import alone
from timed_runs import PROFILE
from writeamp._engine import UNTAGGED
from writeamp.traces.pages import PageTrace

NAMES = ("hot", "cold", "idle")
PAGES = 2000
# Parts of timed drives that hold pages before they are programmed, or program pages of their own.
PARTS = {
    "none": "",
    "cache": "[write_cache]\nbytes = 262144\n",
    "slc": "[slc]\nstatic_bytes = 524288\nread_us = 20\nprogram_us = 100\nerase_us = 1000\n",
    "map": "[map_cache]\nbytes = 4096\n",
}
DRIVE: dict[str, Any] = {"blocks": 160, "pages_per_block": 16, "op": 0.25}


def tagged(requests: int = 12_000, *, every_ns: int | None = None) -> PageTrace:
    """Return writes of a few hot and many cold pages, reads and trims; some have no tag."""
    drawn = np.random.default_rng(3)
    is_hot = drawn.random(requests) < 0.6
    page = np.where(is_hot, drawn.integers(0, 200, requests), drawn.integers(0, PAGES, requests))
    op = drawn.choice([WRITE, READ, TRIM], requests, p=[0.9, 0.05, 0.05])
    tags = np.where(drawn.random(requests) < 0.03, UNTAGGED, np.where(is_hot, 0, 1))
    count = drawn.integers(1, 4, requests)
    made = page_trace(page, op, counts=count, logical_pages=PAGES + 4, every_ns=every_ns)
    return made.tagged(NAMES, tags)


def sums(result: Any) -> dict[str, int]:
    """Return the sums of the counters by tag."""
    counts = result.by_tag.drop("tag", "is_drive").sum()
    return {name: int(value) for name, value in counts.row(0, named=True).items()}


def totals(result: Any) -> dict[str, int]:
    """Return the counters of all tags together, with the same keys as `sums`."""
    programs = {f"{cause}_programs": pages for cause, pages in result.causes.items()}
    host = {"host_pages": result.host_pages, "host_bytes": result.host["written_bytes"]}
    return host | {"flash_pages": result.flash_pages} | programs


@pytest.mark.registry
def test_tags_sum_to_the_counters_under_every_manager_and_change_nothing() -> None:
    trace = tagged(2500)
    plain = trace.tagged((), np.full(trace.op.size, UNTAGGED))
    for entry in alone("managers"):
        if entry.declared["required_hints"] in ("groups", "handles"):
            continue
        for layout in entry.declared["layouts"][:2]:
            drive = wa.device(
                "eagletree", blocks=384, pages_per_block=8, page_bytes=4096, op=0.3, layout=layout
            )
            run = {"manager": entry.example, "repeat": 1, "spread": False}
            counted, uncounted = (wa.simulate(drive, trace=t, **run) for t in (trace, plain))
            assert sums(counted) == totals(counted)
            assert totals(counted) == totals(uncounted), entry.name
            assert counted.by_tag["tag"].to_list() == [*NAMES, None]


def test_a_window_counts_the_tags_of_the_window() -> None:
    trace = tagged()
    whole, window = (
        wa.simulate(wa.device(**DRIVE), trace=trace, repeat=3, warmup=warmup, spread=False)
        for warmup in (0, 20_000)
    )
    assert sums(window) == totals(window)
    assert window.host_pages < whole.host_pages - 19_000
    hot = [one.by_tag.row(0, named=True) for one in (whole, window)]
    assert hot[1]["gc_programs"] < hot[0]["gc_programs"]
    # The initial fill has no tag, and most of it is still moved early in the run.
    untagged = [
        one.by_tag.filter(pl.col("tag").is_null())["gc_programs"][0] for one in (whole, window)
    ]
    assert untagged[1] < 0.5 * untagged[0]


def test_collection_in_a_batch_moves_later_pages_of_the_batch_under_their_earlier_tags() -> None:
    # All pages are written as `cold` and then, in batches that are larger than a block, as `hot`.
    pages = np.tile(np.random.default_rng(1).permutation(PAGES), 6)
    tags = np.repeat([1, 0, 1, 0, 1, 0], PAGES)
    trace = page_trace(pages, logical_pages=PAGES).tagged(NAMES, tags)
    by_batch = [
        wa.simulate(
            wa.device(**DRIVE), trace=trace, repeat=1, warmup=0, batch_pages=size, spread=False
        )
        for size in (1, 7, 5000)
    ]
    for result in by_batch[1:]:
        assert result.by_tag.equals(by_batch[0].by_tag)
    moved = dict(by_batch[0].by_tag.select("tag", "gc_programs").iter_rows())
    assert moved["hot"] > 0
    assert moved["cold"] > 0
    assert moved["idle"] == 0


@pytest.mark.parametrize("kind", sorted(PARTS))
@pytest.mark.parametrize("is_array", [False, True])
def test_a_timed_run_counts_each_program_of_its_window_under_a_tag(
    kind: str, is_array: bool, tmp_path: Path
) -> None:
    path = tmp_path / "drive.toml"
    path.write_text(PROFILE + PARTS[kind])
    drive = f"raid0:{path},{path}" if is_array else str(path)
    # The pages of an array are as large as its sectors.
    page_bytes = wa.device(drive).page_bytes
    trace = replace(tagged(6000, every_ns=20_000), page_bytes=page_bytes)
    plain = trace.tagged((), np.full(trace.op.size, UNTAGGED))
    counted, uncounted = (
        wa.simulate(drive, trace=t, timed=True, repeat=2, spread=False) for t in (trace, plain)
    )
    assert sums(counted) == totals(counted) == totals(uncounted)
    assert counted.latency_us == uncounted.latency_us
    rows = {row["tag"]: row for row in counted.by_tag.iter_rows(named=True) if not row["is_drive"]}
    assert rows["hot"]["host_pages"] > 3000
    assert rows["idle"]["flash_pages"] == 0
    assert rows["cold"]["flash_pages"] > rows["cold"]["host_pages"] or kind == "cache"


def test_bytes_of_partial_pages_count_for_their_tag() -> None:
    rows = 3000
    frame = pl.DataFrame(
        {
            "op": ["write"] * rows,
            "offset": np.random.default_rng(2).integers(0, 4000, rows) * 512,
            "length": np.tile([512, 4096, 1536], rows // 3),
        }
    )
    trace = wa.traces.of(frame)
    tags = np.tile([0, 1, 2], rows // 3)
    pages = wa.traces.to_pages(trace, 4096, tag_names=NAMES, tags=tags)
    result = wa.simulate(wa.device(op=0.3), trace=pages, repeat=1, warmup=0, spread=False)
    expected = [512 * rows // 3, 4096 * rows // 3, 1536 * rows // 3]
    assert result.by_tag["host_bytes"].to_list()[:3] == expected
    assert sums(result) == totals(result)


def test_tags_that_do_not_fit_are_refused() -> None:
    trace = page_trace([1, 2, 3])
    with pytest.raises(wa.WriteampError, match="3 integers from 0 to 1, or 255 for no tag"):
        trace.tagged(["a", "b"], [0, 1, 2])
    with pytest.raises(wa.WriteampError, match=r"shape \(2,\).* valid are 3 integers"):
        trace.tagged(["a", "b"], [0, 1])
    with pytest.raises(wa.WriteampError, match="255 tags are too many"):
        trace.tagged([str(n) for n in range(255)], [0, 1, 2])
    with pytest.raises(wa.WriteampError, match="2 names for 1 devices"):
        trace.tagged_by_device(["a", "b"])
