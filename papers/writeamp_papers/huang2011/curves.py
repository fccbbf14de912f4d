"""Figures 3 to 7: one workload parameter varied at a time, on a disk and two flash drives.

Section III's statements on the plots are compared, not the plots. With one request outstanding,
throughput is 1 ÷ latency, and bandwidth is throughput times the request size. A statement on all
three metrics of runs with one request outstanding is therefore a single item, on latency.

Profiles were fitted to some of the statements (`FITTED`); the others are tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from writeamp_papers.bench import Bench, Findings
from writeamp_papers.huang2011 import curve_figures
from writeamp_papers.huang2011.curve_figures import pictures
from writeamp_papers.huang2011.device_scores import DeviceScores, score_device
from writeamp_papers.huang2011.readings import combined
from writeamp_papers.huang2011.workloads import DEPTHS, DIRECTIONS, RATIOS, SIZES_KIB
from writeamp_papers.items import (
    Item,
    at_most,
    compared,
    fitted_to,
    ordered,
    rises,
    spread,
    within,
)

DRAWN = ("HDD_S", "SSD_I", "SSD_S")
_FLASH = ("SSD_I", "SSD_S")

# The paper's "about", "small" and "similar" are taken as within 25%; "large", "significantly" and
# "greatly" as a factor of two.
_ABOUT, _TWOFOLD, _SIMILAR = 0.25, 0.5, 0.25
_STRAIGHT = 0.05

# Statements to which the drives' profiles were fitted (`papers/benches/fit_huang2011.py`).
FITTED = frozenset(
    f"P2-F{figure}-{number}"
    for figure, numbers in {
        3: "2345",
        4: "1234",
        5: ("2", "3", "9", "10"),
        6: "456",
        7: "1",
    }.items()
    for number in numbers
)

_TENTH_WRITES = RATIOS.index(0.1)
_READ_DOMINATED = slice(0, RATIOS.index(0.25) + 1)
_ALL_WRITES = RATIOS.index(1.0)
_SATURATED = slice(DEPTHS.index(16), None)

_T = TypeVar("_T")
_Devices = Mapping[str, DeviceScores]


def run(bench: Bench) -> Findings:
    """Compare section III's statements on Figs. 3 to 7 with measurements."""
    device_scores = {device: score_device(bench, device) for device in DRAWN}
    return Findings(judged(device_scores), pictures(device_scores) if bench.figures else {})


def judged(device_scores: _Devices) -> list[Item]:
    """Return the items of Figs. 3 to 7 from the measurements of the three devices."""
    items = [
        *_write_ratio(device_scores),
        *_queue_depth(device_scores),
        *_request_size(device_scores),
        *_access_patterns(device_scores),
    ]
    return [
        item if FITTED.isdisjoint(item.statement.split(", ")) else fitted_to(item) for item in items
    ]


def _write_ratio(device_scores: _Devices) -> list[Item]:
    latency = {device: scores.curve("ratio") for device, scores in device_scores.items()}
    bandwidth = {
        device: scores.curve("ratio", "bandwidth") for device, scores in device_scores.items()
    }
    disk, items = latency["HDD_S"], []
    for device in _FLASH:
        mine = latency[device]
        items += [
            ordered(
                f"Fig. 3, {device}: latency ÷ the disk's, up to 25% writes, largest",
                combined(
                    lambda a, b: curve_figures.largest_ratio(
                        a[_READ_DOMINATED], b[_READ_DOMINATED]
                    ),
                    mine,
                    disk,
                ),
                statement="P2-F3-1",
            ),
            compared(
                f"Fig. 3, {device}: latency at 10% writes (ms)",
                2.0,
                combined(lambda a: a[_TENTH_WRITES], mine),
                _ABOUT * 2.0,
                statement="P2-F3-2",
            ),
            within(
                f"Fig. 3, {device}: bandwidth at 10% writes (MB/s)",
                99.5,
                150.5,
                combined(lambda a: a[_TENTH_WRITES], bandwidth[device]),
                statement="P2-F3-3",
            ),
            ordered(
                f"Fig. 3, {device}: latency at a write ratio ÷ latency at the next higher "
                "one, largest",
                combined(rises, mine),
                statement="P2-F3-6, P2-F3-7, P2-F3-8",
            ),
            at_most(
                f"Fig. 3, {device}: latency of reads ÷ latency of writes",
                _TWOFOLD,
                combined(lambda a: a[0] / a[_ALL_WRITES], mine),
                statement="P2-F3-9",
            ),
        ]
    both = combined(lambda a, b: (a[_TENTH_WRITES] + b[_TENTH_WRITES]) / 2, *_of(latency, _FLASH))
    at_tenth = combined(lambda a: a[_TENTH_WRITES], disk)
    return [
        *items,
        compared(
            "Fig. 3, HDD_S: latency at 10% writes ÷ mean latency of the flash drives",
            5.0,
            combined(lambda a, b: a / b, at_tenth, both),
            _ABOUT * 5.0,
            statement="P2-F3-4",
        ),
        compared(
            "Fig. 3, HDD_S: bandwidth at 10% writes (MB/s)",
            20.0,
            combined(lambda a: a[_TENTH_WRITES], bandwidth["HDD_S"]),
            _ABOUT * 20.0,
            statement="P2-F3-5",
        ),
        at_most(
            "Fig. 3, HDD_S: largest latency ÷ the smallest",
            1 + _SIMILAR,
            combined(spread, disk),
            statement="P2-F3-10",
        ),
        ordered(
            "Fig. 3: share of the write ratios at which SSD_I is not the fastest",
            combined(
                lambda mine, *others: (
                    sum(own >= min(rest) for own, *rest in zip(mine, *others, strict=True))
                    / len(mine)
                ),
                *_of(latency, (*_FLASH, "HDD_S")),
            ),
            below=0.5,
            statement="P2-F3-11",
        ),
        ordered(
            "Fig. 3: latency of HDD_S ÷ latency of SSD_S, writes only",
            combined(lambda a, b: a[_ALL_WRITES] / b[_ALL_WRITES], disk, latency["SSD_S"]),
            statement="P2-F3-12",
        ),
    ]


def _queue_depth(device_scores: _Devices) -> list[Item]:
    items = []
    for device, scores in device_scores.items():
        latency = [scores.curve(f"depth, {direction}") for direction in DIRECTIONS]
        bandwidth = [scores.curve(f"depth, {direction}", "bandwidth") for direction in DIRECTIONS]
        items += [
            at_most(
                f"Fig. 4, {device}: latency at depth 1 ÷ latency at depth 64, reads or writes",
                _TWOFOLD,
                combined(lambda *both: max(a[0] / a[-1] for a in both), *latency),
                statement="P2-F4-1",
            ),
            at_most(
                f"Fig. 4, {device}: bandwidth at depth 64 ÷ that at 16, or the inverse",
                1 + _SIMILAR,
                combined(lambda *both: max(spread(a[_SATURATED]) for a in both), *bandwidth),
                statement="P2-F4-3, P2-F4-4",
            ),
        ]
    writes = {device: scores.curve("depth, write") for device, scores in device_scores.items()}
    for better, worse in (("SSD_I", "HDD_S"), ("HDD_S", "SSD_S")):
        items.append(
            ordered(
                f"Fig. 4: latency of {better} ÷ that of {worse}, writes, largest of all depths",
                combined(curve_figures.largest_ratio, writes[better], writes[worse]),
                statement="P2-F4-2",
            )
        )
    return items


def _request_size(device_scores: _Devices) -> list[Item]:
    items = []
    reads = {device: scores.curve("random, read") for device, scores in device_scores.items()}
    writes = {device: scores.curve("random, write") for device, scores in device_scores.items()}
    bandwidth = {
        device: scores.curve("random, read", "bandwidth")
        for device, scores in device_scores.items()
    }
    for device in device_scores:
        of_reads, of_writes = reads[device], writes[device]
        items += [
            ordered(
                f"Fig. 5, {device}: latency of writes of a size ÷ that of the next larger, largest",
                combined(rises, of_writes),
                statement="P2-F5-1",
            ),
            *(
                at_most(
                    f"Fig. 5, {device}: 1 - R² of a straight line, latency of {name}",
                    _STRAIGHT,
                    combined(lambda y: curve_figures.nonlinearity(SIZES_KIB, y), of_one),
                    statement=statement,
                )
                for name, of_one, statement in (
                    ("writes", of_writes, "P2-F5-2"),
                    ("reads", of_reads, "P2-F5-4"),
                )
            ),
            ordered(
                f"Fig. 5, {device}: bandwidth of reads of a size ÷ that of the next larger, "
                "largest",
                combined(rises, bandwidth[device]),
                statement="P2-F5-5",
            ),
            ordered(
                f"Fig. 5, {device}: latency of each further KiB, reads ÷ writes",
                combined(
                    lambda a, b: (
                        curve_figures.slope(SIZES_KIB, a) / curve_figures.slope(SIZES_KIB, b)
                    ),
                    of_reads,
                    of_writes,
                ),
                statement="P2-F5-6",
            ),
            ordered(
                f"Fig. 5, {device}: latency of reads of a size ÷ that of the next larger, largest",
                combined(rises, of_reads),
                note="throughput falls as latency rises",
                statement="P2-F5-7",
            ),
        ]
    for device in _FLASH:
        items += [
            at_most(
                f"Fig. 5, {device}: latency of reads ÷ the disk's, largest of all sizes",
                _TWOFOLD,
                combined(curve_figures.largest_ratio, reads[device], reads["HDD_S"]),
                statement="P2-F5-8",
            ),
            at_most(
                f"Section III.C, {device}: latency of reads ÷ the disk's, smallest of all sizes",
                0.01,
                combined(curve_figures.smallest_ratio, reads[device], reads["HDD_S"]),
                statement="P2-C-1",
            ),
        ]
    return [
        *items,
        ordered(
            "Fig. 5: latency of HDD_S ÷ that of SSD_S, writes, largest of all sizes",
            combined(curve_figures.largest_ratio, writes["HDD_S"], writes["SSD_S"]),
            statement="P2-F5-3",
        ),
        compared(
            "Fig. 5: latency of SSD_I ÷ latency of SSD_S, reads",
            1.0,
            combined(curve_figures.mean_ratio, *_of(reads, _FLASH)),
            _SIMILAR,
            statement="P2-F5-9",
        ),
        at_most(
            "Fig. 5: latency of SSD_I ÷ latency of SSD_S, writes",
            _TWOFOLD,
            combined(curve_figures.mean_ratio, *_of(writes, _FLASH)),
            statement="P2-F5-10",
        ),
        ordered(
            "Section III.C: latency of SSD_I ÷ that of SSD_S, writes, largest of all sizes",
            combined(curve_figures.largest_ratio, *_of(writes, _FLASH)),
            statement="P2-C-2",
        ),
        ordered(
            "Fig. 5: 1 - R² of a straight line, bandwidth of reads, SSD_S ÷ SSD_I",
            combined(
                lambda i, s: (
                    curve_figures.nonlinearity(SIZES_KIB, s)
                    / curve_figures.nonlinearity(SIZES_KIB, i)
                ),
                *_of(bandwidth, _FLASH),
            ),
            statement="P2-F5-11",
        ),
    ]


def _access_patterns(device_scores: _Devices) -> list[Item]:
    items = []
    for device, scores in device_scores.items():
        for direction in DIRECTIONS:
            statements = ["P2-F6-1"]
            if device in _FLASH:
                statements += ["P2-F6-2", "P2-F7-2"] if direction == "write" else ["P2-F7-2"]
            items.append(
                ordered(
                    f"Fig. 6, {device}: latency of sequential {direction}s ÷ random ones",
                    combined(
                        curve_figures.mean_ratio,
                        scores.curve(f"sequential, {direction}"),
                        scores.curve(f"random, {direction}"),
                    ),
                    statement=", ".join(statements),
                )
            )
    for device in _FLASH:
        for direction, other, statement in (
            ("write", "sequential", "P2-F6-4"),
            ("read", "random", "P2-F6-5"),
        ):
            items.append(
                compared(
                    f"Fig. 6, {device}: latency of {direction}s at a stride ÷ {other} ones",
                    1.0,
                    combined(
                        curve_figures.mean_ratio,
                        device_scores[device].curve(f"stride, {direction}"),
                        device_scores[device].curve(f"{other}, {direction}"),
                    ),
                    _SIMILAR,
                    statement=statement,
                )
            )
    slowdown = {
        device: combined(
            curve_figures.mean_ratio,
            device_scores[device].curve("random, write"),
            device_scores[device].curve("sequential, write"),
        )
        for device in _FLASH
    }
    items.append(
        ordered(
            "Fig. 6: latency of random writes ÷ sequential ones, SSD_I ÷ SSD_S",
            combined(lambda i, s: i / s, *_of(slowdown, _FLASH)),
            statement="P2-F6-3",
        )
    )
    disk = device_scores["HDD_S"]
    for lower, upper in (("sequential", "stride"), ("stride", "random")):
        of_lower = [disk.curve(f"{lower}, {direction}") for direction in DIRECTIONS]
        of_upper = [disk.curve(f"{upper}, {direction}") for direction in DIRECTIONS]
        items.append(
            ordered(
                f"Fig. 6, HDD_S: latency, {lower} ÷ {upper}, reads or writes",
                combined(
                    lambda a, b, c, d: max(
                        curve_figures.mean_ratio(a, c), curve_figures.mean_ratio(b, d)
                    ),
                    *of_lower,
                    *of_upper,
                ),
                statement="P2-F6-6",
            )
        )
    for direction in DIRECTIONS:
        items.append(
            at_most(
                f"Fig. 7, HDD_S: latency of sequential {direction}s ÷ random ones",
                0.1,
                combined(
                    curve_figures.mean_ratio,
                    disk.curve(f"sequential, {direction}"),
                    disk.curve(f"random, {direction}"),
                ),
                note="the ratio of throughputs is the inverse",
                statement="P2-F7-1",
            )
        )
    return items


def _of(values: Mapping[str, _T], names: tuple[str, ...]) -> list[_T]:
    return [values[name] for name in names]
