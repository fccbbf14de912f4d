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
import numpy.typing as npt

from writeamp.plots.spec import FigureSpec, Line, LineChart
from writeamp.plots.style import HOST_COLOR, SERIES_COLORS, WA_LABEL, WA_UNIT
from writeamp_papers.bench import Bench, Findings
from writeamp_papers.dayan2015 import drives, tpcc_theory
from writeamp_papers.dayan2015.drives import CHECKED, FULL, SHORT, Run, Size
from writeamp_papers.dayan2015.readings import (
    ALWAYS,
    AS_IN_TEXT,
    COLD_SPACE,
    DEMOTION,
    EVERY,
    FILL,
    FILLS,
    NO_RULE,
    PRINTED_RULE,
    READINGS,
    RULE,
    SLOW,
    SOME,
    WEIGHT,
    WEIGHTS,
    by_reading,
)
from writeamp_papers.items import Item, at_most, checked, compared, ordered, within
from writeamp_papers.readings import Reading

_FILLS = tuple(FILLS.values())
_FILL = _FILLS[0]

_FILTERS = "detector=bloom,false_positives=0.3"
_SINGLE = "single"
_WOLF = f"{drives.WOLF},{_FILTERS},ratio=2,hold=50,smallest=1,max_groups=16"
_FDP = f"{drives.FDP},{_FILTERS},max_groups=16"

# Closed form with the paper's rule for the coldest group, and with as little space for this group
# as `FLOOR` allows; without the rule; and with the rule always applied.
_RULE = "closed-form,coldest_ratio=0.05,coldest_op=0.05"
_LEAST_SPACE = "closed-form,coldest_ratio=0.05,coldest_op=0"
_NO_RULE = "closed-form,coldest_ratio=0,coldest_op=0.05"
_ALWAYS = "closed-form,coldest_ratio=1,coldest_op=0.05"
_OPTIMAL = "optimal"

# Share of the pages classified as cold that move to a colder group; taken literally, the paper's
# text means all of them.
_DEMOTION = 0.125
_LITERAL_DEMOTION = 1.0

_RULES = {PRINTED_RULE: _RULE, NO_RULE: _NO_RULE, ALWAYS: _ALWAYS}
_DEMOTIONS = {SOME: _DEMOTION, EVERY: _LITERAL_DEMOTION}

# Simulated numbers of FDP's groups, as the paper does not give one, and the number that is
# compared: in the paper, Wolf has 7 to 9 groups. Short reproductions simulate only this one.
_NUMBERS = (2, 3, 5, 8, 12)
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
        (*key, seed)
        for key in _keys(full=bench.full)
        for seed in range(1, 1 + _seeds(key, full=bench.full))
    ]
    runs: dict[_Key, list[Run]] = {}
    results = bench.map(partial(_simulated, size), seeded)
    for (manager, fill, _), result in zip(seeded, results, strict=True):
        runs.setdefault((manager, fill), []).append(result)
    study = _Study(size, runs)
    items = [*study.levels(), *study.groups(), *study.allocations(), *study.fdp()]
    return Findings(items, _figures(study) if bench.figures else {})


def _seeds(key: _Key, *, full: bool) -> int:
    # Short reproductions repeat only the runs of the two weights.
    repeated = [pair for reading in READINGS[:2] for pair in _wolf_of(reading)]
    is_repeated = key[0].startswith("wolf") if full else key in repeated
    return _SEEDS[full] if is_repeated else 1


def _keys(*, full: bool) -> list[_Key]:
    usual = [_SINGLE, *(_wolf(rule) for rule in (_RULE, _NO_RULE, _OPTIMAL))]
    others = [_wolf(_ALWAYS), *(_fdp(number) for number in (_NUMBERS if full else [_NUMBER]))]
    of_readings = [_wolf_of(reading) for reading in READINGS]
    keys = [*product(usual, _FILLS), *((manager, _FILL) for manager in others)]
    return list(dict.fromkeys([*keys, *(key for pair in of_readings for key in pair)]))


def _wolf_of(reading: Reading) -> tuple[_Key, _Key]:
    """Return the keys of Wolf under a reading, with the closed form and with the optimum."""
    choices = reading.choices
    rule = _RULES[choices[RULE]]
    if choices[COLD_SPACE] != AS_IN_TEXT:
        rule = _LEAST_SPACE
    fill = FILLS[choices[FILL]]
    how = (_DEMOTIONS[choices[DEMOTION]], WEIGHTS[choices[WEIGHT]])
    return (_wolf(rule, *how), fill), (_wolf(_OPTIMAL, *how), fill)


def _wolf(rule: str, demotion: float = _DEMOTION, weight: float = WEIGHTS[SLOW]) -> str:
    return f"{_WOLF},weight={weight},demotion={demotion},allocation={rule}"


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

        def numbers(reading: Reading) -> npt.NDArray[np.float64]:
            run = self.runs[_wolf_of(reading)[0]][0]
            return run.groups[(run.host_pages > start) & (run.host_pages <= end)]

        def later(reading: Reading) -> float:
            created = self.runs[_wolf_of(reading)[0]][0].created
            measured = created[(created > start) & (created <= end)]
            return float((measured > (start + end) / 2).mean()) if len(measured) else 0.0

        average = by_reading(lambda reading: float(numbers(reading).mean()))
        ours = numbers(READINGS[0])
        extremes = f"{ours.min():.0f} to {ours.max():.0f} groups"
        return [
            within(
                "Fig. 10: Wolf's groups, on average (print: between 7 and 9)",
                7,
                9,
                average,
                note=extremes,
            ),
            checked(
                within(
                    "Fig. 10: Wolf's groups, on average (independent simulations)",
                    4,
                    10,
                    average,
                    note=f"{extremes}; {CHECKED}",
                )
            ),
            compared(
                "section 6.2: Wolf continually creates groups: share of them that is created in "
                "the second half of the writes",
                0.5,
                by_reading(later),
                0.1,
            ),
        ]

    def allocations(self) -> list[Item]:
        """Return items on the loss of the closed form compared with the optimum, and its causes."""

        return [
            compared(
                "Fig. 10: migrations that the optimum saves (% of those of the closed form)",
                0.2,
                by_reading(lambda reading: self._saved(*_wolf_of(reading))),
                0.3,
                note="without the rule for the coldest group, it saves "
                f"{self._saved((_wolf(_NO_RULE), _FILL), (_wolf(_OPTIMAL), _FILL)):.1f}%",
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
            tpcc_theory.item(),
        ]

    def _saved(self, closed_form: _Key, optimum: _Key) -> float:
        return 100 * (1 - (self.wa(*optimum) - 1) / (self.wa(*closed_form) - 1))

    def fdp(self) -> list[Item]:
        """Return items on the WA of FDP, which assumes each group twice as hot as the next."""

        def excess(number: int, weight: float = WEIGHTS[SLOW]) -> float:
            return 100 * (self.wa(_fdp(number)) / self.wa(_wolf(_RULE, weight=weight)) - 1)

        ours = by_reading(lambda reading: excess(_NUMBER, WEIGHTS[reading.choices[WEIGHT]]))
        by_number = ", ".join(
            f"{excess(number):.0f}% with {number} groups"
            for number in _NUMBERS
            if (_fdp(number), _FILL) in self.runs
        )
        return [
            compared(
                "Fig. 10: excess of the WA of FDP's groups over Wolf's (\"approximately 22%\", %)",
                22,
                ours,
                3,
                note=by_number,
            ),
            ordered(
                f"Fig. 10: Wolf is consistently better, its WA minus that of FDP's {_NUMBER} "
                "groups (% of Wolf's)",
                below=0,
                ours={name: -value for name, value in ours.items()},
            ),
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
    fdp, wolf = study.wa(_fdp(_NUMBER)), study.wa(_wolf(_RULE))
    order = "agrees with" if fdp > wolf else "contradicts"
    lines = tuple(
        study.runs[manager, _FILL][0].line(
            color, label, start=study.size.writes(start), end=end, points=_SMOOTHED
        )
        for label, (manager, color, start) in managers.items()
    )
    return LineChart(
        title="Write amplification under TPC-C",
        subtitle=f"paper 3, Fig. 10 · generated trace · fill {_FILL:.4g}\n{order} the print: WA is "
        f"{fdp:.2f} with {_NUMBER} groups of FDP, {wolf:.2f} with Wolf (print: 22% more with FDP)",
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
