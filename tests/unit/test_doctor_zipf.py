"""fio's zipf and pareto: which blocks they reach, against full enumeration and against fio."""

from __future__ import annotations

import numpy as np
import pytest

from writeamp._engine import Load
from writeamp.fio.zipf import FioSkew, is_skewed
from writeamp.statistics.power_sums import sum_of_powers

# Factor of a rank in fio's hash.
MULTIPLIER = 0x61C8864680B583EB


@pytest.mark.parametrize("blocks", [250_000, 300_000, 2**18, 3 * 2**16, 99_991])
def test_the_share_that_is_reached_is_that_of_all_ranks(blocks: int) -> None:
    skew = FioSkew("zipf", 0.8, blocks)
    hashes = np.arange(blocks, dtype=np.uint64) * np.uint64(MULTIPLIER)
    reached = np.unique(hashes % np.uint64(blocks)).size / blocks
    assert skew.touched_share() == pytest.approx(reached, abs=0.003)


# Of fio 3.33, by --write_iolog: distinct blocks in so many writes.
MEASURED = [
    ("zipf:0.8", 250_000, 4_000_000, 229_627),
    ("zipf:1.2", 250_000, 4_000_000, 125_085),
    ("pareto:0.2", 250_000, 4_000_000, 224_876),
    ("zipf:0.8", 1_000_003, 4_000_000, 522_307),
    ("zipf:1.2", 1_000_003, 4_000_000, 183_108),
    ("pareto:0.2", 1_000_003, 4_000_000, 480_078),
    ("zipf:0.8", 2_621_440, 4_000_000, 1_169_596),
    ("zipf:0.8", 2_097_152, 4_000_000, 1_187_323),
    ("zipf:0.8", 24_414_062, 4_000_000, 2_319_251),
    ("zipf:1.2", 24_414_062, 4_000_000, 295_129),
    # fio issue 1991, whose program draws zipf:1.2 unless it is told otherwise.
    ("zipf:1.2", 2**29, 2**29, 15_591_702),
    ("zipf:1.2", 2**29, 10 * 2**29, 62_500_000),
]


@pytest.mark.parametrize(("distribution", "blocks", "writes", "distinct"), MEASURED)
def test_the_blocks_that_are_touched_are_as_many_as_fio_touched(
    distribution: str, blocks: int, writes: int, distinct: int
) -> None:
    skew = FioSkew.of(distribution, blocks)
    assert skew.touched_share(writes) * blocks == pytest.approx(distinct, rel=0.01)


@pytest.mark.parametrize(
    ("distribution", "workload"),
    [
        ("zipf:0.8", "fio-zipf:theta=0.8"),
        ("zipf:1.2", "fio-zipf:theta=1.2"),
        ("pareto:0.2", "fio-pareto:h=0.2"),
    ],
)
def test_draws_touch_the_share_that_is_computed(distribution: str, workload: str) -> None:
    skew = FioSkew.of(distribution, 250_000)
    _, drawn, *_ = Load.spec(workload, 250_000, 4096).requests(seed=3, pages=500_000)
    assert np.unique(drawn).size / 250_000 == pytest.approx(skew.touched_share(500_000), rel=0.01)


def test_a_long_tail_has_more_ranks_than_random_numbers() -> None:
    assert FioSkew("zipf", 0.8, 2**28).touched_share() == pytest.approx(1.0, abs=1e-9)
    assert FioSkew("zipf", 1.2, 2**28).touched_share() == pytest.approx(0.266, abs=0.01)
    assert FioSkew("zipf", 0.8, 2**33).touched_share() < 0.4


@pytest.mark.parametrize(
    ("distribution", "expected"),
    [
        ("zipf:0.8", ("zipf", 0.8)),
        ("zipf:0.8:0.5", ("zipf", 0.8)),
        ("pareto", ("pareto", 0.2)),
        ("zipf", ("zipf", 1.1)),
        ("zipf:1.0", None),
        ("pareto:1.5", None),
        ("random", None),
        ("normal:20", None),
        ("zoned:60/10:40/90", None),
    ],
)
def test_a_distribution_is_read_as_fio_reads_it(
    distribution: str, expected: tuple[str, float] | None
) -> None:
    found = FioSkew.of(distribution, 1000)
    assert (found and (found.kind, found.parameter)) == expected
    assert is_skewed(distribution) or expected is None


@pytest.mark.parametrize("terms", [1, 7, 1000, 1001, 200_000])
def test_sums_of_powers_are_those_of_their_terms(terms: int) -> None:
    for power in (0.8, 1.2, 2.0):
        exact = (np.arange(1, terms + 1, dtype=float) ** -power).sum()
        assert sum_of_powers(power, terms) == pytest.approx(exact, rel=1e-9)
