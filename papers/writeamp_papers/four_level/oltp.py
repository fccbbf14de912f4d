"""Figures 10 and 11: the traces F1 and F2 on a drive made steady by random writes.

Only the first 10,000 requests of F1 are public (Storage Performance Council, Financial1). Generated
requests replace both traces: mean and largest sizes by direction and the share of reads are those
of Table II, the locality is measured from F1's first requests (`F1_STARTS`), under every reading.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from writeamp._engine import Load as EngineLoad
from writeamp.plots import FigureSpec
from writeamp_papers.bench import Bench, Findings
from writeamp_papers.four_level import figures
from writeamp_papers.four_level.choices import CHOICES, PAIR, Choices, by_reading
from writeamp_papers.four_level.drives import GIB, STEADY_WRITES, Counts, Life, Scale
from writeamp_papers.four_level.loads import SECTOR_BYTES, Integers, requests
from writeamp_papers.four_level.partitions import SUB_TEST_BYTES
from writeamp_papers.four_level.scales import scale_of
from writeamp_papers.items import Item, at_most, compared, falls, ordered, rises, settled_at, spread

KIB = 1024
NOTE = "requests are generated from Table II's statistics; the trace is not available"


@dataclass(frozen=True)
class Locality:
    """Starts of requests; shares by direction are (of writes, of reads).

    A request continues where an earlier write ended, starts where an earlier request of its
    direction started, or starts at a random sector.

    Attributes:
        continued: shares of requests that start where one of the last writes (`_RECENT`) ended.
        returning: shares, among all other requests, of starts used before.
        extent_gib: size of the range of addresses.
    """

    continued: tuple[float, float]
    returning: tuple[float, float]
    extent_gib: float


# The first 10,000 requests of F1. Its 22 volumes are taken as one range without gaps.
F1_STARTS = Locality((0.54, 0.06), (0.69, 0.42), 3.9)
_RECENT = 64


@dataclass(frozen=True)
class Statistics:
    """Statistics of a trace, for generated requests.

    Attributes:
        write_share: share of writes among the requests.
        written_gib: GiB that the whole trace writes.
        mean_bytes, most_bytes: mean and largest sizes by direction, (write, read).
        locality: where requests start.
    """

    name: str
    write_share: float
    written_gib: float
    mean_bytes: tuple[float, float]
    most_bytes: tuple[int, int]
    locality: Locality = F1_STARTS

    def loads(self, space_bytes: int, factor: int, sub_test_bytes: int) -> Iterator[EngineLoad]:
        """Yield sub-tests of about equal written bytes, repeating the trace from its start.

        Args:
            space_bytes: logical capacity of the scaled drive.
            factor: written bytes of the real trace ÷ those of the generated trace.
            sub_test_bytes: bytes written by each sub-test.
        """
        whole_bytes = round(self.written_gib * GIB / factor)
        range_bytes = min(space_bytes, round(self.locality.extent_gib * GIB / factor))
        offsets, sizes, is_write = self.requests(range_bytes, whole_bytes, seed=1)
        written = np.cumsum(np.where(is_write, sizes, 0))
        for number in itertools.count():
            # Written bytes of a repeated trace continue at the end of the previous repetition.
            first, last = (self._place(written, at * sub_test_bytes) for at in (number, number + 1))
            chosen = np.arange(first, last) % sizes.size
            yield requests(offsets[chosen], sizes[chosen], is_write[chosen])

    @staticmethod
    def _place(written: Integers, bytes_before: int) -> int:
        """Return the number of requests of the repeated trace before `bytes_before` are written."""
        repetitions, rest = divmod(bytes_before, int(written[-1]))
        return repetitions * written.size + int(np.searchsorted(written, rest))

    def requests(
        self, range_bytes: int, volume_bytes: int, *, seed: int
    ) -> tuple[Integers, Integers, npt.NDArray[np.bool_]]:
        """Return first bytes, sizes in bytes and directions (True: write); shape (n,) each."""
        draws = np.random.default_rng(seed)
        count = round(volume_bytes / self.mean_bytes[0] / self.write_share)
        is_write = draws.random(count) < self.write_share
        sizes = np.empty(count, np.int64)
        for chosen, mean, most in zip(
            (is_write, ~is_write), self.mean_bytes, self.most_bytes, strict=True
        ):
            sizes[chosen] = _sizes(draws, int(chosen.sum()), mean, most)
        return self._offsets(draws, sizes, is_write, range_bytes), sizes, is_write

    def _offsets(
        self,
        draws: np.random.Generator,
        sizes: Integers,
        is_write: npt.NDArray[np.bool_],
        range_bytes: int,
    ) -> Integers:
        """Return first bytes of requests, multiples of the sector size.

        A request refers to an earlier one, where it continues or starts again, or to itself.
        """
        count, at = sizes.size, np.arange(sizes.size)
        continues = draws.random(count) < np.where(is_write, *self.locality.continued)
        returns = draws.random(count) < np.where(is_write, *self.locality.returning)
        earlier, steps = at.copy(), np.zeros(count, np.int64)
        for direction in (is_write, ~is_write):
            starts = at[direction & ~continues]
            _refer(earlier, starts, starts[returns[starts]], draws, count)
        _refer(earlier, at[is_write], at[continues], draws, _RECENT)
        steps[continues] = _whole_sectors(sizes[earlier[continues]])
        steps[earlier == at] = 0
        # Each pass doubles the number of references that `earlier` and `steps` have followed.
        while (earlier[earlier] != earlier).any():
            steps, earlier = steps + steps[earlier], earlier[earlier]
        sectors = (range_bytes - max(self.most_bytes)) // SECTOR_BYTES
        at_random = draws.integers(0, sectors, count) * SECTOR_BYTES
        offsets: Integers = (at_random[earlier] + steps) % (sectors * SECTOR_BYTES)
        return offsets


def _refer(
    earlier: Integers,
    targets: Integers,
    requests_at: Integers,
    draws: np.random.Generator,
    most: int,
) -> None:
    """Let requests refer to a random one of the last `most` targets before them, if any.

    Args:
        earlier: for each request, the request that it refers to; changed in place.
        targets: numbers of the requests that can be referred to, ascending.
        requests_at: numbers of the requests that refer.
        draws: source of random numbers.
        most: how many of the last targets are possible.
    """
    possible = np.searchsorted(targets, requests_at)
    ago = (draws.random(possible.size) * np.minimum(possible, most)).astype(np.int64) + 1
    refers = possible > 0
    earlier[requests_at[refers]] = targets[(possible - ago)[refers]]


def _whole_sectors(sizes: Integers) -> Integers:
    return -(-sizes // SECTOR_BYTES) * SECTOR_BYTES


def _sizes(draws: np.random.Generator, count: int, mean_bytes: float, most_bytes: int) -> Integers:
    """Draw sizes in bytes: one of the largest size, the others geometrically distributed.

    They are whole sectors, cut off at the largest size; the expected mean is `mean_bytes`.
    """
    most = most_bytes // SECTOR_BYTES
    others = (count * mean_bytes - most_bytes) / (count - 1) / SECTOR_BYTES
    rate = 1 / others
    # The mean of the cut sizes is (1 - (1 - rate)^most) / rate; the iteration solves for the rate.
    for _ in range(_ITERATIONS):
        rate = (1 - (1 - rate) ** most) / others
    sizes: Integers = np.minimum(draws.geometric(rate, count), most) * SECTOR_BYTES
    sizes[draws.integers(count)] = most_bytes
    return sizes


_ITERATIONS = 50

# Table II.
F1 = Statistics("F1", 0.77, 14.6, (3.8 * KIB, 2.3 * KIB), (16 * KIB, int(8.3 * KIB)))
F2 = Statistics("F2", 0.18, 1.8, (3.0 * KIB, 2.3 * KIB), (256 * KIB, 64 * KIB))
_TRACES = {"F1": F1, "F2": F2}
_FIGURES = {"F1": "Fig. 10", "F2": "Fig. 11"}

# "After the 13 sub-tests"; values of F2 are stable "after approximately ten".
_SUB_TESTS = 13
_STABLE = 10

# Tolerance of values that the paper states as "about": 25%. A change of WA up to 5% counts as none.
_ABOUT = 0.25
_UNNOTICED = 0.05

_Tests: TypeAlias = list[Counts]


class _OltpRun:
    """Results of the sub-tests of each trace under each reading."""

    def __init__(self, by_key: Mapping[tuple[Choices, str], _Tests]) -> None:
        self._by_key = by_key

    def tests(self, choices: Choices, name: str) -> _Tests:
        return self._by_key[_run_of(choices), name]

    def values(self, name: str, value: Callable[[_Tests], float]) -> dict[str, float]:
        """Return a value computed from a trace's sub-tests, by name of the reading."""
        return by_reading(lambda choices: value(self.tests(choices, name)))


def run(bench: Bench) -> Findings:
    """Replay both traces under each reading."""
    scale = scale_of(bench)
    runs = dict.fromkeys(_run_of(choices) for choices in CHOICES.values())
    keys = [(choices, name) for choices in runs for name in _TRACES]
    bench.step(f"F1 and F2 on a steady drive, {len(runs)} times (Figs. 10 and 11)")
    done = bench.map(_sub_tests, [(scale, choices, name) for choices, name in keys])
    runs_by_reading = _OltpRun(dict(zip(keys, done, strict=True)))
    return Findings(
        _items(runs_by_reading), _figures(runs_by_reading, scale) if bench.figures else {}
    )


def _run_of(choices: Choices) -> Choices:
    """Return a reading's choices with defaults for those that do not affect Figs. 10 and 11.

    Readings that are equal then share their runs.
    """
    return Choices(choices.firmware, sub_tests_a_trace=choices.sub_tests_a_trace)


def _sub_tests(scale: Scale, choices: Choices, name: str) -> _Tests:
    trace = _TRACES[name]
    drive = scale.drive("ssd-i", choices.firmware, reads_share_cache=True)
    volume = SUB_TEST_BYTES / scale.factor
    if choices.sub_tests_a_trace:
        volume = trace.written_gib * GIB / scale.factor / choices.sub_tests_a_trace
    loads = trace.loads(drive.capacity_bytes, scale.factor, round(volume))
    life = Life(drive, next(loads), ageing_writes=STEADY_WRITES)
    later = itertools.islice(loads, _SUB_TESTS - 1)
    return [life.settle(), *(life.go_on(load) for load in later)]


def _items(runs: _OltpRun) -> list[Item]:
    return [
        *_levels(runs),
        *_trends(runs),
        ordered(
            "Figs. 10 and 11: last write bandwidth of F2 ÷ that of F1",
            by_reading(
                lambda c: runs.tests(c, "F2")[-1].write_mb_s / runs.tests(c, "F1")[-1].write_mb_s
            ),
            note='"F1 has more write I/Os than F2"',
            statement="P5-F11-2",
        ),
        ordered(
            "Figs. 10 and 11: last WA of F1 (77% of writes) ÷ last WA of F2 (18%)",
            by_reading(lambda c: runs.tests(c, "F1")[-1].wa / runs.tests(c, "F2")[-1].wa),
            statement="P5-F11-9",
        ),
    ]


def _levels(runs: _OltpRun) -> list[Item]:
    """Return items on the values of WA and bandwidth that section V.C states."""
    printed: tuple[tuple[str, str, float, Callable[[_Tests], float], str], ...] = (
        ("F1", "WA of the first sub-test", 16, _first_wa, "P5-F10-1"),
        ("F1", "write bandwidth of the first sub-test (MB/s)", 2, _first_rate, "P5-F10-2"),
        ("F1", "WA of the last sub-test", 2, _last_wa, "P5-F10-3"),
        ("F1", "write bandwidth of the last sub-test (MB/s)", 12, _last_rate, "P5-F10-4"),
        ("F2", "WA of the last sub-test", 1.1, _last_wa, "P5-F11-3"),
        ("F2", "WA of the first sub-test", 17, _first_wa, "P5-F11-4"),
        ("F2", "write bandwidth of the first sub-test (MB/s)", 1, _first_rate, "P5-F11-5"),
    )
    return [
        compared(
            f"{_FIGURES[name]}, {name}: {what}",
            value,
            runs.values(name, of_tests),
            _ABOUT * value,
            note=NOTE,
            statement=statement,
        )
        for name, what, value, of_tests, statement in printed
    ]


def _trends(runs: _OltpRun) -> list[Item]:
    """Return items on the trends of WA and bandwidth from sub-test to sub-test."""
    items = [
        ordered(
            "Fig. 10, F1: WA of a sub-test ÷ WA of the one before, largest",
            runs.values("F1", lambda tests: falls([test.wa for test in tests])),
            statement="P5-F10-5",
        ),
        ordered(
            "Fig. 10, F1: write bandwidth of a sub-test ÷ that of the next, largest",
            runs.values("F1", lambda tests: rises([test.write_mb_s for test in tests])),
            statement="P5-F10-5",
        ),
        at_most(
            "Fig. 11, F2: factor between ten and the sub-test from which WA stays within 5%",
            1 + _ABOUT,
            runs.values("F2", _from_stable),
            note='"after approximately ten sub-tests"',
            statement="P5-F11-6",
        ),
    ]
    for name, figure in _FIGURES.items():
        items += [
            ordered(
                f"{figure}, {name}: largest later WA ÷ WA of the first sub-test",
                runs.values(name, lambda tests: max(_wa(tests[1:])) / tests[0].wa),
                statement="P5-F11-7",
            ),
            ordered(
                f"{figure}, {name}: first write bandwidth ÷ the least of the later ones",
                runs.values(
                    name,
                    lambda tests: tests[0].write_mb_s / min(test.write_mb_s for test in tests[1:]),
                ),
                statement="P5-F11-7",
            ),
            at_most(
                f"{figure}, {name}: change of WA within the last three sub-tests",
                _UNNOTICED,
                runs.values(name, lambda tests: spread(_wa(tests[-3:])) - 1),
                note="largest ÷ least, minus 1",
                statement="P5-C-4",
            ),
        ]
    return items


def _from_stable(tests: _Tests) -> float:
    """Return the ratio of our first stable sub-test's number to the paper's, or its inverse.

    It is at least 1.
    """
    return spread((_STABLE, settled_at(_wa(tests))))


def _wa(tests: Sequence[Counts]) -> list[float]:
    return [test.wa for test in tests]


def _first_wa(tests: _Tests) -> float:
    return tests[0].wa


def _last_wa(tests: _Tests) -> float:
    return tests[-1].wa


def _first_rate(tests: _Tests) -> float:
    return tests[0].write_mb_s


def _last_rate(tests: _Tests) -> float:
    return tests[-1].write_mb_s


def _figures(runs: _OltpRun, scale: Scale) -> dict[str, FigureSpec]:
    subtitle = (
        f"paper 5, Figs. 10 and 11 · SSD-I at 1/{scale.factor} of its size, generated requests · "
        f"reading {PAIR} · rings: printed values"
    )
    tests = {name: runs.tests(CHOICES[PAIR], name) for name in _TRACES}
    return {
        "fig10-11-oltp": figures.by_sub_test(
            "Write amplification of F1 and F2 after random writes",
            subtitle,
            {name: _wa(counts) for name, counts in tests.items()},
            {name: [test.write_mb_s for test in counts] for name, counts in tests.items()},
            {"F1": {1: 16.0, _SUB_TESTS: 2.0}, "F2": {1: 17.0, _SUB_TESTS: 1.1}},
        )
    }
