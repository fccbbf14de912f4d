"""Figures 10 and 11: the traces F1 and F2 on a drive that random writes have made steady.

The traces are not to be had but for the first requests of F1, so generators of what Table II states
of them stand in: mean and largest sizes by direction and the share of reads. Neither where the
requests go nor how many of them follow each other is stated; both are taken from the first 10,000
requests of F1 (Storage Performance Council, Financial1), and listed as open details.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from writeamp._engine import Load as EngineLoad
from writeamp.plots import FigureSpec
from writeamp.reproduce.bench import Bench, Findings
from writeamp.reproduce.four_level import figures
from writeamp.reproduce.four_level.drives import Counts, Life, Scale
from writeamp.reproduce.four_level.loads import SECTOR_BYTES, Integers, requests
from writeamp.reproduce.four_level.walvd import SUB_TEST_BYTES, SUB_TESTS
from writeamp.reproduce.items import Item, OpenDetail, at_most, compared

KIB = 1024
_AGEING_WRITES = 3.0

NOTE = "a generator of Table II's statistics stands in for the trace, which is not to be had"


@dataclass(frozen=True)
class Statistics:
    """A trace by its statistics.

    Attributes:
        write_share: share of writes among the requests.
        mean_bytes, most_bytes: sizes by direction, (write, read).
        sequential_share: share of requests that go on where one of the last has ended.
        span_share: share of the drive within which all others begin.
    """

    name: str
    write_share: float
    mean_bytes: tuple[float, float]
    most_bytes: tuple[int, int]
    sequential_share: float = 0.54
    span_share: float = 0.02

    def load(self, space_bytes: int, volume_bytes: int, *, seed: int) -> EngineLoad:
        """Return requests within a space until about so many bytes are written."""
        return requests(*self.requests(space_bytes, volume_bytes, seed=seed))

    def requests(
        self, space_bytes: int, volume_bytes: int, *, seed: int
    ) -> tuple[Integers, Integers, npt.NDArray[np.bool_]]:
        """Return their first bytes, sizes, and which of them write; shape (n,) each."""
        draws = np.random.default_rng(seed)
        count = round(volume_bytes / self.mean_bytes[0] / self.write_share)
        is_write = draws.random(count) < self.write_share
        sizes = np.where(
            is_write,
            _sizes(draws, count, self.mean_bytes[0], self.most_bytes[0]),
            _sizes(draws, count, self.mean_bytes[1], self.most_bytes[1]),
        )
        longest = max(self.most_bytes)
        span_bytes = max(int(space_bytes * self.span_share), 2 * longest) - longest
        return self._offsets(draws, sizes, span_bytes), sizes, is_write

    def _offsets(self, draws: np.random.Generator, sizes: Integers, span_bytes: int) -> Integers:
        """Return where each begins: at a random sector, or where the one before has ended."""
        goes_on = draws.random(sizes.size) < self.sequential_share
        goes_on[0] = False
        starts = draws.integers(0, span_bytes // SECTOR_BYTES, sizes.size) * SECTOR_BYTES
        # Within a run, each begins at the run's start and all sizes of the run before it.
        before = np.cumsum(sizes) - sizes
        run = np.maximum.accumulate(np.where(goes_on, 0, np.arange(sizes.size)))
        offsets: Integers = (starts[run] + before - before[run]) % span_bytes
        return offsets


def _sizes(
    draws: np.random.Generator, count: int, mean_bytes: float, most_bytes: float
) -> Integers:
    """Draw whole sectors, geometrically distributed up to the largest."""
    sectors = draws.geometric(min(1.0, SECTOR_BYTES / mean_bytes), count)
    sizes: Integers = np.minimum(sectors, int(most_bytes) // SECTOR_BYTES) * SECTOR_BYTES
    return sizes


# Table II.
F1 = Statistics("F1", 0.77, (3.8 * KIB, 2.3 * KIB), (16 * KIB, int(8.3 * KIB)))
F2 = Statistics("F2", 0.18, (3.0 * KIB, 2.3 * KIB), (256 * KIB, 64 * KIB))

# Write amplification and MB/s of the first and the last sub-test (section V.C); of F2 no steady
# bandwidth is stated.
_WA = {"F1": (16.0, 2.0), "F2": (17.0, 1.1)}
_MB_S = {"F1": (2.0, 12.0), "F2": (1.0, None)}

_FULL, _SHORT = Scale(4, 256), Scale(256, 8)

# What is stated of neither trace: where requests begin that do not go on where the last has ended.
_OURS = "within a fiftieth of the drive"
# Shares of the requests that go on, and of the drive.
_PLACES = {
    _OURS: (0.54, 0.02),
    "anywhere, and none goes on": (0.0, 1.0),
    "within a thousandth": (0.54, 0.001),
}

_Tests: TypeAlias = list[Counts]


def run(bench: Bench) -> Findings:
    """Replay both until their write amplification is steady."""
    scale = _FULL if bench.full else _SHORT
    bench.step("F1 and F2 on a steady drive (Figs. 10 and 11)")
    traces = (F1, F2)
    done = bench.map(
        _sub_tests,
        [
            (scale, replace(one, sequential_share=goes_on, span_share=span))
            for goes_on, span in _PLACES.values()
            for one in traces
        ],
    )
    keys = [(label, one.name) for label in _PLACES for one in traces]
    by_place = dict(zip(keys, done, strict=True))
    found = {one.name: by_place[_OURS, one.name] for one in traces}
    items = _items(found, by_place)
    return Findings(items, _figures(found, scale) if bench.figures else {})


def _sub_tests(scale: Scale, trace: Statistics) -> _Tests:
    drive = scale.device("ssd-i")
    volume = SUB_TEST_BYTES // scale.factor
    loads = (trace.load(drive.capacity_bytes, volume, seed=number) for number in range(SUB_TESTS))
    life = Life(drive, next(loads), ageing_writes=_AGEING_WRITES)
    return [life.settle(), *(life.go_on(load) for load in loads)]


def _items(found: Mapping[str, _Tests], by_place: Mapping[tuple[str, str], _Tests]) -> list[Item]:
    items = []
    for figure, (name, tests) in zip((10, 11), found.items(), strict=True):
        wa, mb_s = [one.wa for one in tests], [one.write_mb_s for one in tests]
        items += [
            at_most(f"Fig. {figure}, {name}: last WA over the first", 1, wa[-1] / wa[0]),
            at_most(f"Fig. {figure}, {name}: largest WA over the first", 1, max(wa) / wa[0]),
            at_most(
                f"Fig. {figure}, {name}: change of WA over the last three sub-tests",
                0.1,
                max(wa[-3:]) / min(wa[-3:]) - 1,
                note="steady",
            ),
            at_most(
                f"Fig. {figure}, {name}: first write bandwidth over the last", 1, mb_s[0] / mb_s[-1]
            ),
        ]
        places = {label: by_place[label, name] for label in _PLACES}
        values: list[tuple[str, float | None, Callable[[_Tests], float]]] = [
            ("first WA", _WA[name][0], lambda tests: tests[0].wa),
            ("last WA", _WA[name][1], lambda tests: tests[-1].wa),
            ("first write bandwidth (MB/s)", _MB_S[name][0], lambda tests: tests[0].write_mb_s),
            ("last write bandwidth (MB/s)", _MB_S[name][1], lambda tests: tests[-1].write_mb_s),
        ]
        for what, printed, value in values:
            if printed is not None:
                items.append(
                    compared(
                        f"Fig. {figure}, {name}: {what}",
                        printed,
                        value(tests),
                        0.15 * printed,
                        note=f"{NOTE}; pages a host page at last: {tests[-1].causes()}",
                        open_detail=OpenDetail(
                            "where the requests go, and how often again to the same pages",
                            "54% go on where the last has ended, as in the first 10,000 of F1, the "
                            f"others begin {_OURS}",
                            {label: value(of_place) for label, of_place in places.items()},
                        ),
                    )
                )
    items.append(
        at_most(
            "Figs. 10 and 11: last write bandwidth of F2 over that of F1",
            1,
            found["F2"][-1].write_mb_s / found["F1"][-1].write_mb_s,
            note='"F1 has more write I/Os than F2"',
        )
    )
    return items


def _figures(found: Mapping[str, _Tests], scale: Scale) -> dict[str, FigureSpec]:
    subtitle = (
        f"paper 5, Figs. 10 and 11 · SSD-I at 1/{scale.factor} of its size, generated requests; "
        "rings: printed"
    )
    return {
        "fig10-11-oltp": figures.by_sub_test(
            "Write amplification of F1 and F2 after random writes",
            subtitle,
            {name: [one.wa for one in tests] for name, tests in found.items()},
            {name: [one.write_mb_s for one in tests] for name, tests in found.items()},
            {name: {1: _WA[name][0], SUB_TESTS: _WA[name][1]} for name in found},
        )
    }
