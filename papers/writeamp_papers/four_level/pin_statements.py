"""Section III: statements on Ready/Busy pins, on the drives of Figures 7 and 8 and SSD-v."""

from __future__ import annotations

from writeamp.devices.device import device
from writeamp.drives.pins.device_facts import facts_of
from writeamp.drives.pins.four_level import OperationCount, four_level
from writeamp_papers.four_level.choices import CHOICES, PAIR, Choices, by_reading
from writeamp_papers.four_level.drives import GIB, Counts, Life, Scale
from writeamp_papers.four_level.loads import PAGE_BYTES, SECTOR_BYTES, Access
from writeamp_papers.four_level.micro import DRIVES, SHARES, STEADY, MicroMeasurement
from writeamp_papers.items import Item, at_most, checked, compared

_SMALLEST = Access(SECTOR_BYTES, is_random=True, write_share=1, is_aligned=True)

# Tolerance of "approximately equal" (section III.B): 1%, the bound of the absolute percentage
# error |PEN|.
_APPROXIMATELY = 0.01
# Printed bounds of |PEN| in percent, by the share of writes.
_PRINTED = {1.0: 1.0, 0.5: 10.0}
# Sampling of the pins may miss a few low times, so counts may differ by 0.1%.
_OF_COUNTS = 1e-3

_EMPTY = Scale(128, 64)


def items(measurement: MicroMeasurement) -> list[Item]:
    """Compare counts at the pins with the drives' counts and with section III's statements."""
    return [
        compared(
            "Section II.C: WA of SSD-I written once in order after TRIM",
            1,
            by_reading(lambda choices: _written_once("ssd-i", choices).wa),
            _OF_COUNTS,
            statement="P5-B-1",
        ),
        compared(
            "Section III.A: low times of all pins ÷ operations of the flash, SSD-I",
            1,
            _per_operation(measurement.under(CHOICES[PAIR]).counts("ssd-i", STEADY)),
            _OF_COUNTS,
            statement="P5-R-1",
        ),
        _pages_of_a_low_time("ssd-v", "SSD-v", 1, "P5-R-3"),
        _pages_of_a_low_time("ssd-i", "SSD-I", 2, "P5-R-4"),
        *_dies(measurement),
        _equation_2(),
        *(item for name in DRIVES for item in _any_drive(measurement, name)),
    ]


def _written_once(name: str, choices: Choices) -> Counts:
    """Write a drive once in order, with its whole mapping table in memory."""
    drive = _EMPTY.drive(name, choices.firmware, "map_cache.bytes=0")
    unit = drive.device.page_bytes
    in_order = Access(unit, is_random=False, write_share=1, is_aligned=True)
    load = in_order.load(drive.capacity_bytes, drive.capacity_bytes, seed=1)
    return Life(drive, load, is_filled=False).settle()


def _per_operation(counts: Counts) -> float:
    return counts.by_pins.low_times / counts.operations


def _pages_of_a_low_time(profile: str, name: str, printed: float, statement: str) -> Item:
    """Return the item on programmed pages per low time, on a drive that never erases."""
    return compared(
        f"Section III.A: pages of 4 KiB that {name} programs in one low time of the window",
        printed,
        by_reading(lambda choices: _pages_a_low_time(_written_once(profile, choices))),
        printed * _OF_COUNTS,
        statement=f"P5-R-2 {statement} P5-R-8",
    )


def _pages_a_low_time(counts: Counts) -> float:
    programs = counts.by_pins.programs_by_pin
    of_all_dies = sum(programs) * counts.by_pins.facts.dies / len(programs)
    return counts.true_wa * counts.written_bytes / PAGE_BYTES / of_all_dies


def _dies(measurement: MicroMeasurement) -> list[Item]:
    """Return items on differences in programs between the dies of a used drive."""
    return [
        compared(
            "Section III.C: programs of SSD-I's busiest die ÷ mean of its dies, random 4K",
            1,
            measurement.by_reading(
                lambda view: view.counts("ssd-i", STEADY).by_pins.spread_of_dies
            ),
            _APPROXIMATELY,
            statement="P5-R-5",
        ),
        compared(
            "Section III.B: share of SSD-I's dies that program under requests of 512 bytes",
            1,
            measurement.by_reading(
                lambda view: view.counts("ssd-i", _SMALLEST).by_pins.active_share
            ),
            0,
            statement="P5-R-6",
        ),
    ]


def _equation_2() -> Item:
    """Return the item on eq. 2 with a count of one pin; SSD-I's chips have two pins."""
    programs, host_bytes = 1_000_000, GIB
    low_times = {name: OperationCount(0.0, 0.0, 1.0) for name in ("read", "erase")}
    low_times["program"] = OperationCount(float(programs), 0.0, 1.0)
    facts = facts_of(device("ssd-i"))
    item = compared(
        "Eq. 2: WA of SSD-I by a million programs on one pin, and 1 GiB from the host",
        # Channels, chips per channel, dies per chip, programs, pages per program, bytes per page
        # (Table I).
        round(5 * 1 * 2 * programs * 2 * 4096 / host_bytes, 3),
        four_level({"R/B#1": low_times}, ["R/B#1"], facts, host_bytes).wa,
        0.001,
        note="5 channels, 1 chip per channel, 2 dies per chip, 2 pages of 4 KiB per program",
        statement="P5-R-7",
    )
    return checked(item)


def _any_drive(measurement: MicroMeasurement, name: str) -> list[Item]:
    """Return items on a drive's largest error |PEN|, counted at one pin and at all pins."""
    return [
        *(_by_one_pin(measurement, name, share) for share in SHARES),
        at_most(
            f"Figs. 7 and 8, {name.upper()}: largest absolute percentage error |PEN|, counted "
            "at all pins",
            _PRINTED[1.0],
            measurement.by_reading(
                lambda view: max(
                    counts.error for share in SHARES for _, counts in view.all_of(name, share)
                )
            ),
            statement="P5-A-3",
        ),
    ]


def _by_one_pin(measurement: MicroMeasurement, name: str, share: float) -> Item:
    figure = "Fig. 8" if share == 1 else "Fig. 7"
    return at_most(
        f"{figure}, {name.upper()}: largest absolute percentage error |PEN|, counted at one pin",
        _PRINTED[share],
        measurement.by_reading(
            lambda view: max(counts.error_by_one for _, counts in view.all_of(name, share))
        ),
        note='the method is "generally applicable to any SSDs"; the bounds are those of SSD-v',
        statement="P5-A-3",
    )
