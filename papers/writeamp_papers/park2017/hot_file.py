"""Hot and cold file on a drive: the cold file fills it, the hot file is overwritten.

Park et al. 2017, sections 4.4 and 4.5. The paper does not state the position of the files.
Here each file is one contiguous range of pages, the hot file first. Both are written once, in
order, before the passes over the hot file begin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from writeamp.devices.device import Device
from writeamp.settings.experiment import Experiment
from writeamp.studies.functions import simulate
from writeamp.studies.simulation import simulate_untimed

PASSES = 15

# Number of first passes that `Passes.settled` leaves out: collection begins in the first pass, and
# WA oscillates for a few more passes.
_UNSETTLED_PASSES = 5

# Lengths in drive writes, for steady state: until collection has settled; to the cold file, so that
# cold pages are overwritten about once; and measured after that.
_SETTLING_DRIVE_WRITES = 10.0
_SETTLING_COLD_WRITES = 1.0
_MEASURED_DRIVE_WRITES = 10


@dataclass(frozen=True)
class Passes:
    """Write amplification of each pass over the hot file, shape (PASSES,)."""

    wa_of_pass: npt.NDArray[np.float64]

    @property
    def all(self) -> float:
        """WA over all passes, including the first, which still has free blocks."""
        return float(self.wa_of_pass.mean())

    @property
    def settled(self) -> float:
        """WA without the first five passes."""
        return float(self.wa_of_pass[_UNSETTLED_PASSES:].mean())


def overwrite(
    drive: Device,
    utilization: float,
    written_fraction: float,
    pattern: str = "uniform",
    seed: int = 1,
) -> Passes:
    """Overwrite the hot file in passes, each of as many page writes as the file has pages.

    Args:
        drive: the drive; its logical space is the file system.
        utilization: share of the file system that the two files fill.
        written_fraction: size of the hot file, as a share of the file system, below `utilization`.
        pattern: workload spec of the writes within the hot file.
        seed: seed of all random draws.
    """
    hot_pages = round(written_fraction * drive.logical_pages)
    experiment = Experiment.of(
        "simulate",
        device=drive,
        workload=two_files(utilization, written_fraction, pattern),
        utilization=utilization,
        writes=PASSES * hot_pages,
        warmup=0,
        seed=seed,
        replicas=1,
    )
    series = simulate_untimed(experiment).series
    ends = np.concatenate(([0.0], series["host_pages"].to_numpy().astype(np.float64)))
    flash = np.concatenate(([0.0], np.cumsum(series["wa"].to_numpy() * np.diff(ends))))
    programmed = np.interp(np.arange(PASSES + 1) * hot_pages, ends, flash)
    return Passes(np.diff(programmed) / hot_pages)


def overwrite_for_long(
    drive: Device,
    utilization: float,
    written_fraction: float,
    *,
    pattern: str = "uniform",
    cold_share: float = 0.0,
    seed: int = 1,
) -> float:
    """Return steady WA with a share `cold_share` of the writes to the cold file.

    The arguments are those of `overwrite`; the cold file is written uniformly.
    """
    settling = _SETTLING_DRIVE_WRITES
    if cold_share > 0:
        settling += _SETTLING_COLD_WRITES / cold_share
    warmup = round(settling * drive.logical_pages)
    result = simulate(
        drive,
        two_files(utilization, written_fraction, pattern, cold_share),
        utilization=utilization,
        writes=warmup + _MEASURED_DRIVE_WRITES * drive.logical_pages,
        warmup=warmup,
        seed=seed,
        replicas=1,
    )
    return result.wa


def two_files(
    utilization: float, written_fraction: float, pattern: str, cold_share: float = 0.0
) -> str:
    """Return the spec of writes: `cold_share` of them to the cold file, the rest to the hot.

    Within the hot file, writes follow `pattern`; within the cold file, they are uniform.
    """
    name, _, parameters = pattern.partition(":")
    nested = f"{name}({parameters})" if parameters else name
    sizes = f"{written_fraction:.9g}/{utilization - written_fraction:.9g}"
    return f"mix:sizes={sizes},weights={1 - cold_share:.9g}/{cold_share:.9g},of={nested}/uniform"
