"""Writes that reach a drive through a write buffer with LRU eviction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from writeamp._engine import DEFAULT_BATCH_PAGES, Simulation
from writeamp._engine import Drive as EngineDrive
from writeamp._engine import Load as EngineLoad
from writeamp.devices.device import device
from writeamp.runs.series import flash_pages

_SEED = 1


@dataclass(frozen=True)
class Size:
    """Size of a drive: erase blocks and their pages."""

    blocks: int
    pages_per_block: int


def buffered_wa(
    size: Size, fill: float, workload: str, *, buffer_share: float, drive_writes: float
) -> float:
    """Return the WA of greedy collection behind a write buffer.

    Args:
        size, fill: size of the drive, and the share of it that the host sees.
        workload: spec of the host's writes.
        buffer_share: pages of the buffer, divided by the logical pages.
        drive_writes: writes of the host; the second half is measured.

    Returns:
        Flash pages of the second half, divided by the host's writes. Writes that the buffer
        absorbs count as the host's.
    """
    drive = device(
        blocks=size.blocks, pages_per_block=size.pages_per_block, fill=fill, layout="flat"
    )
    count = round(drive_writes * drive.logical_pages)
    load = EngineLoad.spec(workload, drive.logical_pages)
    _, pages, *_ = load.requests(seed=_SEED, pages=count)
    flushed = evicted(pages, buffer_share * drive.logical_pages)
    simulation = Simulation(
        EngineDrive(
            geometry=drive.geometry,
            logical_pages=drive.logical_pages,
            layout=drive.layout,
            manager="single",
        ),
        EngineLoad.trace(first_pages=pages[flushed], passes=1),
        seed=_SEED,
        batch_pages=DEFAULT_BATCH_PAGES,
    )
    simulation.fill(0, drive.logical_pages)
    simulation.run(int(flushed[: count // 2].sum()))
    settled_pages = flash_pages(simulation.counters())
    simulation.run(int(flushed[count // 2 :].sum()))
    return (flash_pages(simulation.counters()) - settled_pages) / (count - count // 2)


def evicted(pages: npt.NDArray[np.uint32], capacity_pages: float) -> npt.NDArray[np.bool_]:
    """Return for each write whether its data reach the flash, before the page is written again.

    An LRU buffer of many pages evicts a page when it was not written for a certain number of
    writes, which hardly varies (Che, Tung and Wang, IEEE JSAC 20(7), 2002).
    """
    count = len(pages)
    # One sort of the pages with their times is faster than a stable argsort.
    writes = np.sort(pages.astype(np.uint64) << 32 | np.arange(count, dtype=np.uint64))
    order = writes.astype(np.uint32)
    is_same = np.diff(writes >> 32) == 0
    gaps = np.full(count, count)
    gaps[order[:-1][is_same]] = np.diff(order)[is_same]
    return gaps > _lifetime(gaps, capacity_pages)


def _lifetime(gaps: npt.NDArray[np.int64], capacity_pages: float) -> int:
    """Return the number of writes after which as many pages are buffered as fit, on average."""
    longer = len(gaps) - np.cumsum(np.bincount(gaps))
    # Buffered pages with a lifetime of n writes: the mean of the gaps, cut off at n.
    return int(np.searchsorted(np.cumsum(longer), capacity_pages * len(gaps)))
