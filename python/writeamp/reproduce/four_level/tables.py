"""Tables I and III of paper 5: the profiles beside the print, and the partitions by eq. 5."""

from __future__ import annotations

from statistics import fmean

from writeamp.devices.device import Device, device
from writeamp.reproduce.bench import Bench, Findings
from writeamp.reproduce.four_level.formulas import op_percent
from writeamp.reproduce.items import Item, at_most, compared

# Table III: OP% by the user space that it belongs to.
PARTITIONS_GB: dict[float, float] = {7: 37.2, 8: 32.2, 10: 25.2, 12: 20.5, 15: 15.9}

_GB = 2**30
_KB = 2**10

# Table I: capacity, user space and over-provisioning in GB, cache in KB, channels, chips a channel,
# dies a chip, planes a die, pages a program, and the times of a page and a block in µs.
_TABLE_1: dict[str, tuple[float, ...]] = {
    "ssd-v": (16, 14.0, 2.0, 32, 4, 1, 1, 2, 1, 50, 900, 2000),
    "ssd-i": (40, 37.2, 2.8, 32 * _KB, 5, 1, 2, 2, 2, 75, 1300, 3800),
    "ssd-m": (64, 59.6, 4.4, 128 * _KB, 8, 1, 2, 2, 2, 75, 1300, 3800),
    "ssd-s": (32, 28.1, 3.9, 32, 4, 2, 2, 2, 2, 25, 250, 2000),
}
_COLUMNS = (
    "physical capacity (GB)",
    "user space (GB)",
    "overprovisioning (GB)",
    "cache (KB)",
    "channels",
    "chips per channel",
    "dies per chip",
    "planes per die",
    "pages per program, M_p",
    "page read (µs)",
    "page write (µs)",
    "block erase (µs)",
)
# Sizes are printed to a tenth of a GB, and a block more or less makes no printed digit.
_TOLERANCES = (0.05, 0.05, 0.05, *[0.0] * (len(_COLUMNS) - 3))

# "Tested" times of a page write (Table I), in µs.
_TESTED_US = {
    "ssd-v": (200, 2200),
    "ssd-i": (200, 2200),
    "ssd-m": (200, 2200),
    "ssd-s": (200, 500),
}
# A draw is at most so many standard deviations from its mean: it is a sum of four uniform draws.
_MOST_DEVIATIONS = 2 * 3**0.5


def run(_: Bench) -> Findings:
    """Compare the profiles with Table I, and eq. 5 with Table III."""
    items = []
    for name, printed in _TABLE_1.items():
        found = _columns(device(name))
        items += [
            compared(f"Table I: {name}, {column}", value, ours, tolerance)
            for column, value, ours, tolerance in zip(
                _COLUMNS, printed, found, _TOLERANCES, strict=True
            )
        ]
        items += _tested(name)
    items += [
        compared(f"Table III by eq. 5: OP% of {user_gb} GB", printed, op_percent(user_gb), 0.5)
        for printed, user_gb in PARTITIONS_GB.items()
    ]
    return Findings(items)


def _columns(drive: Device) -> tuple[float, ...]:
    times = drive.times or {}
    capacity, user = drive.physical_pages * drive.page_bytes / _GB, drive.capacity_bytes / _GB
    return (
        capacity,
        user,
        capacity - user,
        times["write_cache"]["bytes"] / _KB,
        drive.channels,
        drive.chips_per_channel,
        drive.dies_per_chip,
        drive.planes_per_die,
        drive.pages_per_program,
        times["timing"]["read_us"],
        fmean(_values(times["timing"]["program_us"])),
        times["timing"]["erase_us"],
    )


def _tested(name: str) -> list[Item]:
    """Say that every program that can be drawn lies within the tested times."""
    times = (device(name).times or {})["timing"]
    means, spreads = _values(times["program_us"]), _values(times["program_spread"])
    spreads = spreads if len(spreads) > 1 else spreads * len(means)
    widths = [_MOST_DEVIATIONS * mean * sd for mean, sd in zip(means, spreads, strict=True)]
    shortest = min(mean - width for mean, width in zip(means, widths, strict=True))
    longest = max(mean + width for mean, width in zip(means, widths, strict=True))
    low, high = _TESTED_US[name]
    return [
        at_most(
            f"Table I: {name}, tested {low} µs over the shortest page write",
            1,
            low / shortest,
            note=f"{shortest:.0f} µs",
        ),
        at_most(
            f"Table I: {name}, longest page write over the tested {high} µs",
            1,
            longest / high,
            note=f"{longest:.0f} µs",
        ),
    ]


def _values(value: float | list[float]) -> list[float]:
    return [float(one) for one in value] if isinstance(value, list) else [float(value)]
