"""True parameters of the volumes of a made fleet, drawn from stated distributions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.volumes.settings import FleetSettings

PAGE_BYTES = 4096
# Volumes are large enough for the longest request.
_FEWEST_PAGES = 64
# With more, products of two page numbers overflow.
_MOST_PAGES = 2**31
# A share with this mean m has the distribution Beta(_SPREAD m, _SPREAD (1 - m)).
_SPREAD = 3.0


def draw_parameters(settings: FleetSettings) -> pl.DataFrame:
    """Return a row for each volume, in the order of their names.

    `volume`: name. `pages`: size in pages of 4 KiB, log-normal. `share_of_requests`: mean share of
    the fleet's requests, that of its pages times a log-normal factor. `skew`: exponent s of the law
    by which pages are chosen, uniform. `sequential_share` and `read_share`: beta. `drift`: sizes of
    the volume that the hot pages move until the end, exponential. `request_pages`: mean length.
    """
    volumes = settings.volumes
    draws = np.random.default_rng([settings.seed, 0])
    sizes = settings.size / PAGE_BYTES * np.exp(settings.size_sigma * draws.normal(size=volumes))
    pages = np.clip(np.rint(sizes), _FEWEST_PAGES, _MOST_PAGES).astype(np.int64)
    traffic = pages * np.exp(settings.traffic_sigma * draws.normal(size=volumes))
    return pl.DataFrame(
        {
            "volume": [str(number) for number in range(volumes)],
            "pages": pages,
            "share_of_requests": traffic / traffic.sum(),
            "skew": draws.uniform(settings.skew_low, settings.skew_high, volumes),
            "sequential_share": _shares(draws, settings.sequential, volumes),
            "read_share": _shares(draws, settings.reads, volumes),
            "drift": draws.exponential(settings.drift, volumes),
            "request_pages": np.full(volumes, settings.request_pages),
        }
    )


def _shares(draws: np.random.Generator, mean: float, volumes: int) -> npt.NDArray[np.float64]:
    if mean == 0:
        return np.zeros(volumes)
    return draws.beta(_SPREAD * mean, _SPREAD * (1 - mean), volumes)
