"""Figure 9: WA over the data written, in disk partitions of five sizes (section V.B.2).

TRIM empties the drive, which is then partitioned. The space outside the partition stays trimmed and
serves as spare space. The initial data, assumed to be a file that fills the partition, are written
in order; fifteen sub-tests of random writes follow. The WA of the first sub-test includes the pages
programmed for the initial data, but not the bytes of these data. The count of a sub-test ends when
every Ready/Busy pin has been high for five minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from statistics import correlation, fmean
from typing import TypeAlias

from writeamp.plots import FigureSpec
from writeamp_papers.bench import Bench, Findings
from writeamp_papers.four_level import figures
from writeamp_papers.four_level.choices import CHOICES, PAIR, Choices, by_reading
from writeamp_papers.four_level.drives import GIB, Drive, Life, Scale
from writeamp_papers.four_level.formulas import PARTITIONS_GB, SSD_I_OP_SPACE_GB
from writeamp_papers.four_level.loads import PAGE_BYTES, Access
from writeamp_papers.four_level.scales import scale_of
from writeamp_papers.items import (
    Erratum,
    Item,
    at_most,
    compared,
    falls,
    ordered,
    rises,
    settled_at,
    spread,
    within,
)

SUB_TESTS = 15
SUB_TEST_BYTES = 5 * GIB
# Number of the first steady sub-test: "after the 6th to 8th sub-test".
_STEADY_FROM = 8
# Section VI: WA does "not noticeably change during the steady state".
_UNNOTICED = 0.05

# Section V.B.2: (WA, its tolerance) by OP%, of the first sub-test and in steady state. Tolerances
# are half a unit of the last printed digit, and a quarter of the value for "about 25".
_FIRST: dict[float, tuple[float, float]] = {
    7: (39, 0.5),
    8: (8, 0.5),
    10: (6.5, 0.05),
    12: (2.5, 0.05),
    15: (4.5, 0.05),
}
_STEADY: dict[float, tuple[float, float]] = {
    7: (25, 6.25),
    8: (7, 0.5),
    10: (3.5, 0.05),
    12: (3, 0.5),
    15: (1, 0.5),
}
_IDS = {op: number for number, op in enumerate(_FIRST)}
# (WA, write bandwidth in MB/s) at OP% = 7 in the second sub-test, and in steady state.
_SECOND = (21.0, 1.5)
_SETTLED = (25.0, 1.23)

_DEFAULT_OP, _LABELLED_GB = 7.0, 40.0

_FILL = Access(131_072, is_random=False, write_share=1, is_aligned=True)
_RANDOM = Access(PAGE_BYTES, is_random=True, write_share=1, is_aligned=True)


@dataclass(frozen=True)
class SubTests:
    """Write amplification, by the pins of all dies, and write bandwidth of each sub-test."""

    wa: list[float]
    write_mb_s: list[float]
    error_by_one: list[float]
    causes: str

    @property
    def steady_wa(self) -> float:
        """Mean write amplification over the steady sub-tests."""
        return fmean(self.wa[_STEADY_FROM - 1 :])

    @property
    def steady_mb_s(self) -> float:
        """Mean write bandwidth over the steady sub-tests, in MB/s."""
        return fmean(self.write_mb_s[_STEADY_FROM - 1 :])


_Key: TypeAlias = tuple[Choices, float]


class _PartitionRun:
    """Results of the sub-tests in each disk partition under each reading."""

    def __init__(self, by_key: Mapping[_Key, SubTests]) -> None:
        self._by_key = by_key

    def tests(self, choices: Choices, op: float = _DEFAULT_OP) -> SubTests:
        return self._by_key[_run_of(choices), op]

    def values(
        self, value: Callable[[SubTests], float], op: float = _DEFAULT_OP
    ) -> dict[str, float]:
        """Return a value computed from a disk partition's sub-tests, by name of the reading."""
        return by_reading(lambda choices: value(self.tests(choices, op)))


def run(bench: Bench) -> Findings:
    """Run the sub-tests in every disk partition under each reading of the paper."""
    scale = scale_of(bench)
    runs = dict.fromkeys(_run_of(choices) for choices in CHOICES.values())
    keys = [(choices, op) for choices in runs for op in PARTITIONS_GB]
    bench.step(f"fifteen sub-tests in {len(PARTITIONS_GB)} partitions, {len(runs)} times (Fig. 9)")
    done = bench.map(sub_tests, [(scale, choices, op) for choices, op in keys])
    partition_run = _PartitionRun(dict(zip(keys, done, strict=True)))
    items = [
        *_levels(partition_run),
        *_at_7(partition_run),
        *_rates(partition_run),
        *_partitions(partition_run),
    ]
    return Findings(items, _figures(partition_run, scale) if bench.figures else {})


def _run_of(choices: Choices) -> Choices:
    """Return a reading's choices with defaults for those that do not affect Fig. 9.

    Readings that are equal then share their runs.
    """
    return replace(choices, is_emptied=False, sub_tests_a_trace=None)


def sub_tests(scale: Scale, choices: Choices, op: float) -> SubTests:
    """Run the fifteen sub-tests on SSD-I, in the disk partition that leaves OP% spare."""
    drive = partitioned(scale, choices, op)
    partition_bytes = partition_pages(drive, choices, op) * PAGE_BYTES
    loads = (
        _RANDOM.load(partition_bytes, SUB_TEST_BYTES // scale.factor, seed=number + 1)
        for number in range(SUB_TESTS)
    )
    initial = None
    if choices.has_initial_data:
        life = Life(drive, _FILL.load(partition_bytes, partition_bytes, seed=0), is_filled=False)
        initial = life.settle()
    else:
        life = Life(drive, next(loads), is_filled=False)
    counts = [life.settle()] if initial is None else []
    counts += [life.go_on(load) for load in loads]
    wa = [count.wa for count in counts]
    if initial:
        wa[0] += initial.wa * initial.written_bytes / counts[0].written_bytes
    return SubTests(
        wa,
        [count.write_mb_s for count in counts],
        [count.error_by_one for count in counts],
        counts[-1].causes(),
    )


def partitioned(scale: Scale, choices: Choices, op: float) -> Drive:
    """Return SSD-I with all of its flash, or with the flash that eq. 5 gives for OP%."""
    if not choices.op_is_physical:
        return scale.drive("ssd-i", choices.firmware)
    user_gb = PARTITIONS_GB[op]
    return scale.drive(
        "ssd-i",
        choices.firmware,
        flash_share=(user_gb + SSD_I_OP_SPACE_GB) / _LABELLED_GB,
        op=SSD_I_OP_SPACE_GB / user_gb,
    )


def partition_pages(drive: Drive, choices: Choices, op: float) -> int:
    """Return the number of 4 KiB pages in Table III's disk partition for OP%.

    If `op_is_physical`, the partition is the whole drive.
    """
    capacity = drive.capacity_bytes // PAGE_BYTES
    if choices.op_is_physical:
        return capacity
    flash = drive.device.physical_pages * drive.device.page_bytes // PAGE_BYTES
    return min(capacity, int(flash * PARTITIONS_GB[op] / _LABELLED_GB))


def _levels(runs: _PartitionRun) -> list[Item]:
    """Return items on WA of the first sub-test and in steady state, for each OP%."""
    items = []
    for op, (printed, tolerance) in _FIRST.items():
        items.append(
            compared(
                f"Fig. 9, {op:g}%: WA of the first sub-test",
                printed,
                runs.values(lambda tests: tests.wa[0], op),
                tolerance,
                erratum=_too_low() if op == _TOO_LOW_AT else None,
                statement=f"P5-F9-{3 + _IDS[op]}",
            )
        )
    for op, (printed, tolerance) in _STEADY.items():
        items.append(
            compared(
                f"Fig. 9, {op:g}%: steady WA",
                printed,
                runs.values(lambda tests: tests.steady_wa, op),
                tolerance,
                note="flash bytes per host byte in the last sub-test, by cause: "
                f"{runs.tests(CHOICES[PAIR], op).causes}",
                statement="P5-F9-10" if op == _DEFAULT_OP else f"P5-F9-{15 + _IDS[op]}",
            )
        )
    return items


_TOO_LOW_AT = 12


def _too_low() -> Erratum:
    """Return the correction of the misprinted WA of the first sub-test at OP% = 12.

    The sub-test programs at least the initial data, and two pages for each of its 5 GiB of 4 KiB
    writes. This leaves flash free, so nothing is collected.
    """
    initial = PARTITIONS_GB[_TOO_LOW_AT] * GIB / SUB_TEST_BYTES
    return Erratum(
        initial + 2,
        0.1,
        f"writing the initial data alone gives a WA of {initial:.1f}; the printed 2.5 here and 4.5 "
        "at 15% were probably exchanged",
    )


def _at_7(runs: _PartitionRun) -> list[Item]:
    """Return items on WA over the sub-tests at OP% = 7, Fig. 9a."""
    items = [
        compared(
            "Fig. 9a, 7%: WA of the second sub-test",
            _SECOND[0],
            runs.values(lambda tests: tests.wa[1]),
            0.5,
            statement="P5-F9-8",
        ),
        compared(
            "Fig. 9a, 7%: WA of the second sub-test ÷ steady WA",
            round(_SECOND[0] / _SETTLED[0], 3),
            runs.values(lambda tests: tests.wa[1] / tests.steady_wa),
            0.05,
            statement="P5-F9-8 P5-F9-10",
        ),
        ordered(
            "Fig. 9a, 7%: WA of the second sub-test ÷ least WA of the others",
            runs.values(lambda tests: tests.wa[1] / min(tests.wa[:1] + tests.wa[2:])),
            statement="P5-F9-9",
        ),
        ordered(
            "Fig. 9a, 7%: WA of a sub-test ÷ WA of the next, second to eighth, largest",
            runs.values(lambda tests: rises(tests.wa[1:_STEADY_FROM])),
            statement="P5-F9-1",
        ),
        within(
            "Fig. 9a, 7%: number of the sub-test from which WA stays within 5%",
            5.5,
            8.5,
            runs.values(lambda tests: settled_at(tests.wa)),
            statement="P5-F9-11",
        ),
    ]
    items += [
        ordered(
            f"Fig. 9, {op:g}%: largest later WA ÷ WA of the first sub-test",
            runs.values(lambda tests: max(tests.wa[1:]) / tests.wa[0], op),
            statement="P5-F9-2",
        )
        for op in PARTITIONS_GB
    ]
    return items


def _rates(runs: _PartitionRun) -> list[Item]:
    """Return items on write bandwidth at OP% = 7, and on the bandwidth of the flash."""
    named = (
        ("in the first sub-test", 1.4, 0.05, _first_rate, "P5-F9-12"),
        ("in the second sub-test", _SECOND[1], 0.05, _second_rate, "P5-F9-13"),
        ("in steady state", _SETTLED[1], 0.005, _steady_rate, "P5-F9-14"),
    )
    items = [
        compared(
            f"Fig. 9a, 7%: write bandwidth {when} (MB/s)",
            printed,
            runs.values(rate),
            tolerance,
            statement=statement,
        )
        for when, printed, tolerance, rate, statement in named
    ]
    programmed: tuple[tuple[str, float, Callable[[SubTests], float], str], ...] = (
        ("second", _SECOND[0] * _SECOND[1], lambda t: t.wa[1] * t.write_mb_s[1], "P5-F9-13"),
        ("steady", _SETTLED[0] * _SETTLED[1], lambda t: t.steady_wa * t.steady_mb_s, "P5-F9-14"),
    )
    items += [
        compared(
            f"Fig. 9a, 7%: WA times MB/s, {which} (MB/s of flash)",
            printed,
            runs.values(value),
            0.25 * printed,
            note="bandwidth of the flash; all dies of SSD-I together can reach 60 MB/s",
            statement=statement,
        )
        for which, printed, value, statement in programmed
    ]
    items.append(
        ordered(
            "Fig. 9a, 7%: correlation of MB/s with WA, second to fifteenth sub-test",
            runs.values(lambda tests: correlation(tests.wa[1:], tests.write_mb_s[1:])),
            below=0,
            statement="P5-F9-15",
        )
    )
    return items


def _first_rate(tests: SubTests) -> float:
    return tests.write_mb_s[0]


def _second_rate(tests: SubTests) -> float:
    return tests.write_mb_s[1]


def _steady_rate(tests: SubTests) -> float:
    return tests.steady_mb_s


def _partitions(runs: _PartitionRun) -> list[Item]:
    """Return items on higher OP%, on the steady state, and on counts of a single pin."""

    def over_partitions(value: Callable[[SubTests], float]) -> Callable[[Choices], list[float]]:
        return lambda choices: [value(runs.tests(choices, op)) for op in sorted(PARTITIONS_GB)]

    wa = over_partitions(lambda tests: tests.steady_wa)
    rate = over_partitions(_steady_rate)
    changes = over_partitions(lambda tests: spread(tests.wa[_STEADY_FROM - 1 :]) - 1)
    errors = over_partitions(lambda tests: max(tests.error_by_one))
    return [
        ordered(
            "Fig. 9: steady WA ÷ steady WA with the next lower over-provisioning, largest",
            by_reading(lambda choices: falls(wa(choices))),
            statement="P5-F9-20 P5-B-3 P5-C-3 P5-F8-10",
        ),
        ordered(
            "Fig. 9: steady MB/s ÷ steady MB/s with the next higher over-provisioning, largest",
            by_reading(lambda choices: rises(rate(choices))),
            statement="P5-F9-21",
        ),
        at_most(
            "Fig. 9: change of WA from the eighth sub-test on, largest of the partitions",
            _UNNOTICED,
            by_reading(lambda choices: max(changes(choices))),
            note="largest ÷ least, minus 1",
            statement="P5-C-4",
        ),
        at_most(
            "Fig. 9, SSD-I: largest absolute percentage error |PEN|, counted at one pin",
            1,
            by_reading(lambda choices: max(errors(choices))),
            note="the paper states this bound for SSD-v; largest of all sub-tests and partitions",
            statement="P5-A-3",
        ),
    ]


def _figures(runs: _PartitionRun, scale: Scale) -> dict[str, FigureSpec]:
    subtitle = (
        f"paper 5, Fig. 9 · SSD-I at 1/{scale.factor} of its size, 15 sub-tests of 5 GiB/"
        f"{scale.factor} · reading {PAIR} · rings: printed values"
    )
    tests = {op: runs.tests(CHOICES[PAIR], op) for op in PARTITIONS_GB}
    return {
        "fig9-walvd": figures.by_sub_test(
            "Write amplification of each sub-test, by over-provisioning",
            subtitle,
            {f"{op:g}%": sub_tests_of_op.wa for op, sub_tests_of_op in tests.items()},
            {f"{op:g}%": sub_tests_of_op.write_mb_s for op, sub_tests_of_op in tests.items()},
            {f"{op:g}%": {1: _FIRST[op][0], SUB_TESTS: _STEADY[op][0]} for op in tests},
        )
    }
