"""WA of random writes after fio's sprandom, on a small drive with or without a write cache."""

from __future__ import annotations

from math import isqrt
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from writeamp._engine import Load
from writeamp.devices.device import Device
from writeamp.drives.doctor.finding import WaEstimate
from writeamp.settings.experiment import Experiment
from writeamp.statistics.replicas import student_interval
from writeamp.studies.simulation import simulate_untimed

_REPLICAS = 4

State: TypeAlias = Literal["first", "steady"]
# Drive writes before and in the measurement.
_DRIVE_WRITES: dict[State, tuple[int, int]] = {"first": (0, 1), "steady": (5, 10)}
_Pages: TypeAlias = npt.NDArray[np.int64]


def wa_after_sprandom(
    drive: Device,
    op: float,
    regions: int,
    *,
    spr_cs: int,
    cache_share: float,
    state: State,
) -> WaEstimate:
    """Return the WA of random writes after sprandom on an empty drive, whose blocks are pages.

    Args:
        drive: drive with this over-provisioning.
        op: over-provisioning that sprandom assumes.
        regions: number of regions of sprandom.
        spr_cs: if above 0, sprandom overwrites a region only after the next one.
        cache_share: size of the write cache over that of the drive.
        state: whether WA is that of the first drive write or that of the steady state.
    """
    pages = drive.logical_pages
    # Regions with few blocks leave some of the drive unwritten, as their size is rounded down.
    simulated_regions = min(regions, isqrt(pages))
    spr_cache = ",spr_cache=1" if spr_cs else ""
    stream = f"stream(spr_op={op},spr_regions={simulated_regions}{spr_cache})"
    load = Load.spec(f"fio:streams={stream},runs=1", pages)
    prepared = load.requests(seed=1, pages=2**40)[1].astype(np.int64)
    # The size of the cache relative to a region decides which overwrites it absorbs.
    cache_pages = round(cache_share * regions / simulated_regions * pages)
    flushed = prepared[~absorbed(prepared, pages, cache_pages)]
    skipped, measured = _DRIVE_WRITES[state]
    values = []
    for seed in range(_REPLICAS):
        random = np.random.default_rng(seed).integers(0, pages, (skipped + measured) * pages)
        experiment = Experiment.of(
            "simulate",
            device=drive,
            seed=seed,
            trace=np.concatenate([flushed, random]),
            mapping="as-is",
            repeat=1,
            spread=False,
            precondition="none",
            warmup=flushed.size + skipped * pages,
        )
        values.append(simulate_untimed(experiment).wa)
    return WaEstimate(float(np.mean(values)), *student_interval(np.array(values)))


def absorbed(written: _Pages, pages: int, cache_pages: int) -> npt.NDArray[np.bool_]:
    """Return which writes change a page that is still in the write cache, and so reach no flash.

    The cache writes its pages to flash in the order in which they came (FIFO).

    Args:
        written: pages in the order of the writes, shape (writes,).
        pages: number of pages of the drive.
        cache_pages: number of pages of the cache.
    """
    is_absorbed = np.zeros(written.size, bool)
    number_of_page = [-cache_pages - 1] * pages
    count = 0
    for place, page in enumerate(written.tolist()):
        if count - number_of_page[page] <= cache_pages:
            is_absorbed[place] = True
        else:
            number_of_page[page] = count
            count += 1
    return is_absorbed
