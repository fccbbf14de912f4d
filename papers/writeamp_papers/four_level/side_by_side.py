"""Figures 7 and 8 compared: drives, shares of reads and alignments side by side."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import partial
from itertools import combinations
from statistics import fmean

from writeamp_papers.four_level.loads import SECTOR_BYTES, SIZES, Access, grid
from writeamp_papers.four_level.micro import DRIVES, SHARES, STEADY, MicroMeasurement, ReadingCounts
from writeamp_papers.items import TIE, Item, at_most, ordered, rises, spread

_LARGE = SIZES[1:]
_SMALLEST = Access(SECTOR_BYTES, is_random=True, write_share=1, is_aligned=True)

# The paper's "dramatic" is taken as a factor of at least 2, and "similar" as within 25%. These
# rules were set with the list of the paper's statements, before any result.
_DRAMATIC = 2
_SIMILAR = 0.25


def items(measurement: MicroMeasurement) -> list[Item]:
    """Return items on the comparisons of section V.B.1."""
    of_all = []
    for name in DRIVES:
        of_all += _reads(measurement, name) + _alignment(measurement, name)
    for share in SHARES:
        of_all += [_worst_is_ssd_s(measurement, other, share) for other in ("ssd-i", "ssd-m")]
    return [*of_all, *_of_drives(measurement)]


def _reads(measurement: MicroMeasurement, name: str) -> list[Item]:
    """Return items on how much reads among the writes change a drive's WA."""
    return [
        ordered(
            f"Figs. 7 and 8, {name.upper()}: WA of 100% writes ÷ WA of 50%, largest of all",
            measurement.by_reading(
                lambda view: max(_without_reads(view, name, grid((True, False), (1.0,))))
            ),
            below=TIE,
            statement="P5-F7-1 P5-C-2",
        ),
        ordered(
            f"Figs. 7 and 8, {name.upper()}: WA of 100% writes ÷ WA of 50%, random 512 bytes",
            measurement.by_reading(lambda view: max(_without_reads(view, name, [_SMALLEST]))),
            below=TIE,
            statement="P5-F7-12",
        ),
    ]


def _without_reads(view: ReadingCounts, name: str, accesses: Iterable[Access]) -> list[float]:
    """Return WA with 100% writes divided by WA with 50% writes, for each access."""
    return [
        view.wa(name, access) / view.wa(name, replace(access, write_share=0.5))
        for access in accesses
    ]


def _alignment(measurement: MicroMeasurement, name: str) -> list[Item]:
    """Return items on the effect of alignment on WA, which is dramatic only below 4 KiB."""
    return [
        at_most(
            f"Figs. 7 and 8, {name.upper()}: WA by alignment, largest ratio from 4K on",
            _DRAMATIC,
            measurement.by_reading(lambda view: _by_alignment(view, name, _LARGE)),
            statement="P5-F7-10",
        ),
        ordered(
            f"Figs. 7 and 8, {name.upper()}: 2 ÷ the largest WA ratio by alignment, 512 bytes",
            measurement.by_reading(
                lambda view: _DRAMATIC / _by_alignment(view, name, (SECTOR_BYTES,))
            ),
            statement="P5-F7-11",
        ),
    ]


def _by_alignment(view: ReadingCounts, name: str, sizes: Collection[int]) -> float:
    aligned = [
        access
        for access in grid((True, False), SHARES)
        if access.is_aligned and access.size in sizes
    ]
    return max(
        spread((view.wa(name, access), view.wa(name, replace(access, is_aligned=False))))
        for access in aligned
    )


def _worst_is_ssd_s(measurement: MicroMeasurement, other: str, share: float) -> Item:
    figure = "Fig. 8" if share == 1 else "Fig. 7"
    return ordered(
        f"{figure}: WA of {other.upper()} ÷ WA of SSD-S, largest of all workloads",
        measurement.by_reading(lambda view: _largest_over(view, other, "ssd-s", share)),
        below=TIE,
        statement="P5-F8-9 P5-F7-7" if other == "ssd-m" and share != 1 else "P5-F8-9",
    )


def _largest_over(view: ReadingCounts, name: str, other: str, share: float) -> float:
    return max(counts.wa / view.wa(other, access) for access, counts in view.all_of(name, share))


def _smoother(view: ReadingCounts, name: str, other: str, share: float) -> float:
    """Return the variation of WA on drive `name` divided by that on drive `other`.

    The variation is the largest ÷ the smallest WA of all access sizes.
    """
    return spread(view.curve(name, share)) / spread(view.curve(other, share))


# Figure, share of writes, the drive whose WA varies less over the access sizes, the other drive,
# and id of the statement.
_SMOOTHER = (
    ("Fig. 8", 1.0, "ssd-m", "ssd-i", "P5-F8-7"),
    ("Fig. 8", 1.0, "ssd-m", "ssd-s", "P5-F8-7"),
    ("Fig. 7", 0.5, "ssd-m", "ssd-i", "P5-F7-6"),
    ("Fig. 8", 1.0, "ssd-i", "ssd-m", "P5-F8-8"),
)


def _of_drives(measurement: MicroMeasurement) -> list[Item]:
    """Return items on statements that compare one drive with another."""
    return [
        ordered(
            "Fig. 7: WA of SSD-M ÷ WA of SSD-I, largest of all workloads",
            measurement.by_reading(lambda view: _largest_over(view, "ssd-m", "ssd-i", 0.5)),
            below=TIE,
            statement="P5-F7-7",
        ),
        *(
            ordered(
                f"{figure}: largest ÷ least random WA on {name.upper()}, "
                f"divided by that on {other.upper()}",
                measurement.by_reading(partial(_smoother, name=name, other=other, share=share)),
                below=TIE,
                statement=statement,
            )
            for figure, share, name, other, statement in _SMOOTHER
        ),
        ordered(
            "Fig. 7: random WA of a size ÷ WA of the next larger, largest of the drives",
            measurement.by_reading(
                lambda view: max(rises(view.curve(name, 0.5)) for name in DRIVES)
            ),
            below=TIE,
            statement="P5-F7-2",
        ),
        ordered(
            "Figs. 7 and 8: effect of reads on SSD-S (12% of OP) ÷ effect on SSD-I (7%), random 4K",
            measurement.by_reading(
                lambda view: (
                    _without_reads(view, "ssd-i", [STEADY])[0]
                    / _without_reads(view, "ssd-s", [STEADY])[0]
                )
            ),
            below=TIE,
            note="effect: WA of 50% writes ÷ WA of 100% writes",
            statement="P5-F7-8",
        ),
        at_most(
            "Figs. 7 and 8: largest share of workload pairs that two drives order differently "
            "by WA",
            _SIMILAR,
            measurement.by_reading(_other_order),
            note='the paper calls the orders "similar"; up to 25% of the pairs may differ',
            statement="P5-F7-13",
        ),
    ]


def _other_order(view: ReadingCounts) -> float:
    """Return the largest share of workload pairs whose order by WA differs between two drives."""
    pairs = list(combinations(grid((True, False), SHARES), 2))
    orders = [
        [view.wa(name, access) > view.wa(name, other) for access, other in pairs] for name in DRIVES
    ]
    return max(
        fmean(is_above != other for is_above, other in zip(*two, strict=True))
        for two in combinations(orders, 2)
    )
