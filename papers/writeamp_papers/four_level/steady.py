"""Figures 7 and 8: statements on micro-benchmarks on drives in random steady state."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from writeamp.plots import FigureSpec
from writeamp_papers.bench import Bench, Findings
from writeamp_papers.four_level import figures, pin_statements, side_by_side
from writeamp_papers.four_level.choices import CHOICES, PAIR
from writeamp_papers.four_level.drives import STEADY_WRITES, Counts
from writeamp_papers.four_level.loads import SECTOR_BYTES, SIZES, Access, grid
from writeamp_papers.four_level.micro import (
    DISTURBING_READS,
    DRIVES,
    HALF_READS,
    SHARES,
    STEADY,
    MicroMeasurement,
    ReadingCounts,
    measured,
)
from writeamp_papers.items import TIE, Item, compared, falls, ordered, rises, spread, within

_LARGE = SIZES[1:]
_DIGIT = 0.5

# Section V.B.1: ranges of random WA over the access sizes with 50% of writes, "from 85 to 90" and
# "from 110 to 150"; and id of the statement.
_RANDOM_50 = {"ssd-m": (85, 90, "P5-F7-4"), "ssd-i": (110, 150, "P5-F7-5")}
# Relative tolerance of the ratio of a range's ends, as the paper does not state whether a range
# covers all access sizes.
_SENSITIVITY_TOLERANCE = 0.1


def run(bench: Bench) -> Findings:
    """Run the micro-benchmarks, and compare them with the text of sections III and V.B.1."""
    measurement = measured(bench)
    items = [*pin_statements.items(measurement), *_memory(measurement)]
    for name in DRIVES:
        for share in SHARES:
            items += _of_figure(measurement, name, share)
        items += _over_sizes(measurement, name)
    for name in _RANDOM_50:
        items += _half_reads(measurement, name)
    items += side_by_side.items(measurement)
    return Findings(items, _figures(measurement) if bench.figures else {})


def _of_figure(measurement: MicroMeasurement, name: str, share: float) -> list[Item]:
    """Return items on a drive's WA at one share of writes, and its order of workloads by WA."""
    what = f"{'Fig. 8' if share == 1 else 'Fig. 7'}, {name.upper()}"
    items = [
        within(
            f"{what}: sequential WA, mean of 4K to 32K",
            1 - _DIGIT,
            5 + _DIGIT,
            measurement.by_reading(lambda view: view.mean(name, share, _LARGE)),
            statement="P5-F8-1",
        ),
        ordered(
            f"{what}: 5 ÷ sequential WA of 512 bytes, mean of both alignments",
            measurement.by_reading(lambda view: 5 / view.mean(name, share, (SECTOR_BYTES,))),
            statement="P5-F8-2",
        ),
        ordered(
            f"{what}: sequential WA ÷ random WA, largest of all sizes",
            measurement.by_reading(lambda view: max(_sequential_over_random(view, name, share))),
            statement="P5-F8-5 P5-C-1" if share == 1 else "P5-F7-3",
        ),
        ordered(
            f"{what}: largest WA of all other workloads ÷ WA of random 512 bytes",
            measurement.by_reading(lambda view: _others_over_worst(view, name, share)),
            statement="P5-F8-4",
        ),
    ]
    if share == 1:
        items.append(
            within(
                f"{what}: random WA, mean of 4K to 32K",
                10 - _DIGIT,
                50 + _DIGIT,
                measurement.by_reading(lambda view: view.mean(name, share, _LARGE, is_random=True)),
                statement="P5-F8-3",
            )
        )
    return items


def _sequential_over_random(view: ReadingCounts, name: str, share: float) -> list[float]:
    return [
        view.wa(name, access) / view.wa(name, replace(access, is_random=True))
        for access in grid((False,), (share,))
    ]


def _others_over_worst(view: ReadingCounts, name: str, share: float) -> float:
    worst: list[float] = []
    others: list[float] = []
    for access, counts in view.all_of(name, share):
        is_worst = access.is_random and access.size == SECTOR_BYTES
        (worst if is_worst else others).append(counts.wa)
    return max(others) / max(worst)


def _over_sizes(measurement: MicroMeasurement, name: str) -> list[Item]:
    """Return items on how WA and bandwidth of a drive change with the access size."""
    return [
        ordered(
            f"Fig. 8, {name.upper()}: random WA of a size ÷ WA of the next smaller, largest",
            measurement.by_reading(lambda view: falls(view.curve(name, 1.0))),
            below=TIE,
            statement="P5-F8-6",
        ),
        ordered(
            f"Fig. 8, {name.upper()}: random MB/s of a size ÷ MB/s of the next larger, largest",
            measurement.by_reading(lambda view: rises(_rates(view, name))),
            below=TIE,
            statement="P5-F8-6",
        ),
        ordered(
            f"Figs. 7 and 8, {name.upper()}: sequential WA of a size ÷ WA of the next "
            "smaller, largest",
            measurement.by_reading(
                lambda view: max(
                    falls(view.curve(name, share_of_writes, is_random=False))
                    for share_of_writes in SHARES
                )
            ),
            below=TIE,
            statement="P5-F7-9",
        ),
    ]


def _rates(view: ReadingCounts, name: str) -> list[float]:
    over_sizes = (Access(size, is_random=True, write_share=1, is_aligned=True) for size in SIZES)
    return [view.counts(name, access).write_mb_s for access in over_sizes]


def _half_reads(measurement: MicroMeasurement, name: str) -> list[Item]:
    """Return items on the printed range of a drive's random WA over the access sizes."""
    low, high, statement = _RANDOM_50[name]
    return [
        within(
            f"Fig. 7, {name.upper()}: random WA of the size that is farthest from the range",
            low - _DIGIT,
            high + _DIGIT,
            measurement.by_reading(lambda view: _farthest(view.curve(name, 0.5), (low + high) / 2)),
            statement=statement,
        ),
        compared(
            f"Fig. 7, {name.upper()}: largest random WA of all sizes ÷ the least",
            round(high / low, 3),
            measurement.by_reading(lambda view: spread(view.curve(name, 0.5))),
            _SENSITIVITY_TOLERANCE * high / low,
            note="the paper gives a range of random WA; the ratio of its ends is compared",
            statement=f"{statement} P5-F7-6",
        ),
    ]


def _farthest(values: Iterable[float], middle: float) -> float:
    """Return the value that differs most from `middle` by ratio, above or below it."""
    return max(values, key=lambda value: abs(math.log(value / middle)))


def _memory(measurement: MicroMeasurement) -> list[Item]:
    """Return items on section II.B: WA with other memory, after TRIM, and by cause."""
    return [
        ordered(
            "Section II.B: WA of SSD-M ÷ its WA with SSD-S's memory of 32 KB, random 4K",
            measurement.by_reading(
                lambda view: (
                    view.wa("ssd-m", STEADY) / view.counts("ssd-m", STEADY, memory_of="ssd-s").wa
                )
            ),
            statement="P5-B-2",
        ),
        ordered(
            "Section II.B: WA of SSD-I after TRIM ÷ its WA in steady state, random 4K",
            measurement.by_reading(
                lambda view: (
                    view.counts("ssd-i", STEADY, is_empty=True).wa / view.wa("ssd-i", STEADY)
                )
            ),
            statement="P5-B-4",
        ),
        ordered(
            "Section II.B: programs other than copies of collection ÷ all, SSD-I, random 4K",
            measurement.by_reading(lambda view: 1 - _share_of(view.counts("ssd-i", STEADY), "gc")),
            statement="P5-B-5",
        ),
        ordered(
            "Section II.B, read disturb: WA of SSD-I without refresh of disturbed blocks ÷ its WA "
            "with it, random 4K, 50% writes",
            measurement.by_reading(lambda view: view.wa("ssd-i", HALF_READS) / _disturbed(view).wa),
            below=TIE,
            note=f"a block is refreshed after {DISTURBING_READS} reads; the number is ours",
            statement="P5-B-6 P5-C-2",
        ),
    ]


def _disturbed(view: ReadingCounts) -> Counts:
    return view.counts("ssd-i", HALF_READS, disturbing_reads=DISTURBING_READS)


def _share_of(counts: Counts, cause: str) -> float:
    return counts.pages[cause] / sum(counts.pages.values())


def _figures(measurement: MicroMeasurement) -> dict[str, FigureSpec]:
    view = measurement.under(CHOICES[PAIR])
    wa = {
        (name, access): counts.wa
        for name in DRIVES
        for share in SHARES
        for access, counts in view.all_of(name, share)
    }
    subtitle = (
        f"paper 5, Figs. 7 and 8 · drives at 1/{measurement.scale.factor} of their size, "
        "after "
        f"{STEADY_WRITES:g} drive writes of random data · reading {PAIR}"
    )
    return {"fig7-8-micro-benchmarks": figures.micro_benchmarks(wa, DRIVES, subtitle)}
