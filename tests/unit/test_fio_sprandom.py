"""fio's sprandom: its order of writes, and the state that it leaves."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import writeamp as wa
from refusals import refused_with
from writeamp._engine import Load
from writeamp.errors import WriteampError
from writeamp.fio.workload import fio_load

BLOCK = 4096
DRIVE: dict[str, Any] = {"size": "128MiB", "pages_per_block": 64}
# Seeds by fio's `randseed` without a value, and by the formula of its seeds.
_STEP, _SEED, _OF_SPRANDOM = 0x9E370001, 0x89, 22
_WORD = 2**64 - 1


def drawn(options: str, blocks: int) -> list[int]:
    """Return the blocks that a job writes to a drive of so many blocks, in order."""
    load = fio_load(None, f"fio --name=a --rw=randwrite --bs=4k {options}", 1)
    assert load is not None
    _, first, count, _, _ = Load.spec(load.text, blocks, BLOCK).requests(seed=1, pages=2**40)
    assert (count == 1).all()
    return [int(block) for block in first]


class _Taus88:
    """L'Ecuyer's generator with fio's seeds."""

    def __init__(self, seed: int) -> None:
        self.parts: list[int] = []
        previous = 29 + 19 + 5
        for least in (1, 7, 15):
            previous = ((previous * 69_069) & 0xFFFFFFFF) ^ (seed & 0xFFFFFFFF)
            previous += least if previous < least else 0
            self.parts.append(previous)
        for _ in range(6):
            self.draw()

    def draw(self) -> int:
        shifts = [(13, 19, 12, 0xFFFFFFFE), (2, 25, 4, 0xFFFFFFF8), (3, 11, 17, 0xFFFFFFF0)]
        for index, (left, right, step, mask) in enumerate(shifts):
            part = self.parts[index]
            feedback = (((part << left) & 0xFFFFFFFF) ^ part) >> right
            self.parts[index] = (((part & mask) << step) & 0xFFFFFFFF) ^ feedback
        return self.parts[0] ^ self.parts[1] ^ self.parts[2]


def _random(randseed: int) -> _Taus88:
    seed = randseed
    for _ in range(4 + _OF_SPRANDOM):
        seed = seed * _STEP & _WORD
    return _Taus88(seed + _OF_SPRANDOM)


def _invalid_shares(op: float, regions: int) -> list[int]:
    """Return the blocks of 10,000 to invalidate by region, from NumPy's interpolation."""
    collected = 1 - 1 / (0.5 / op + 0.7)
    valid = np.linspace(1, collected, regions)
    ends = np.cumsum(1 / valid)
    places = np.linspace(ends[0], ends[-1], regions)
    return [round(10_000 * (1 - share)) for share in np.interp(places, ends, valid)[::-1]]


def naive(op: float, regions: int, blocks: int, randseed: int, *, has_cache: bool) -> list[int]:
    """Return sprandom's order: each region is a list of new blocks, and of those of the last."""
    new = iter(drawn(f"--random_generator=lfsr --randrepeat=0 --randseed={randseed}", blocks))
    random, shares = _random(randseed), [*_invalid_shares(op, regions), 0]
    all_writes = ceil(blocks * BLOCK * (1 + op) / BLOCK)
    region_blocks = all_writes * BLOCK // regions // BLOCK
    order: list[int] = []
    old: list[int] = []
    for share in shares:
        fresh = [block for _, block in zip(range(region_blocks - len(old)), new, strict=False)]
        is_last = len(fresh) < region_blocks - len(old)
        # Without a cache, the first new block of a region comes before the old ones.
        head = 0 if has_cache or not order else 1
        writes = [*fresh, *old] if has_cache else [*fresh[:head], *old, *fresh[head:]]
        order += writes
        if is_last:
            break
        old = [block for block in writes if int(10_001 * (random.draw() / 2**32)) <= share]
    return order[:all_writes]


@pytest.mark.parametrize("cache", [None, "1k"])
@pytest.mark.parametrize(
    ("op", "regions", "randseed"), [(0.15, 100, None), (0.07, 40, 5), (0.28, 7, None), (0.5, 1, 9)]
)
def test_the_order_is_that_of_a_naive_second_implementation(
    op: float, regions: int, randseed: int | None, cache: str | None
) -> None:
    blocks = 20_011
    options = f"--sprandom=1 --spr_op={op} --spr_num_regions={regions}"
    options += "" if randseed is None else f" --randseed={randseed}"
    options += "" if cache is None else f" --spr_cs={cache}"
    expected = naive(op, regions, blocks, randseed or _SEED, has_cache=cache is not None)
    assert drawn(options, blocks) == expected


@pytest.mark.parametrize("op", [0.07, 0.15, 0.28])
@pytest.mark.parametrize("cache", ["", "--spr_cs=128k"])
def test_each_region_keeps_its_share_of_valid_blocks(op: float, cache: str) -> None:
    blocks, regions = 100_000, 50
    order = np.array(
        drawn(f"--sprandom=1 --spr_op={op} --spr_num_regions={regions} {cache}", blocks)
    )
    # The first three goals of sprandom: every address, once over the flash, in a steady state.
    assert order.size == pytest.approx(blocks * (1 + op), rel=0.01)
    assert np.unique(order).size > 0.99 * blocks
    last = np.zeros(blocks, bool)
    is_valid = np.zeros(order.size, bool)
    for place in range(order.size - 1, -1, -1):
        is_valid[place] = not last[order[place]]
        last[order[place]] = True
    region = int(blocks * (1 + op)) // regions
    shares = is_valid[: (regions - 1) * region].reshape(regions - 1, region).mean(axis=1)
    collected = 1 - 1 / (0.5 / op + 0.7)
    assert shares[0] == pytest.approx(collected, abs=0.04)
    assert shares[-1] > 0.95
    assert np.diff(shares).min() > -0.04
    expected = [1 - share / 10_000 for share in _invalid_shares(op, regions)[:-1]]
    assert np.abs(shares - expected).max() < 0.05


def test_fio_sets_the_options_that_sprandom_demands() -> None:
    plain = drawn("--sprandom=1", 5000)
    demanded = "--norandommap=1 --random_generator=lfsr --spr_op=0.15 --spr_num_regions=100"
    assert plain == drawn(f"--sprandom=1 {demanded} --io_size=1m", 5000)
    assert plain != drawn("--sprandom=1 --spr_op=0.16", 5000)
    assert plain != drawn("--sprandom=1 --spr_num_regions=99", 5000)
    assert plain == drawn("--sprandom=true", 5000)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--rw=write", "rw=write; it must be randwrite"),
        ("--rw=randrw", "rw=randrw; it must be randwrite"),
        ("--norandommap=0", "norandommap=0; it must be 1"),
        ("--random_generator=tausworthe64", "random_generator=tausworthe64; it must be lfsr"),
        ("--random_distribution=zipf:1.2", "random_distribution=zipf:1.2; it must be random"),
        ("--bs=12k", "bs and blockalign must be one power of two"),
        ("--bssplit=4k/50:8k/50", "bs and blockalign must be one power of two"),
        ("--blockalign=8k", "bs and blockalign must be one power of two"),
        ("--loops=2", "it makes one pass"),
        ("--spr_op=0", "spr_op=0; it must be a ratio above 0 and below 1"),
        ("--spr_op=7%", "spr_op=7%; it must be a ratio"),
        ("--spr_op=nan", "spr_op=nan; it must be a ratio"),
        ("--spr_num_regions=0", "spr_num_regions=0; it must be at least 1"),
        ("--spr_num_regions=many", "spr_num_regions=many; it must be at least 1"),
        ("--spr_cs=much", "spr_cs=much; it must be a number of bytes"),
    ],
)
def test_what_fio_does_not_do_is_refused(options: str, words: str) -> None:
    with pytest.raises(WriteampError) as raised:
        fio_load(None, f"fio --name=a --rw=randwrite --sprandom=1 {options}")
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_regions_hold_a_block_and_the_cache() -> None:
    job = "fio --name=a --rw=randwrite --sprandom=1"
    with refused_with("give at most 9421 regions"):
        wa.simulate(fio_run=f"{job} --spr_num_regions=9422", size="32MiB", op=0.15)
    with refused_with("give at most 36 regions"):
        wa.simulate(fio_run=f"{job} --spr_cs=1m", size="32MiB", op=0.15)
    with refused_with("spr_op needs mode=write"):
        wa.simulate(workload="fio:streams=stream(spr_op=0.15,loops=2)", size="32MiB", op=0.15)


def test_a_full_drive_is_warned_about() -> None:
    job = "fio --name=a --rw=randwrite --sprandom=1"
    warned, silent = (
        wa.simulate(fio_run=job, op=0.15, precondition=state, repeat=1, **DRIVE)
        for state in ("full", "none")
    )
    assert any("sprandom prepares an empty drive" in text for text in warned.warnings)
    assert not any("sprandom" in text for text in silent.warnings)


def test_jobs_after_sprandom_begin_in_its_state(tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    common = "[global]\nrw=randwrite\nbs=4k\nnorandommap=1\n"
    path.write_text(f"{common}[prepare]\nsprandom=1\n[measure]\nstonewall\n")
    both = wa.simulate(fio=path, op=0.15, precondition="none", repeat=1, warmup=0, **DRIVE)
    alone = wa.simulate(
        fio_run="fio --name=a --rw=randwrite --sprandom=1 --norandommap=1",
        **DRIVE, op=0.15, precondition="none", repeat=1, warmup=0,
    )  # fmt: skip
    measured = both.host_pages - alone.host_pages
    assert measured == both.device.logical_pages
    wa_after = (both.flash_pages - alone.flash_pages) / measured
    steady = wa.simulate(workload="uniform", op=0.15, **DRIVE)
    assert wa_after == pytest.approx(steady.wa, rel=0.05)


@pytest.mark.parametrize("op", [0.07, 0.15, 0.28])
def test_blocks_are_as_full_as_in_the_steady_state(op: float) -> None:
    def fullness(**how: Any) -> np.ndarray[Any, Any]:
        result = wa.simulate(op=op, warmup=0, replicas=1, **DRIVE, **how)
        return np.cumsum(result.valid_page_histogram / result.valid_page_histogram.sum())

    def distance(state: np.ndarray[Any, Any]) -> float:
        """Return by how much the valid share of a block differs on average."""
        return float(np.abs(state - steady).sum() / DRIVE["pages_per_block"])

    steady = fullness(workload="uniform", writes=5 * 32_768)
    job = f"fio --name=a --rw=randwrite --sprandom=1 --spr_op={op}"
    assert distance(fullness(fio_run=job, precondition="none", repeat=1)) < 0.015
    assert distance(fullness(workload="uniform", writes=1)) > 0.06
