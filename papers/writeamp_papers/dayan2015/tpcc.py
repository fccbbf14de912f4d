"""Dayan et al. 2015, section 6.2: TPC-C, in which each page has a constant update frequency.

The trace is not published. The workload `tpcc` replaces it, with the histogram of Fig. 9.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from statistics import fmean

import numpy as np

from writeamp import allocation
from writeamp.allocation.coldest import ColdestGroup
from writeamp.plots.spec import FigureSpec, Line, LineChart
from writeamp.plots.style import HOST_COLOR, SERIES_COLORS, WA_LABEL, WA_UNIT
from writeamp_papers.bench import Bench, Findings
from writeamp_papers.dayan2015 import drives
from writeamp_papers.dayan2015 import updates as update_frequencies
from writeamp_papers.dayan2015.drives import CHECKED, FLOOR, FULL, SHORT, Run, Size
from writeamp_papers.dayan2015.readings import (
    ALWAYS,
    AS_IN_TEXT,
    COLD_SPACE,
    DEMOTION,
    EVERY,
    FDP_GROUPS,
    LEAST,
    NO_RULE,
    OF_TABLE_2,
    OF_THE_PAGES,
    PRINTED_RULE,
    RULE,
    SOME,
    by_reading,
)
from writeamp_papers.dayan2015.readings import FILL as FILL_READ
from writeamp_papers.items import Item, at_most, checked, compared, ordered, within
from writeamp_papers.readings import Reading

# Fill (logical ÷ physical pages): that of 802,816 pages on Table 2's drive, and Table 2's value.
_FILLS = (0.765625, 0.7)
_FILL = _FILLS[0]

_FILTERS = "detector=bloom,false_positives=0.3"
_SINGLE = "single"
_WOLF = f"{drives.WOLF},{_FILTERS},ratio=2,hold=50,smallest=1,max_groups=16,weight=0.015"
_FDP = f"{drives.FDP},{_FILTERS},max_groups=16"

# Closed form with the paper's rule for the coldest group; without the rule; and with the rule
# always applied.
_RULE = "closed-form,coldest_ratio=0.05,coldest_op=0.05"
_NO_RULE = "closed-form,coldest_ratio=0,coldest_op=0.05"
_ALWAYS = "closed-form,coldest_ratio=1,coldest_op=0.05"
_OPTIMAL = "optimal"

# Share of the pages classified as cold that move to a colder group; taken literally, the paper's
# text means all of them.
_DEMOTION = 0.125
_LITERAL_DEMOTION = 1.0

_RULES = {PRINTED_RULE: _RULE, NO_RULE: _NO_RULE, ALWAYS: _ALWAYS}
_DEMOTIONS = {SOME: _DEMOTION, EVERY: _LITERAL_DEMOTION}
_FILL_OF = dict(zip((OF_THE_PAGES, OF_TABLE_2), _FILLS, strict=True))
# All runs give each group at least 2% of its size as spare space (`FLOOR`), so no smaller value
# exists.
_COLD_SPACE = {AS_IN_TEXT: 0.05, LEAST: FLOOR}

# Simulated numbers of FDP's groups, as the paper does not give one, and the number of Fig. 10; in
# the paper, Wolf has 7 to 9 groups.
_NUMBERS = (2, 3, 4, 5, 6, 8, 10, 12)
_NUMBER = 8

# Writes on the paper's drive until WA is steady, and measured writes after that: 47 M in total, as
# in the paper.
_SETTLING = 27e6
_MEASURED = 20e6
_MILLIONS = (_SETTLING + _MEASURED) / 1e6

# Recorded intervals averaged in one drawn point of Fig. 10; the paper also smooths its curves.
_SMOOTHED = 10

# Wolf's groups change with the seed, so its WA is the mean of several runs: the first number is for
# short reproductions, the second for full ones.
_SEEDS = (2, 3)

# Key: (spec of the block manager, fill).
_Key = tuple[str, float]
_Runs = Mapping[_Key, Sequence[Run]]


def run(bench: Bench) -> Findings:
    """Compute the items of section 6.2, and figure 10 if requested."""
    size = FULL if bench.full else SHORT
    bench.step("TPC-C (Fig. 10)")
    seeded = [
        (*key, seed) for key in _keys() for seed in range(1, 1 + _seeds(key, full=bench.full))
    ]
    runs: dict[_Key, list[Run]] = {}
    results = bench.map(partial(_simulated, size), seeded)
    for (manager, fill, _), result in zip(seeded, results, strict=True):
        runs.setdefault((manager, fill), []).append(result)
    study = _Study(size, runs)
    items = [*study.levels(), *study.groups(), *study.allocations(), *study.fdp()]
    return Findings(items, _figures(study) if bench.figures else {})


def _seeds(key: _Key, *, full: bool) -> int:
    return _SEEDS[full] if key[0].startswith("wolf") else 1


def _keys() -> list[_Key]:
    usual = [_SINGLE, *(_wolf(rule) for rule in (_RULE, _NO_RULE, _ALWAYS, _OPTIMAL))]
    literal = [_wolf(rule, _LITERAL_DEMOTION) for rule in (_RULE, _OPTIMAL)]
    fdp = [_fdp(number) for number in _NUMBERS]
    return [*product((*usual, *literal), _FILLS), *((manager, _FILL) for manager in fdp)]


def _wolf(rule: str, demotion: float = _DEMOTION) -> str:
    return f"{_WOLF},demotion={demotion},allocation={rule}"


def _fdp(number: int) -> str:
    return f"{_FDP},demotion={_DEMOTION},allocation=closed-form,groups={number}"


def _simulated(size: Size, manager: str, fill: float, seed: int) -> Run:
    writes = size.writes(_SETTLING) + size.writes(_MEASURED)
    # FDP collects greedily, too, because section 6.2 compares only its groups with Wolf's (the
    # green line of Fig. 10).
    drive = size.device(fill=fill)
    return drives.run(manager, "greedy", "tpcc", drive, writes, seed=seed)


@dataclass(frozen=True)
class _Study:
    """Runs of section 6.2, and their items."""

    size: Size
    runs: _Runs

    @property
    def measured(self) -> tuple[int, int]:
        """First and last host page count of the measured writes."""
        start = self.size.writes(_SETTLING)
        return start, start + self.size.writes(_MEASURED)

    def wa(self, manager: str, fill: float = _FILL) -> float:
        return fmean(run.wa(*self.measured) for run in self.runs[manager, fill])

    def levels(self) -> list[Item]:
        """Return items on write amplification with a single group of pages and with Wolf."""
        single, wolf = self.wa(_SINGLE), self.wa(_wolf(_RULE))
        return [
            *(
                checked(
                    compared(
                        f"Fig. 10: WA of a single group, fill {fill:g}",
                        published,
                        self.wa(_SINGLE, fill),
                        0.01 * published,
                        note=CHECKED,
                    )
                )
                for fill, published in zip(_FILLS, (2.90, 2.46), strict=True)
            ),
            *(
                checked(
                    within(
                        f"Fig. 10: WA of Wolf, {name}, fill {_FILL:g}",
                        1.4,
                        1.95,
                        self.wa(_wolf(rule)),
                        note=CHECKED,
                    )
                )
                for name, rule in (("closed form", _RULE), ("optimum", _OPTIMAL))
            ),
            checked(
                at_most(
                    f"Fig. 10: WA of Wolf ÷ WA of a single group, fill {_FILL:g}",
                    0.7,
                    wolf / single,
                    note=f"{wolf:.3f} and {single:.3f}; {CHECKED}",
                )
            ),
        ]

    def groups(self) -> list[Item]:
        """Return items on the number of Wolf's groups, and on when groups are created."""
        start, end = self.measured
        wolf_run = self.runs[_wolf(_RULE), _FILL][0]
        numbers = wolf_run.groups[(wolf_run.host_pages > start) & (wolf_run.host_pages <= end)]
        created = wolf_run.created[(wolf_run.created > start) & (wolf_run.created <= end)]
        later = float((created > (start + end) / 2).mean()) if len(created) else 0.0
        extremes = f"{numbers.min():.0f} to {numbers.max():.0f} groups"
        return [
            within(
                "Fig. 10: Wolf's groups, on average (print: between 7 and 9)",
                7,
                9,
                float(numbers.mean()),
                note=extremes,
            ),
            checked(
                within(
                    "Fig. 10: Wolf's groups, on average (independent simulations)",
                    4,
                    10,
                    float(numbers.mean()),
                    note=f"{extremes}; {CHECKED}",
                )
            ),
            compared(
                "section 6.2: Wolf continually creates groups: share of them that is created in "
                "the second half of the writes",
                0.5,
                later,
                0.1,
                note=f"{len(created)} groups were created in the measured writes",
            ),
        ]

    def allocations(self) -> list[Item]:
        """Return items on the loss of the closed form compared with the optimum, and its causes."""

        def saved(reading: Reading) -> float:
            demotion = _DEMOTIONS[reading.choices[DEMOTION]]
            # If every page classified as cold is demoted, only the rule as printed is simulated.
            rule = _RULES[reading.choices[RULE]]
            return self._saved(rule, _FILL_OF[reading.choices[FILL_READ]], demotion)

        return [
            compared(
                "Fig. 10: migrations that the optimum saves (% of those of the closed form)",
                0.2,
                by_reading(saved),
                0.3,
                note="without the rule for the coldest group, it saves "
                f"{self._saved(_NO_RULE, _FILL):.1f}%",
            ),
            *(
                checked(
                    within(
                        "Fig. 10: excess of the closed form's WA, without the rule, over the "
                        "optimum's, "
                        f"fill {fill:g} (%)",
                        10,
                        19,
                        100 * (self.wa(_wolf(_NO_RULE), fill) / self.wa(_wolf(_OPTIMAL), fill) - 1),
                        note=CHECKED,
                    )
                )
                for fill in _FILLS
            ),
            ordered(
                f"section 5.5.3: WA with the rule always acting ÷ WA without it, fill {_FILL:g}",
                self.wa(_wolf(_ALWAYS)) / self.wa(_wolf(_NO_RULE)),
            ),
            *_in_theory(),
        ]

    def _saved(self, rule: str, fill: float, demotion: float = _DEMOTION) -> float:
        closed, optimal = (
            self.wa(_wolf(allocation_rule, demotion), fill) for allocation_rule in (rule, _OPTIMAL)
        )
        return 100 * (1 - (optimal - 1) / (closed - 1))

    def fdp(self) -> list[Item]:
        """Return items on the WA of FDP, which assumes each group twice as hot as the next."""
        wolf = self.wa(_wolf(_RULE))
        worse = {number: 100 * (self.wa(_fdp(number)) / wolf - 1) for number in _NUMBERS}
        ours = by_reading(lambda reading: worse[int(reading.choices[FDP_GROUPS])])
        by_number = ", ".join(f"{value:.0f}% with {number}" for number, value in worse.items())
        return [
            compared(
                "Fig. 10: excess of the WA of FDP's groups over Wolf's (\"approximately 22%\", %)",
                22,
                ours,
                3,
                note=by_number,
            ),
            ordered(
                "Fig. 10: Wolf is consistently better, its WA minus that of FDP's groups (% "
                "of Wolf's)",
                below=0,
                ours={name: -value for name, value in ours.items()},
            ),
        ]


def _in_theory() -> list[Item]:
    """Return the item on the closed form's extra WA in theory, with Fig. 9's clusters as groups."""
    sizes = [share for share, _, _ in update_frequencies.CLUSTERS]
    means = [mean for _, mean, _ in update_frequencies.CLUSTERS]
    low, high = update_frequencies.TAIL
    tail, tail_mean = update_frequencies.TAIL_SHARE, (high - low) / np.log(high / low)

    def lost(fill: float, cold_op: float, *, with_tail: bool) -> float:
        """Return the closed form's extra WA in percent of the optimal WA.

        `cold_op` is the space of the coldest group under the closed form, divided by its size.
        """
        of_groups = [*sizes, tail] if with_tail else sizes
        updates = [0.0, *means, tail_mean][: len(of_groups) + 1]
        pages = np.array([1 - sum(of_groups), *of_groups])
        shares = pages * updates / (pages @ updates)
        op = 1 / fill - 1
        rule = ColdestGroup(op=cold_op, below=0.05)
        closed = allocation.closed_form(pages, shares, op, coldest=rule)
        optimal = allocation.optimal(pages, shares, op, coldest=ColdestGroup(op=FLOOR))
        return 100 * (float(closed.wa) / float(optimal.wa) - 1)

    choices = {
        f"with {100 * cold_op:g}%{', and the hot tail' if with_tail else ''} at fill {fill:.4g}": (
            lost(fill, cold_op, with_tail=with_tail)
        )
        for fill, cold_op, with_tail in product(_FILLS, (FLOOR, 0.05), (False, True))
    }

    def of(reading: Reading) -> float:
        cold_op = _COLD_SPACE[reading.choices[COLD_SPACE]]
        return lost(_FILL_OF[reading.choices[FILL_READ]], cold_op, with_tail=True)

    return [
        compared(
            "Fig. 10, in theory: excess of the closed form's WA over the optimum's, groups "
            "known (%)",
            0.2,
            by_reading(of),
            0.3,
            note=", ".join(f"{value:.1f} {choice}" for choice, value in choices.items()),
        )
    ]


def _figures(study: _Study) -> dict[str, FigureSpec]:
    """Describe Fig. 10 as two figures: write amplification, and the number of groups."""
    return {"fig10-tpcc": _figure_of_wa(study), "fig10-groups": _figure_of_groups(study)}


def _figure_of_wa(study: _Study) -> LineChart:
    # If the rule always acts, the single group at the start has too little space, which distorts
    # WA. So that line begins 3 million writes later.
    managers = {
        "one group": (_SINGLE, HOST_COLOR, 0.0),
        f"{_NUMBER} groups of FDP": (_fdp(_NUMBER), SERIES_COLORS[2], 0.0),
        "Wolf, closed form": (_wolf(_RULE), SERIES_COLORS[0], 0.0),
        "Wolf, closed form, coldest-group rule always acting": (
            _wolf(_ALWAYS),
            SERIES_COLORS[3],
            3e6,
        ),
        "Wolf, optimum": (_wolf(_OPTIMAL), SERIES_COLORS[1], 0.0),
    }
    _, end = study.measured
    lines = tuple(
        study.runs[manager, _FILL][0].line(
            color, label, start=study.size.writes(start), end=end, points=_SMOOTHED
        )
        for label, (manager, color, start) in managers.items()
    )
    return LineChart(
        title="Write amplification under TPC-C",
        subtitle=f"paper 3, Fig. 10 · generated trace · fill {_FILL:.4g}",
        x_label="writes (millions on the paper's drive)",
        y_label=f"{WA_LABEL}\n({WA_UNIT})",
        lines=lines,
    )


def _figure_of_groups(study: _Study) -> LineChart:
    lines = []
    for color, label, rule in zip(
        SERIES_COLORS, ("closed form", "optimum"), (_RULE, _OPTIMAL), strict=False
    ):
        wolf_run = study.runs[_wolf(rule), _FILL][0]
        millions = _MILLIONS * wolf_run.host_pages / wolf_run.host_pages[-1]
        lines.append(Line(millions.tolist(), wolf_run.groups.tolist(), color, 0.8, label=label))
    return LineChart(
        title="Wolf's groups under TPC-C, created and merged continually",
        subtitle=f"paper 3, Fig. 10 · generated trace · fill {_FILL:.4g}",
        x_label="writes (millions on the paper's drive)",
        y_label="groups of pages",
        lines=tuple(lines),
    )
