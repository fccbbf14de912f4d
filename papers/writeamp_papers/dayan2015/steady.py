"""Dayan et al. 2015: drives in equilibrium and eq. 3; LRU and greedy (section 5.4)."""

from __future__ import annotations

from functools import partial
from itertools import product

from writeamp import allocation
from writeamp.models._expected_value import expected_value
from writeamp.plots.spec import FigureSpec, Panel, PanelChart
from writeamp.plots.style import WA_LABEL, WA_UNIT, series_color
from writeamp_papers.bench import Bench, Findings
from writeamp_papers.dayan2015 import drives
from writeamp_papers.dayan2015.drives import (
    CHECKED,
    FILL,
    FLOOR,
    FULL,
    SHORT,
    WOLF,
    Run,
    Size,
    groups,
)
from writeamp_papers.dayan2015.readings import (
    AS_IN_TEXT,
    COLD_SPACE,
    LEAST,
    SMALLEST,
    WEIGHT,
    WEIGHTS,
    by_reading,
)
from writeamp_papers.items import Item, checked, compared, ordered, within
from writeamp_papers.readings import Reading

_GREEDY, _LRU = "greedy", "fifo"
_LAYOUTS = {"flat": "one pool", "striped-per-lun": "8 LUNs"}

# Update frequencies of groups of equal size.
_STATIC = {"two groups 10/90": (10, 90), "five groups 1/2/4/8/16": (1, 2, 4, 8, 16)}
_ONE_GROUP = "wolf:detector=none"
_OPTIMAL = f"{WOLF},allocation=optimal,weight=0.015"

# Writes on the paper's drive until it is steady, and measured writes after that.
_SETTLING = 5e6
_MEASURED = 10e6

# Double swap of Fig. 2, in writes: from the start to the first swap, from there to the second swap,
# from there until the WA of greedy has converged, and after the second swap in the figure.
_UNTIL_SWAP = 5e6
_UNTIL_SWAP_BACK = 2e6
_CONVERGED = 1e6
_DRAWN = 1e6

# Spare space of the cold group as a share of its size (§5.5.3: 5%). Both groups have one size, so
# either is the smallest.
_COLD_SPACE = {AS_IN_TEXT: 0.05, SMALLEST: 0.05, LEAST: 0.002}
# Simulated weights of the last interval in measured frequencies, and spare spaces of the cold
# group.
_CHOICES = (
    (0.015, 0.05),
    (0.015, 0.005),
    (0.015, 0.002),
    (0.003, 0.05),
    (0.003, 0.01),
    (0.003, 0.002),
)

# Keys: (load, layout, victim policy); and (weight, spare space of the cold group, victim policy).
_Steady = dict[tuple[str, str, str], float]
_Swapped = dict[tuple[float, float, str], Run]


def run(bench: Bench) -> Findings:
    """Compute the items, and figure 2 if requested."""
    size = FULL if bench.full else SHORT
    bench.step("drives in equilibrium (eq. 3)")
    keys = [*product(("uniform", *_STATIC), _LAYOUTS, (_GREEDY, _LRU))]
    steady = dict(zip(keys, bench.map(partial(_steady_wa, size), keys), strict=True))
    bench.step("LRU and greedy after a double swap (Fig. 2)")
    choices = [(*choice, victims) for choice in _CHOICES for victims in (_GREEDY, _LRU)]
    swapped = dict(zip(choices, bench.map(partial(_double_swap, size), choices), strict=True))
    items = [*_uniform(steady), *_static(steady), *_lru(size, steady, swapped)]
    figures: dict[str, FigureSpec] = {"fig2-double-swap": _figure_2(size, swapped)}
    return Findings(items, figures if bench.figures else {})


def _steady_wa(size: Size, load: str, layout: str, victims: str) -> float:
    settling, measured = size.writes(_SETTLING), size.writes(_MEASURED)
    workload, manager = load, _ONE_GROUP
    if load in _STATIC:
        # Only a phase can contain the spec of groups, so the workload has a single phase.
        workload = f"phases:writes={settling + measured},of={groups(_STATIC[load])}"
        manager = _OPTIMAL
    drive = size.device(layout=layout)
    run = drives.run(manager, victims, workload, drive, settling + measured)
    return run.wa(settling, settling + measured)


def _uniform(steady: _Steady) -> list[Item]:
    theory = float(expected_value(1 / FILL - 1))
    return [
        *(
            checked(
                within(
                    f"eq. 3, simulated: uniform writes, greedy, {name}",
                    1.845,
                    1.885,
                    steady["uniform", layout, _GREEDY],
                    note=f"eq. 3 gives {theory:.3f}; {CHECKED}",
                )
            )
            for layout, name in _LAYOUTS.items()
        ),
        *(
            compared(
                f"eq. 3, simulated: uniform writes, LRU, {name}",
                theory,
                steady["uniform", layout, _LRU],
                0.01,
                note="the text derives eq. 3 for LRU, with K collections between two of a block",
            )
            for layout, name in _LAYOUTS.items()
        ),
    ]


def _static(steady: _Steady) -> list[Item]:
    items = []
    for load, frequencies in _STATIC.items():
        sizes = [1 / len(frequencies)] * len(frequencies)
        shares = [frequency / sum(frequencies) for frequency in frequencies]
        theory = float(allocation.optimal(sizes, shares, 1 / FILL - 1).wa)
        for (layout, name), most in zip(_LAYOUTS.items(), (1.0, 2.0), strict=True):
            wa = steady[load, layout, _GREEDY]
            items.append(
                checked(
                    within(
                        f"eq. 5, simulated: {load}, excess of WA over theory, optimal space, "
                        f"greedy, {name} (%)",
                        -1.5,
                        most,
                        100 * (wa / theory - 1),
                        note=f"{wa:.3f} simulated, {theory:.3f} in theory; {CHECKED}",
                    )
                )
            )
    return items


def _double_swap(size: Size, weight: float, cold_op: float, victims: str) -> Run:
    until_swap = size.writes(_UNTIL_SWAP)
    until_swap_back = until_swap + size.writes(_UNTIL_SWAP_BACK)
    workload = f"groups:sizes=1/1,freq=1/0,swap_at={until_swap}/{until_swap_back}"
    manager = (
        f"wolf:interval=0.001,allocation=closed-form,weight={weight},coldest_ratio=0.05,"
        f"coldest_op={cold_op},floor={min(cold_op, FLOOR)}"
    )
    writes = until_swap_back + size.writes(_DRAWN)
    return drives.run(manager, victims, workload, size.device(), writes)


def _lru(size: Size, steady: _Steady, swapped: _Swapped) -> list[Item]:
    start = size.writes(_UNTIL_SWAP + _UNTIL_SWAP_BACK)
    end = start + size.writes(_CONVERGED)
    excess = {}
    for weight, cold_op in _CHOICES:
        greedy, lru = (
            swapped[weight, cold_op, victims].migrated(start, end) for victims in (_GREEDY, _LRU)
        )
        excess[weight, cold_op] = 100 * (lru / greedy - 1)

    def of(reading: Reading) -> float:
        return excess[WEIGHTS[reading.choices[WEIGHT]], _COLD_SPACE[reading.choices[COLD_SPACE]]]

    return [
        *(
            checked(
                within(
                    f"section 5.4: excess of LRU's migrations over greedy's, steady, {load}, "
                    f"{name} (%)",
                    1,
                    5,
                    100
                    * ((steady[load, layout, _LRU] - 1) / (steady[load, layout, _GREEDY] - 1) - 1),
                    note=CHECKED,
                )
            )
            for load in ("uniform", *_STATIC)
            for layout, name in _LAYOUTS.items()
        ),
        compared(
            "Fig. 2: excess of LRU's migrations over greedy's in 1 M writes after a double "
            "swap (%)",
            15,
            by_reading(of),
            5,
            note="by spare space of the cold group and weight: "
            + ", ".join(
                f"{value:.0f}% with {100 * op:g}% at {weight}"
                for (weight, op), value in excess.items()
            ),
        ),
        ordered(
            "Fig. 2: greedy's migrations after a double swap ÷ LRU's, largest of all choices",
            max(1 / (1 + value / 100) for value in excess.values()),
        ),
    ]


def _figure_2(size: Size, swapped: _Swapped) -> PanelChart:
    start = size.writes(_UNTIL_SWAP + _UNTIL_SWAP_BACK)
    panels = []
    for weight, cold_op in _CHOICES:
        lines = (
            swapped[weight, cold_op, victims].line(
                series_color(index), name, start=start, end=start + size.writes(_DRAWN), zero=start
            )
            for index, (victims, name) in enumerate(((_GREEDY, "greedy"), (_LRU, "LRU")))
        )
        panels.append(Panel(f"weight {weight}, spare {100 * cold_op:g}%", tuple(lines)))
    return PanelChart(
        title="Greedy and LRU after a double swap of a hot and a cold group",
        subtitle="paper 3, Fig. 2 · panels: spare space of the cold group in % of its size "
        f"· fill {FILL}",
        x_label="writes since the second swap (millions)",
        y_label=f"{WA_LABEL}\n({WA_UNIT})",
        panels=tuple(panels),
        columns=3,
        own_y=True,
    )
