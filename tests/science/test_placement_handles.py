"""Placement handles: loads whose WA they lower, and the effect of a neighbour on the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

import writeamp as wa
from writeamp import traces

PAGES = 30_000
LARGE = 9 * PAGES // 10
WRITES = 300_000
ZONE_PAGES = 64
# Streams: sequential writes over 90% of the pages, random writes over the same 90%, and random
# writes over the other 10%.
SEQUENTIAL, RANDOM, SMALL = range(3)
RUN: dict[str, Any] = {"op": 0.12, "pages_per_block": 16, "repeat": 1, "spread": False}

Pages = npt.NDArray[np.int64]


def drawn(random: np.random.Generator, addresses: str, pages: int, writes: int) -> Pages:
    """Return the pages of random writes: single pages, or whole zones in random order."""
    if addresses == "uniform":
        return random.integers(0, pages, writes)
    if addresses == "zipf":
        weights = 1 / np.arange(1, pages + 1) ** 0.99
        ranks = np.searchsorted(np.cumsum(weights) / weights.sum(), random.random(writes))
        return random.permutation(pages)[ranks]
    zones = pages // ZONE_PAGES
    rounds = writes // (zones * ZONE_PAGES) + 1
    order = np.concatenate([random.permutation(zones) for _ in range(rounds)])
    return (order[:, None] * ZONE_PAGES + np.arange(ZONE_PAGES)).ravel()[:writes]


def three_streams(addresses: str, shares: list[float]) -> tuple[Pages, Pages]:
    """Return the page and the stream of each write."""
    random = np.random.default_rng(1)
    stream = random.choice(3, WRITES, p=shares)
    pages = np.empty(WRITES, np.int64)
    counts = np.bincount(stream, minlength=3)
    pages[stream == SEQUENTIAL] = np.arange(counts[SEQUENTIAL]) % LARGE
    pages[stream == RANDOM] = drawn(random, addresses, LARGE, counts[RANDOM])
    small = drawn(random, addresses, PAGES - LARGE, counts[SMALL])
    pages[stream == SMALL] = LARGE + small
    return pages, stream


def run(
    pages: Pages, handles: Pages, manager: str = "nvme-fdp", warmup: int = 0, **drive: float
) -> wa.Result:
    """Run writes of single pages, each with a handle."""
    trace = traces.of(
        pl.DataFrame(
            {
                "offset": pages * 4096,
                "length": np.full(pages.size, 4096),
                "op": ["write"] * pages.size,
                "hint": handles.astype(np.uint8),
            }
        )
    )
    warmup = warmup or pages.size // 2
    settings = RUN | drive
    return wa.simulate(trace=trace, manager=manager, warmup=warmup, writes=pages.size, **settings)


def wa_by_handles(
    addresses: str, shares: list[float], of_stream: list[int], **drive: float
) -> float:
    pages, stream = three_streams(addresses, shares)
    handles = max(of_stream) + 1
    return run(pages, np.array(of_stream)[stream], f"nvme-fdp:handles={handles}", **drive).wa


@pytest.mark.parametrize("share", [0.1, 0.4, 0.8])
@pytest.mark.parametrize("addresses", ["uniform", "zipf", "zoned"])
@pytest.mark.parametrize(("swept", "two_share"), [(SMALL, [0, 0, 1]), (SEQUENTIAL, [0, 1, 0])])
def test_handles_of_their_own_beat_a_shared_one_and_that_beats_none(
    swept: int, two_share: list[int], addresses: str, share: float
) -> None:
    shares = [(1 - share) / 2] * 3
    shares[swept] = share
    own, shared, none = (
        wa_by_handles(addresses, shares, of_stream)
        for of_stream in ([0, 1, 2], two_share, [0, 0, 0])
    )
    assert own < shared < none


def test_published_wa_of_three_uniform_streams_is_reached_by_one_set_of_inputs() -> None:
    # WARP (FAST '26) states neither the op nor the shares; these are fitted.
    of_streams = ([0, 1, 2], [0, 0, 1], [0, 0, 0])
    found = [wa_by_handles("uniform", [0.4, 0.3, 0.3], each, op=0.097) for each in of_streams]
    assert found == pytest.approx([4.05, 4.18, 4.36], rel=0.015)


def test_handles_do_not_help_if_one_uniform_stream_causes_nearly_all_writes() -> None:
    shares = [0.1, 0.8, 0.1]
    own, none = (wa_by_handles("uniform", shares, of) for of in ([0, 1, 2], [0, 0, 0]))
    assert own == pytest.approx(none, rel=0.01)


def wa_beside_a_neighbour(share: float, isolation: str) -> float:
    """Return WA of a tenant's writes, beside a neighbour with a share of all writes.

    Both write half of the pages at random, each with a handle of its own.
    """
    random = np.random.default_rng(1)
    writes = round(100_000 / (1 - share))
    is_neighbour = random.random(writes) < share
    pages = random.integers(0, PAGES // 2, writes) + np.where(is_neighbour, PAGES // 2, 0)
    filled = np.arange(PAGES)
    handles = np.concatenate([filled >= PAGES // 2, is_neighbour]).astype(np.int64)
    manager = f"nvme-fdp:handles=2,isolation={isolation}"
    result = run(np.concatenate([filled, pages]), handles, manager, warmup=PAGES + writes // 2)
    assert result.handles is not None
    return float(result.handles[0]["wa"])


def test_a_noisy_neighbour_raises_the_wa_of_others_and_isolation_limits_that() -> None:
    initial, persistent = (
        [wa_beside_a_neighbour(share, isolation) for share in (0.01, 0.1, 0.5, 0.8)]
        for isolation in ("initial", "persistent")
    )
    for of_tenant in (initial, persistent):
        assert of_tenant == sorted(of_tenant)
        assert of_tenant[-1] > 1.3 * of_tenant[0]
    # Pages that collection moves mix with the neighbour's, unless isolation is persistent.
    assert persistent[-1] < 0.7 * initial[-1]
