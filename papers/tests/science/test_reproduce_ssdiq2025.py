"""Values of SSD-iq's simulator, recomputed; and its write buffer."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace

import numpy as np
import pytest

from replayed import Replay, assert_matches_are_computed
from reproduced import assert_reproduced
from writeamp import allocation
from writeamp_papers import PAPERS, Bench, Findings
from writeamp_papers.ssdiq2025 import paper
from writeamp_papers.ssdiq2025.write_buffer import evicted

# Drives of a quarter of the short form's size, and shorter runs.
SMALL = {unit: replace(size, blocks=size.blocks // 4) for unit, size in paper._SIZES.items()}


@pytest.fixture(scope="module")
def replay() -> Replay:
    return Replay()


@pytest.fixture(scope="module")
def found(replay: Replay) -> Findings:
    return PAPERS["ssdiq2025"].run(Bench(runner=replay))


def test_all_is_found_again_but_for_what_is_known_to_differ(found: Findings) -> None:
    assert_reproduced("ssdiq2025", found)


def test_every_match_is_computed(found: Findings, replay: Replay) -> None:
    assert_matches_are_computed(
        found,
        lambda: PAPERS["ssdiq2025"].run(Bench(runner=replay.changed())),
        (allocation, "optimal"),
    )


def test_the_print_of_high_zipf_exponents_needs_the_write_buffer(found: Findings) -> None:
    needs_buffer = {i.item: i.reading for i in found.items if i.verdict == "match-if"}
    assert needs_buffer == {
        f"greedy, zipf writes of exponent {s}, shuffled": "write buffer" for s in (0.8, 1.0)
    }


def test_one_frontier_instead_of_two_regions_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = paper._ZONES["2R-greedy", "two-region", "greedy"]
    monkeypatch.setattr(paper, "_ZONES", {("2R-greedy", "single", "greedy"): printed})
    monkeypatch.setattr(paper, "_SIZES", SMALL)
    monkeypatch.setattr(paper, "_MEASURED_SKEWED", paper._MEASURED)
    seeded = {i.item: i.verdict for i in paper._zones(Bench()).items}
    assert seeded["2R-greedy, 90% of writes to 10% of pages"] == "differs"


def test_the_buffer_evicts_as_many_writes_as_an_exact_one() -> None:
    pages = np.random.default_rng(1).zipf(1.2, 200_000).astype(np.uint32) % 50_000
    capacity = 200
    buffer: OrderedDict[int, None] = OrderedDict()
    exact = 0
    for page in pages.tolist():
        if page in buffer:
            buffer.move_to_end(page)
            continue
        buffer[page] = None
        if len(buffer) > capacity:
            buffer.popitem(last=False)
            exact += 1
    assert evicted(pages, capacity).sum() == pytest.approx(exact, rel=0.01)
