"""Tables I to III of paper 5: our inputs beside printed values, and partitions by eq. 5."""

from __future__ import annotations

from statistics import fmean

from writeamp.devices.device import Device, device
from writeamp_papers.bench import Bench, Findings
from writeamp_papers.four_level.formulas import PARTITIONS_GB, TESTED_US, op_percent
from writeamp_papers.four_level.oltp import F1, F2
from writeamp_papers.items import Item, at_most, compared, typed_in

_GB = 2**30
_KB = 2**10

# Table I: capacity, user space and over-provisioning in GB, cache in KB, channels, chips per
# channel, dies per chip, planes per die, pages per program, and the times of a page and a block in
# µs.
_TABLE_1: dict[str, tuple[float, ...]] = {
    "ssd-v": (16, 14.0, 2.0, 32, 4, 1, 1, 2, 1, 50, 900, 2000),
    "ssd-i": (40, 37.2, 2.8, 32 * _KB, 5, 1, 2, 2, 2, 75, 1300, 3800),
    "ssd-m": (64, 59.6, 4.4, 128 * _KB, 8, 1, 2, 2, 2, 75, 1300, 3800),
    "ssd-s": (32, 28.1, 3.9, 32, 4, 2, 2, 2, 2, 25, 250, 2000),
}
# Sizes are printed to 0.1 GB, so rounding to whole blocks does not change a printed digit.
_TENTH = 0.05
_COLUMNS = (
    ("physical capacity (GB)", _TENTH, "P5-T1-1"),
    ("user space (GB)", _TENTH, "P5-T1-2"),
    ("overprovisioning (GB)", _TENTH, "P5-T1-3"),
    ("cache (KB)", 0.0, "P5-T1-4"),
    ("channels", 0.0, "P5-T1-8"),
    ("chips per channel", 0.0, "P5-T1-8"),
    ("dies per chip", 0.0, "P5-T1-9"),
    ("planes per die", 0.0, "P5-T1-9"),
    ("pages per program, M_p", 0.0, "P5-T1-6"),
    ("page read (µs)", 0.0, "P5-T1-11"),
    ("page write (µs)", 0.0, "P5-T1-12"),
    ("block erase (µs)", 0.0, "P5-T1-13"),
)

# A program time is drawn as the sum of four uniform numbers. Its distance from the mean therefore
# has this limit, in standard deviations.
_MOST_DEVIATIONS = 2 * 3**0.5


def run(_: Bench) -> Findings:
    """Compare profiles with Table I, generated requests with Table II, and eq. 5 with Table III."""
    items = []
    for name, printed in _TABLE_1.items():
        columns = _columns(device(name))
        items += [
            typed_in(
                compared(f"Table I: {name}, {column}", value, ours, tolerance, statement=statement)
            )
            for (column, tolerance, statement), value, ours in zip(
                _COLUMNS, printed, columns, strict=True
            )
        ]
        items += [typed_in(item) for item in _tested(name)]
    items += _table_2()
    items += [
        typed_in(
            compared(
                f"Table III by eq. 5: OP% of {user_gb} GB",
                printed,
                op_percent(user_gb),
                0.05,
                statement="P5-T3-2",
            )
        )
        for printed, user_gb in PARTITIONS_GB.items()
    ]
    return Findings(items)


# Table II, by trace: share of writes (%), written data (GiB), mean and largest sizes of writes and
# of reads (KiB); with the ids of the statements. The print has "16K" as F1's largest write in a
# column of KiB; it is taken as 16 KiB, as in the table's column of I/O sizes.
_TABLE_2 = (
    (F1, (77, 14.6, 3.8, 2.3, 16, 8.3), ("P5-T2-4", "P5-T2-4", "P5-T2-2", "P5-T2-3")),
    (F2, (18, 1.8, 3.0, 2.3, 256, 64), ("P5-T2-7", "P5-T2-7", "P5-T2-5", "P5-T2-6")),
)
# The generated traces are this factor shorter than the real ones; F2 has 437,000 requests.
_SHORTER = 8


def _table_2() -> list[Item]:
    """Return items on the statistics of the generated requests."""
    items = []
    for trace, printed, (writes, written, means, largest) in _TABLE_2:
        range_bytes = round(trace.locality.extent_gib * _GB)
        _, sizes, is_write = trace.requests(
            range_bytes, round(trace.written_gib * _GB / _SHORTER), seed=1
        )
        of_writes, of_reads = sizes[is_write], sizes[~is_write]
        rows = (
            ("share of writes (%)", 100 * is_write.mean(), 0.5, writes),
            ("written data (GiB)", of_writes.sum() * _SHORTER / _GB, _TENTH, written),
            ("mean write (KiB)", of_writes.mean() / _KB, _TENTH, means),
            ("mean read (KiB)", of_reads.mean() / _KB, _TENTH, means),
            ("largest sizes, write (KiB)", of_writes.max() / _KB, _TENTH, largest),
            ("largest sizes, read (KiB)", of_reads.max() / _KB, _TENTH, largest),
        )
        items += [
            typed_in(
                compared(
                    f"Table II: {trace.name}, {what}",
                    value,
                    float(ours),
                    tolerance,
                    note="of generated requests",
                    statement=statement,
                )
            )
            for value, (what, ours, tolerance, statement) in zip(printed, rows, strict=True)
        ]
    return items


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
    """Return items on whether all possible program times are within the paper's time window."""
    times = (device(name).times or {})["timing"]
    means, spreads = _values(times["program_us"]), _values(times["program_spread"])
    spreads = spreads if len(spreads) > 1 else spreads * len(means)
    widths = [_MOST_DEVIATIONS * mean * sd for mean, sd in zip(means, spreads, strict=True)]
    shortest = min(mean - width for mean, width in zip(means, widths, strict=True))
    longest = max(mean + width for mean, width in zip(means, widths, strict=True))
    low, high = TESTED_US[name]
    return [
        at_most(
            f"Table I: {name}, tested {low} µs ÷ shortest possible page write",
            1,
            low / shortest,
            note=f"{shortest:.0f} µs",
            statement="P5-T1-14",
        ),
        at_most(
            f"Table I: {name}, longest possible page write ÷ tested {high} µs",
            1,
            longest / high,
            note=f"{longest:.0f} µs",
            statement="P5-T1-14",
        ),
    ]


def _values(value: float | list[float]) -> list[float]:
    return [float(number) for number in value] if isinstance(value, list) else [float(value)]
