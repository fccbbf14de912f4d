"""Values that no block trace has, as signs that a file has another format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.traces.assemble import DeviceCodes
from writeamp.traces.clocks import DATES_S, MOST_BACKWARD_STEPS, backward_steps, clock_of
from writeamp.traces.trace import SECTOR_BYTES

# Number of first requests that are checked.
CHECKED_ROWS = 1000

LONGEST_BYTES = 64 * 2**20
FARTHEST_BYTES = 256 * 2**40
# Largest plausible number of devices per request. A file may hold several volumes, but most volumes
# have more than one request.
_MOST_DEVICES_PER_REQUEST = 0.9
_FEWEST_REQUESTS = 32
# Limits for devices that are probably times: their numbers rise, and each has at most two requests.
_RISING_DEVICES_PER_REQUEST = 0.5
_FEWEST_RISING, _FEWEST_BY_CHANCE = 3, 16
_FEWEST_STEPS = 3
# A sign counts if most requests have it; a single damaged row does not prove another format.
_MOST, _FEWEST_VALUES = 0.5, 2
# If all offsets are multiples of 256 KiB but requests are small, offsets in bytes were read as
# sectors.
_COARSE_BYTES = SECTOR_BYTES * SECTOR_BYTES
_FEWEST_OFFSETS = 8
# Ranges of dates from 2001 to 2040 in the units of clocks: s, ms, us, 100 ns and ns.
_DATES = [
    range(DATES_S.start * per_s, DATES_S.stop * per_s) for per_s in (1, 10**3, 10**6, 10**7, 10**9)
]
_NS_PER_US, _US_PER_S = 1000, 10**6
# Requests per second above which times that could be dates in a coarser unit are doubtful.
_RATE_OF_OTHER_UNIT = 10**5
_Numbers = npt.NDArray[np.uint64]


def absurdities(requests: pl.DataFrame, devices: Sequence[str]) -> list[str]:
    """Return the implausible properties of a trace's first requests, as clauses with values.

    Args:
        requests: frame of the columns of `SCHEMA`.
        devices: device names; the value of `device` is the position of the name.
    """
    first = requests.head(CHECKED_ROWS)
    extents = first.filter(pl.col("op").is_in(["read", "write"]))
    offsets, lengths = extents["offset"].to_numpy(), extents["length"].to_numpy()
    return [
        *_of_devices(first, devices),
        *_of_times(first),
        *_of_lengths(lengths),
        *_of_offsets(offsets, lengths),
    ]


def absurdities_of_rows(requests: pl.DataFrame, devices: DeviceCodes) -> list[str]:
    """Return the implausible properties of requests whose devices are numbered in file order."""
    names, codes = devices.renumber(requests["device"])
    return absurdities(requests.with_columns(device=codes), names)


def _of_devices(first: pl.DataFrame, devices: Sequence[str]) -> Iterator[str]:
    codes, times = first["device"].to_numpy(), first["timestamp_ns"].to_numpy()
    # A few volumes may rise by chance, but values that are not times seldom rise.
    is_constant = len(times) >= _FEWEST_REQUESTS // 4 and times[0] == times[-1]
    has_clock = len(times) < _FEWEST_BY_CHANCE and _rises(times) and not is_constant
    count, requests = len(np.unique(codes)), len(codes)
    rises = _rises(codes)
    numbers = [int(devices[code]) for code in np.unique(codes) if devices[code].isdecimal()]
    if rises and numbers and any(all(number in dates for number in numbers) for dates in _DATES):
        yield f"the numbers of the {count} device(s) would be dates, such as {numbers[0]}"
    elif (
        rises
        and not has_clock
        and count >= max(_FEWEST_RISING, _RISING_DEVICES_PER_REQUEST * requests)
    ):
        yield (
            f"there would be {count} devices for {requests} requests, and their numbers rise like "
            "times"
        )
    elif requests >= _FEWEST_REQUESTS and count >= _MOST_DEVICES_PER_REQUEST * requests:
        yield f"there would be {count} devices for {requests} requests"


def _rises(values: npt.NDArray[np.integer]) -> bool:
    return bool((values[1:] >= values[:-1]).all())


def _of_times(requests: pl.DataFrame) -> Iterator[str]:
    steps = requests.height - 1
    backward = backward_steps(requests)
    if steps >= _FEWEST_STEPS and backward >= MOST_BACKWARD_STEPS * steps:
        yield f"{backward} of {steps} times would run backwards"
    elif (rate := clock_of(requests).absurd_rate) is not None and not _counts_from_zero(requests):
        yield rate
    elif (date := _date_in_other_unit(requests["timestamp_ns"].to_numpy())) is not None:
        yield f"times in microseconds would be numbers such as {date}, a date in s or ms since 1970"


def _counts_from_zero(requests: pl.DataFrame) -> bool:
    """Return whether times begin near 0, as row numbers in traces from scripts do."""
    times_ns = requests["timestamp_ns"]
    first_ns, last_ns = int(times_ns.min()), int(times_ns.max())  # type: ignore[arg-type]
    return 0 <= first_ns <= last_ns - first_ns


def _date_in_other_unit(times_ns: npt.NDArray[np.int64]) -> int | None:
    """Return the first time in us if that number is a date in s or ms, and the rate is too high."""
    first_us, last_us = int(times_ns[0]) // _NS_PER_US, int(times_ns[-1]) // _NS_PER_US
    is_fast = len(times_ns) * _US_PER_S > _RATE_OF_OTHER_UNIT * (last_us - first_us)
    are_dates = any(first_us in dates and last_us in dates for dates in _DATES[:2])
    return first_us if len(times_ns) > _FEWEST_STEPS and is_fast and are_dates else None


def _of_lengths(lengths: npt.NDArray[np.uint32]) -> Iterator[str]:
    if len(lengths) >= _FEWEST_STEPS and not lengths.any():
        yield "all sizes would be 0"
    sizes = lengths[lengths > 0]
    yield from _share(sizes, sizes % SECTOR_BYTES != 0, "sizes", "are not multiples of 512 bytes")
    yield from _share(sizes, sizes > LONGEST_BYTES, "sizes", "are above 64 MiB")


def _of_offsets(offsets: _Numbers, lengths: npt.NDArray[np.uint32]) -> Iterator[str]:
    is_odd = offsets % SECTOR_BYTES != 0
    yield from _share(offsets, is_odd, "offsets", "are not multiples of 512 bytes")
    yield from _share(offsets, offsets > FARTHEST_BYTES, "offsets", "are beyond 256 TiB")
    places, sizes = len(np.unique(offsets)), len(np.unique(lengths))
    if sizes >= _FEWEST_OFFSETS and places * _FEWEST_OFFSETS <= sizes:
        yield f"there would be {places} offset(s) with {sizes} sizes"
    is_coarse = bool((offsets % _COARSE_BYTES == 0).all())
    if places >= _FEWEST_OFFSETS and is_coarse and lengths.max() < _COARSE_BYTES // 4:
        yield (
            f"all offsets would be multiples of 256 KiB, with sizes up to {lengths.max():,} bytes"
        )


def _share(
    values: npt.NDArray[np.unsignedinteger], is_odd: npt.NDArray[np.bool_], noun: str, what: str
) -> Iterator[str]:
    """Yield a clause if most of the values are implausible."""
    count = int(is_odd.sum())
    if len(values) >= _FEWEST_VALUES and count > _MOST * len(values):
        yield f"{count} of {len(values)} {noun} {what}, such as {int(values[np.argmax(is_odd)]):,}"
