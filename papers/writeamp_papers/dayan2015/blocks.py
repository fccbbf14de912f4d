"""Dayan et al. 2015, sections 4.1, 5.5.1 and 5.6: valid pages of blocks, and filters."""

from __future__ import annotations

from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from writeamp.models import block_lifetime, valid_pages
from writeamp_papers.bench import Bench, Findings
from writeamp_papers.dayan2015 import drives
from writeamp_papers.dayan2015.drives import FILL, FULL, SHORT, Size, groups
from writeamp_papers.items import Item, compared

_Counts: TypeAlias = npt.NDArray[np.int64]
_Floats: TypeAlias = npt.NDArray[np.float64]

# Drive writes (of LBA pages) until a drive is steady; samples per drive write after that; and drive
# writes with samples in section 4.1.
_SETTLING = 20
_SAMPLES = 20
_DRIVE_WRITES = 4

# Relative tolerances, chosen after a first run: within 0.5% for valid pages, 3% for groups.
_VALID_PAGES = 0.01
_ALIKE = 0.05

# Section 4.1: ages of blocks, in drive writes; none is old enough to be collected.
_AGES = (0.25, 0.5)

# Section 5.5.1: blocks that never mix two groups, collected greedily across the groups.
ACROSS = "nvme-fdp:handles=2,isolation=persistent"
# Sizes and update frequencies of the two groups, the hotter group last.
_TWO_GROUPS = {
    "groups of one size with 10% and 90% of the writes": ((50, 50), (10, 90)),
    "80% of the pages with 20% of the writes, and the reverse": ((80, 20), (20, 80)),
}

# Section 5.6: Bloom filters of one group, whose size is constant.
_FILTERS = "wolf:detector=bloom,groups=1,max_groups=1,false_positives=0.3"


def run(bench: Bench) -> Findings:
    """Compute the items of the three sections."""
    size = FULL if bench.full else SHORT
    bench.step("valid pages of blocks (eqs. 1 and 2, section 5.5.1)")
    victims = [("fifo",), ("greedy",)]
    by_age = bench.map(partial(valid_pages_by_age, size), victims)
    divided = bench.map(partial(divided_space, size, ACROSS), list(_TWO_GROUPS.values()))
    memory = bench.map(partial(_memory_bytes, size), [(_FILTERS,), ("wolf:detector=none",)])
    items = [*_lifetime(size, *by_age), _filters(size, *memory)]
    for load, (shares, spare) in zip(_TWO_GROUPS, divided, strict=True):
        items += _equal(load, shares, spare)
    return Findings(items)


def valid_pages_by_age(size: Size, victims: str) -> tuple[_Floats, _Floats]:
    """Simulate uniform writes; return ages of blocks in drive writes, and their valid pages.

    Both have shape (n,). Each value is the mean over blocks of an age, at many times.
    """
    drive = size.device(layout="flat")
    simulation = drives.filled_drive("single", victims, "uniform", drive)
    simulation.run(_SETTLING * drive.logical_pages)
    earlier_map = simulation.map()
    last_written = np.full(drive.geometry.blocks, -_SAMPLES)
    seen, pages = np.zeros(_SAMPLES), np.zeros(_SAMPLES)
    for sample in range(_DRIVE_WRITES * _SAMPLES):
        simulation.run(drive.logical_pages // _SAMPLES)
        page_map = simulation.map()
        last_written[_gaining(earlier_map, page_map, drive.geometry.pages_per_block)] = sample
        earlier_map = page_map
        age = sample - last_written
        valid = _valid_pages(page_map, drive.geometry.blocks, drive.geometry.pages_per_block)
        is_recent = age < _SAMPLES
        seen += np.bincount(age[is_recent], minlength=_SAMPLES)
        pages += np.bincount(age[is_recent], valid[is_recent], _SAMPLES)
    return (np.flatnonzero(seen) + 0.5) / _SAMPLES, pages[seen > 0] / seen[seen > 0]


def divided_space(
    size: Size, manager: str, sizes: tuple[int, int], frequencies: tuple[int, int]
) -> tuple[_Floats, _Floats]:
    """Simulate two groups; return δ and the spare pages per page (OP_x/s_x) of each, shape (2,).

    δ is the valid share of the closed block with the fewest valid pages, the group's next victim.
    """
    drive = size.device(layout="flat")
    blocks, block_pages = drive.geometry.blocks, drive.geometry.pages_per_block
    simulation = drives.filled_drive(manager, "greedy", groups(frequencies, sizes), drive)
    simulation.run(_SETTLING * drive.logical_pages)
    first_hot = round(sizes[0] / sum(sizes) * drive.logical_pages)
    earlier_map = simulation.map()
    shares, spare = [], []
    for _ in range(_SAMPLES):
        simulation.run(drive.logical_pages // _SAMPLES)
        page_map = simulation.map()
        is_open = np.zeros(blocks, dtype=bool)
        is_open[_gaining(earlier_map, page_map, block_pages)] = True
        valid = [
            _valid_pages(pages, blocks, block_pages) for pages in np.split(page_map, [first_hot])
        ]
        shares.append([pages[(pages > 0) & ~is_open].min() / block_pages for pages in valid])
        spare.append([(pages > 0).sum() * block_pages / pages.sum() - 1 for pages in valid])
        earlier_map = page_map
    return np.mean(shares, axis=0), np.mean(spare, axis=0)


def _gaining(
    earlier_map: npt.NDArray[np.uint32], page_map: npt.NDArray[np.uint32], pages: int
) -> _Counts:
    """Return the blocks that pages were written to between two maps, those still open included."""
    return np.unique(page_map[page_map != earlier_map] // pages).astype(np.int64)


def _valid_pages(pages: npt.NDArray[np.uint32], blocks: int, pages_per_block: int) -> _Counts:
    return np.bincount(pages // pages_per_block, minlength=blocks)


def _lifetime(
    size: Size, fifo: tuple[_Floats, _Floats], greedy: tuple[_Floats, _Floats]
) -> list[Item]:
    drive = size.device(layout="flat")
    pages, block = drive.logical_pages, drive.geometry.pages_per_block
    items = []
    for name, (ages, valid) in (("LRU", fifo), ("greedy", greedy)):
        for age in _AGES:
            published = float(valid_pages(round(100 * age), 100, block))
            simulated = float(np.interp(age, ages, valid))
            items.append(
                compared(
                    f"eq. 2, lifetime of a block: valid pages of {block} after {age:g}·LBA writes, "
                    f"{name}",
                    published,
                    simulated,
                    _VALID_PAGES * published,
                )
            )
    half = float(block_lifetime(block / 2, pages, block)) / pages
    ages, valid = fifo
    simulated = float(np.interp(-block / 2, -valid, ages))
    return [
        *items,
        compared(
            f"eq. 1, lifetime of a block: writes ÷ LBA until {block // 2} of {block} pages are "
            "valid, LRU",
            half,
            simulated,
            _VALID_PAGES * half,
        ),
    ]


def _equal(load: str, shares: _Floats, spare: _Floats) -> list[Item]:
    greedy = f"section 5.5.1, greedy across two groups ({load})"
    return [
        compared(
            f"{greedy}: δ of the hotter group ÷ δ of the colder",
            1,
            shares[1] / shares[0],
            _ALIKE,
            note=f"δ is {shares[1]:.3f} and {shares[0]:.3f}",
        ),
        compared(
            f"{greedy}, eq. 6: spare pages per page of the hotter group ÷ of the colder",
            1,
            spare[1] / spare[0],
            _ALIKE,
            note=f"{spare[1]:.3f} and {spare[0]:.3f}; V is {1 / FILL - 1:.3f}",
        ),
    ]


def _memory_bytes(size: Size, manager: str) -> int:
    """Return the memory of a manager after three periods of a filter of all pages."""
    drive = size.device(layout="flat")
    simulation = drives.filled_drive(manager, None, "uniform", drive)
    simulation.run(3 * drive.logical_pages)
    return simulation.scheme_bytes()


def _filters(size: Size, with_filters: int, without_filters: int) -> Item:
    filters = with_filters - without_filters
    return compared(
        "section 5.6: both Bloom filters of a group, 5 bits a page",
        5,
        8 * filters / size.device().logical_pages,
        0.5,
        note=f"{-2 * np.log(0.3) / np.log(2) ** 2:.3f} bits if the number of hashes could be any",
    )
