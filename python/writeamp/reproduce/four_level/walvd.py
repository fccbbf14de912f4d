"""Figure 9: write amplification over the data written, in partitions of five sizes (section V.B.2).

A drive is emptied by TRIM and partitioned; what lies outside the partition stays trimmed and serves
as spare. IOGenerator then writes its initial data, a file that fills the partition, in order, and
fifteen sub-tests of random writes follow. The pages of the initial data are counted in the first
sub-test, and their bytes are not. A count ends when every pin has been high for five minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

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
_FIRST: dict[float, float] = {7: 39.0, 8: 8.0, 10: 6.5, 12: 2.5, 15: 4.5}
_STEADY: dict[float, float] = {7: 25.0, 8: 7.0, 10: 3.5, 12: 3.0, 15: 1.0}
_LOWEST_AT_7 = 21.0
# Steady values are printed in halves.
_PRINTED_TO = 0.25
# MB/s at 7%: initially, in the second sub-test, and in steady state.
_BANDWIDTH_AT_7 = {1: 1.4, 2: 1.5, SUB_TESTS: 1.23}

_FILL = Access(131_072, is_random=False, write_share=1, is_aligned=True)
_RANDOM = Access(PAGE_BYTES, is_random=True, write_share=1, is_aligned=True)

# The paper does not say what SSD-I maps by, nor how much of its mapping table is in memory.
_OURS = "as the profile estimates"
_MAPPINGS = (_OURS, "all of the table in memory", "1/64 of it", "mapping by 16 KiB")

_FULL = Scale(4, 256)
_SHORT = Scale(256, 8)


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


_Found: TypeAlias = Mapping[float, SubTests]
_ByMapping: TypeAlias = Mapping[tuple[str, float], SubTests]


def run(bench: Bench) -> Findings:
    """Run the sub-tests in every partition, for each way to map."""
    scale = _FULL if bench.full else _SHORT
    bench.step(f"fifteen sub-tests in {len(PARTITIONS_GB)} partitions (Fig. 9)")
    keys = [(mapping, op) for mapping in _MAPPINGS for op in PARTITIONS_GB]
    done = bench.map(sub_tests, [(_drive(scale, mapping), scale, op) for mapping, op in keys])
    by_mapping = dict(zip(keys, done, strict=True))
    found = {op: by_mapping[_OURS, op] for op in PARTITIONS_GB}
    items = [*_shape(found), *_values(by_mapping), *_bandwidths(by_mapping)]
    return Findings(items, _figures(found, scale) if bench.figures else {})


def _drive(scale: Scale, mapping: str) -> Device:
    if mapping == "mapping by 16 KiB":
        return scale.device("ssd-i", unit_bytes=16 * 1024)
    drive = scale.device("ssd-i")
    if mapping == _OURS:
        return drive
    of_table = drive.logical_pages * (drive.times or {})["map_cache"]["entry_bytes"] // 64
    pages = max(2, of_table // PAGE_BYTES)
    in_memory = 0 if mapping.startswith("all") else pages * PAGE_BYTES
    return scale.device("ssd-i", f"map_cache.bytes={in_memory}")


def sub_tests(drive: Device, scale: Scale, op: float) -> SubTests:
    """Run the fifteen sub-tests on a drive like SSD-I, in the partition of OP%."""
    partition_bytes = partition_pages(drive, op) * drive.page_bytes
    initial_data = _FILL.load(partition_bytes, partition_bytes, seed=0)
    life = Life(drive, initial_data, is_filled=False)
    initial = life.settle()
    volume = SUB_TEST_BYTES // scale.factor
    counts = [
        life.go_on(_RANDOM.load(partition_bytes, volume, seed=number + 1))
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


def _values(by_mapping: _ByMapping) -> list[Item]:
    items = []
    for op in PARTITIONS_GB:
        causes = f"pages a host page at last: {by_mapping[_OURS, op].causes}"
        items += [
            _valued(f"Fig. 9, {op:g}%: {what}", printed[op], value, _of(by_mapping, op), causes)
            for what, printed, value in (
                ("first WA", _FIRST, _first_wa),
                ("steady WA", _STEADY, _steady_wa),
            )
        ]
    least = _valued("Fig. 9a, 7%: least WA", _LOWEST_AT_7, _least_wa, _of(by_mapping, 7))
    return [*items, least]


def _bandwidths(by_mapping: _ByMapping) -> list[Item]:
    return [
        _valued(
            f"Fig. 9a, 7%: write bandwidth in sub-test {number} (MB/s)",
            printed,
            lambda tests, at=number - 1: tests.write_mb_s[at],  # type: ignore[misc]
            _of(by_mapping, 7),
        )
        for number, printed in _BANDWIDTH_AT_7.items()
    ]


def _valued(
    what: str,
    printed: float,
    value: Callable[[SubTests], float],
    tests: Mapping[str, SubTests],
    note: str = "",
) -> Item:
    values = {mapping: value(one) for mapping, one in tests.items()}
    return compared(
        what,
        printed,
        values[_OURS],
        max(_PRINTED_TO, 0.1 * printed),
        note=note,
        open_detail=OpenDetail(
            "what SSD-I maps by, and how much of its mapping table is in memory", _OURS, values
        ),
    )


def _of(by_mapping: _ByMapping, op: float) -> dict[str, SubTests]:
    return {mapping: by_mapping[mapping, op] for mapping in _MAPPINGS}


def _first_wa(tests: SubTests) -> float:
    return tests.wa[0]


def _steady_wa(tests: SubTests) -> float:
    return tests.steady_wa


def _least_wa(tests: SubTests) -> float:
    return min(tests.wa)


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
