"""Figure 9: write amplification over the data written, in partitions of five sizes (section V.B.2).

A drive is emptied by TRIM and partitioned; what lies outside the partition stays trimmed and serves
as spare. IOGenerator then writes its initial data, a file that fills the partition, in order, and
fifteen sub-tests of random writes follow. The pages of the initial data are counted in the first
sub-test, and their bytes are not. A count ends when every pin has been high for five minutes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from writeamp.devices.device import Device
from writeamp.plots import FigureSpec
from writeamp.reproduce.bench import Bench, Findings
from writeamp.reproduce.four_level import figures
from writeamp.reproduce.four_level.drives import GIB, Life, Scale
from writeamp.reproduce.four_level.formulas import SSD_I_OP_SPACE_GB
from writeamp.reproduce.four_level.loads import PAGE_BYTES, Access
from writeamp.reproduce.four_level.tables import PARTITIONS_GB
from writeamp.reproduce.items import Item, OpenDetail, at_most, compared

SUB_TESTS = 15
SUB_TEST_BYTES = 5 * GIB
# From here on the values are the steady ones: "after the 6th to 8th sub-test".
_STEADY_FROM = 8

# Section V.B.2: write amplification of the first sub-test and in steady state, by OP%.
_FIRST = {7: 39.0, 8: 8.0, 10: 6.5, 12: 2.5, 15: 4.5}
_STEADY = {7: 25.0, 8: 7.0, 10: 3.5, 12: 3.0, 15: 1.0}
_LOWEST_AT_7 = 21.0
# Steady values are printed in halves.
_PRINTED_TO = 0.25
# MB/s at 7%: initially, in the second sub-test, and in steady state.
_BANDWIDTH_AT_7 = {1: 1.4, 2: 1.5, SUB_TESTS: 1.23}

_FILL = Access(131_072, is_random=False, write_share=1, is_aligned=True)
_RANDOM = Access(PAGE_BYTES, is_random=True, write_share=1, is_aligned=True)

# The paper says neither how much of the mapping table SSD-I keeps in memory, nor how small writes
# are that share its pages. The profile's choice, the whole table, and next to none of it:
MAPS = {"as the profile has it": (), "with all of the table in memory": ("map_cache.bytes=0",)}
_LITTLE_MAP = "with 1/64 of it"

_FULL = Scale(4, 256)
_SHORT = Scale(128, 16)


@dataclass(frozen=True)
class SubTests:
    """Write amplification and write bandwidth of each sub-test."""

    wa: list[float]
    write_mb_s: list[float]
    causes: str

    @property
    def steady_wa(self) -> float:
        """Mean over the steady sub-tests."""
        steady = self.wa[_STEADY_FROM - 1 :]
        return sum(steady) / len(steady)


_Found = Mapping[float, SubTests]


def run(bench: Bench) -> Findings:
    """Run the sub-tests in every partition; at 7% with other mapping tables too."""
    scale = _FULL if bench.full else _SHORT
    bench.step(f"fifteen sub-tests in {len(PARTITIONS_GB)} partitions (Fig. 9)")
    little = f"map_cache.bytes={_little_map(scale)}"
    tables = {**MAPS, _LITTLE_MAP: (little,)}
    runs = [(scale, op, MAPS["as the profile has it"]) for op in PARTITIONS_GB]
    others = [(label, op) for label in tables if tables[label] for op in PARTITIONS_GB]
    done = bench.map(sub_tests, [*runs, *((scale, op, tables[label]) for label, op in others)])
    found = dict(zip(PARTITIONS_GB, done, strict=False))
    variants = dict(zip(others, done[len(runs) :], strict=True))
    items = [*_shape(found), *_values(found, variants), *_bandwidths(found, variants)]
    if not bench.figures:
        return Findings(items)
    return Findings(items, _figures(found, scale))


def _little_map(scale: Scale) -> int:
    table_bytes = scale.device("ssd-i").logical_pages * 4
    return max(2, table_bytes // 64 // PAGE_BYTES) * PAGE_BYTES


def sub_tests(scale: Scale, op: float, changes: tuple[str, ...]) -> SubTests:
    """Run the fifteen sub-tests on SSD-I with `changes` to its tables, in the partition of OP%."""
    drive = scale.device("ssd-i", *changes)
    pages = partition_pages(drive, op)
    volume = SUB_TEST_BYTES // scale.factor
    first_of_all = _FILL.load(pages * PAGE_BYTES, pages * PAGE_BYTES, seed=0)
    life = Life(drive, first_of_all, is_filled=False)
    initial = life.settle()
    counts = [
        life.go_on(_RANDOM.load(pages * PAGE_BYTES, volume, seed=number + 1))
        for number in range(SUB_TESTS)
    ]
    wa = [one.wa for one in counts]
    wa[0] += initial.wa * initial.written_bytes / counts[0].written_bytes
    return SubTests(wa, [one.write_mb_s for one in counts], counts[-1].causes())


def partition_pages(drive: Device, op: float) -> int:
    """Return the pages of Table III's partition for OP%, on a drive of SSD-I's proportions."""
    share = PARTITIONS_GB[op] / (PARTITIONS_GB[min(PARTITIONS_GB)] + SSD_I_OP_SPACE_GB)
    return min(drive.logical_pages, int(drive.physical_pages * share))


def _shape(found: _Found) -> list[Item]:
    """Return what the text says of the order and the trend of the values."""
    items = []
    for op, tests in found.items():
        first, others = tests.wa[0], tests.wa[1:]
        items += [
            at_most(f"Fig. 9, {op:g}%: largest later WA over the first", 1, max(others) / first),
            at_most(
                f"Fig. 9, {op:g}%: spread of the steady WA (8th to 15th, largest over least)",
                1.1,
                max(tests.wa[_STEADY_FROM - 1 :]) / min(tests.wa[_STEADY_FROM - 1 :]),
                note="steady",
            ),
        ]
    at_7 = found[min(found)]
    items.append(
        at_most(
            "Fig. 9a, 7%: WA of the second sub-test over the steady one",
            1.05,
            at_7.wa[1] / at_7.steady_wa,
            note="in print it is the lowest, and WA rises from there to the 6th to 8th",
        )
    )
    items.append(
        at_most(
            "Fig. 9: steady WA with more over-provisioning over that with less, largest",
            1,
            max(
                found[more].steady_wa / found[less].steady_wa
                for less, more in zip(sorted(found), sorted(found)[1:], strict=False)
            ),
        )
    )
    return items


def _values(found: _Found, variants: Mapping[tuple[str, float], SubTests]) -> list[Item]:
    items = []
    for op, tests in found.items():
        for what, printed, value in (
            ("first WA", _FIRST[op], lambda one: one.wa[0]),
            ("steady WA", _STEADY[op], lambda one: one.steady_wa),
        ):
            items.append(
                compared(
                    f"Fig. 9, {op:g}%: {what}",
                    printed,
                    value(tests),
                    max(_PRINTED_TO, 0.1 * printed),
                    note=f"pages a host page at last: {tests.causes}",
                    open_detail=_table(
                        value(tests),
                        {
                            label: value(one)
                            for (label, of_op), one in variants.items()
                            if of_op == op
                        },
                    ),
                )
            )
    at_7 = found[min(found)]
    return items + [
        compared(
            "Fig. 9a, 7%: least WA",
            _LOWEST_AT_7,
            min(at_7.wa),
            0.1 * _LOWEST_AT_7,
            open_detail=_table(
                min(at_7.wa),
                {label: min(one.wa) for (label, op), one in variants.items() if op == min(found)},
            ),
        )
    ]


def _bandwidths(found: _Found, variants: Mapping[tuple[str, float], SubTests]) -> list[Item]:
    op = min(found)
    return [
        compared(
            f"Fig. 9a, {op:g}%: write bandwidth in sub-test {number} (MB/s)",
            printed,
            found[op].write_mb_s[number - 1],
            0.1 * printed,
            open_detail=_table(
                found[op].write_mb_s[number - 1],
                {
                    label: one.write_mb_s[number - 1]
                    for (label, of_op), one in variants.items()
                    if of_op == op
                },
            ),
        )
        for number, printed in _BANDWIDTH_AT_7.items()
    ]


def _table(ours: float, others: Mapping[str, float]) -> OpenDetail:
    return OpenDetail(
        "how much of its mapping table SSD-I keeps in memory",
        "as the profile estimates",
        {"as the profile estimates": ours, **others},
    )


def _figures(found: _Found, scale: Scale) -> dict[str, FigureSpec]:
    subtitle = (
        f"paper 5, Fig. 9 · SSD-I at 1/{scale.factor} of its size, 15 sub-tests of 5 GiB/"
        f"{scale.factor}; rings: printed"
    )
    return {
        "fig9-walvd": figures.by_sub_test(
            "Write amplification over the data written, by over-provisioning",
            subtitle,
            {f"{op:g}%": tests.wa for op, tests in found.items()},
            {f"{op:g}%": tests.write_mb_s for op, tests in found.items()},
            {f"{op:g}%": {1: _FIRST[op], SUB_TESTS: _STEADY[op]} for op in found},
        )
    }
