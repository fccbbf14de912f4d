"""Dayan et al. 2015, sections 4 and 5.5: analytic results of the model."""

from __future__ import annotations

from itertools import product
from typing import TypeAlias

import numpy as np
import polars as pl

from writeamp import allocation
from writeamp.allocation.exploration import FEWEST_GROUPS, MOST_GROUPS
from writeamp.allocation.methods import by_frequency, by_size, closed_form
from writeamp.allocation.result import Allocation
from writeamp.models._arguments import FloatArray
from writeamp.models._expected_value import expected_value
from writeamp.plots import FigureSpec
from writeamp.plots.figures.allocation import over_optimal, wa_over_division
from writeamp.plots.spec import Line, Panel, PanelChart
from writeamp.plots.style import SERIES_COLORS
from writeamp_papers.bench import Bench, Findings
from writeamp_papers.items import Erratum, Item, at_most, checked, compared

# Ratios of logical to physical pages (LBA/PBA); figures 3 and 4 use 0.7.
FILLS = (0.6, 0.7, 0.8, 0.9)
_FILL = 0.7
CHUNKS = (10, 20)

# Number of page groups in Fig. 5, and the largest that short reproductions explore for 20 chunks.
# No item depends on more groups, which take seven times as long.
_GROUPS = 5

_CHECKED = "checked value: independent calculation, not in the paper"

# Tolerances of the texts "between 2% … and 9%" (in percentage points) and "a little over a million"
# (as a ratio).
_TO_ONE_DIGIT = 0.5
_A_LITTLE = 0.05

# Shares of the pages and of the writes of the first of two groups. They are our choice, as the
# paper does not state the shares of Fig. 3.
_TWO_GROUPS = ((0.5, 0.9), (0.2, 0.8), (0.3, 0.5), (0.1, 0.6))

# WA tends to infinity as a group's share of the spare space tends to 0, so higher WA is not drawn.
_MOST_WA_SHOWN = 4.0

Explored: TypeAlias = dict[tuple[int, float], pl.DataFrame]


def run(bench: Bench) -> Findings:
    """Compute the items, and figures 1, 3, 4 and 5 if requested."""
    bench.step("the model of a group (eqs. 3 to 9)")
    items = _model() + _misprints()
    explored: Explored = {}
    for chunks, fill in _cells(full=bench.full):
        bench.step(f"every workload of {chunks} chunks at LBA/PBA {fill}")
        most = MOST_GROUPS if bench.full or chunks < CHUNKS[-1] else _GROUPS
        explored[chunks, fill] = allocation.explore(chunks, _op(fill), most_groups=most)
    items += _workloads() + _largest(explored) + _means(explored)
    if not bench.figures:
        return Findings(items)
    figures: dict[str, FigureSpec] = {
        "fig1-equilibrium": _figure_1(),
        "fig3-two-groups": _figure_3(),
        "fig4-closed-form": _figure_4(explored),
        "fig5-closed-form": _figure_5(explored),
    }
    return Findings(items, figures)


def _cells(*, full: bool) -> list[tuple[int, float]]:
    """Return numbers of chunks and fills; the largest values for 20 chunks are at the last fill.

    The short form leaves out fills for 20 chunks.
    """
    left_out = set() if full else {(CHUNKS[-1], fill) for fill in FILLS[:-1] if fill != _FILL}
    return [cell for cell in product(CHUNKS, FILLS) if cell not in left_out]


def _op(fill: float) -> float:
    return 1 / fill - 1


def _model() -> list[Item]:
    """Return items on eq. 3 at the default drive, and on the largest error of eq. 9."""
    from scipy.special import lambertw  # type: ignore[import-untyped]  # noqa: PLC0415 (slow)

    wa = float(expected_value(_op(_FILL)))
    fills = np.arange(1, 100) / 100
    by_eq_3 = 1 - 1 / np.asarray(expected_value(1 / fills - 1))
    by_eq_9 = -fills * lambertw(-np.exp(-1 / fills) / fills).real
    return [
        checked(
            compared(
                "eq. 3: valid share δ at LBA/PBA 0.7", 0.466996422, 1 - 1 / wa, 5e-10, note=_CHECKED
            )
        ),
        checked(
            compared("eq. 3: WA = 1/(1-δ) at LBA/PBA 0.7", 1.876160014, wa, 5e-10, note=_CHECKED)
        ),
        checked(
            at_most(
                "appendix A: largest distance of eq. 9 from eq. 3, LBA/PBA 0.01 to 0.99",
                1e-9,
                float(np.abs(by_eq_9 - by_eq_3).max()),
                note="eq. 9 in double precision by the principal branch",
            )
        ),
    ]


def _misprints() -> list[Item]:
    """Return items on equations 4, 7 and 8 as printed, at LBA = 0.7 and OP = 0.3 of PBA."""
    op = _op(_FILL)
    sizes, frequencies = [0.5, 0.5], [0.1, 0.9]
    whole = 1 - 1 / float(by_size([1.0], [1.0], op).wa)

    def space(division: Allocation) -> float:
        """Return the space of all groups in units of LBA."""
        return float((division.op_of_group * sizes).sum())

    return [
        compared(
            "eq. 4: (δ-1)/ln δ of a group with s = 0.7, OP = 0.3",
            0.7 / (0.7 - 0.3),
            (whole - 1) / np.log(whole),
            1e-9,
            erratum=Erratum(0.7, 1e-9, "s/(s - OP) should be s/(s + OP), by eq. 3"),
        ),
        compared(
            "eq. 7, second line: space of all groups / LBA at LBA/PBA 0.7",
            1 / op + 1,
            space(by_frequency(sizes, frequencies, op)),
            1e-9,
            erratum=Erratum(
                3 / 7,
                1e-9,
                "1/V + 1 in the second line is not OP; the first line, p·OP, is right",
            ),
        ),
        compared(
            "eq. 8: space of all groups / LBA at LBA/PBA 0.7",
            (op + 1 / op + 1) / 2,
            space(closed_form(sizes, frequencies, op)),
            1e-9,
            erratum=Erratum(3 / 7, 1e-9, "as eq. 7; it should be OP·(s/LBA + p)/2"),
        ),
    ]


def _workloads() -> list[Item]:
    """Return items on the number of workloads that section 5.5 explores."""
    numbers = range(FEWEST_GROUPS, MOST_GROUPS + 1)
    number = {
        chunks: sum(
            len(of_writes)
            for groups in numbers
            for _, of_writes in allocation.configurations(chunks, groups)
        )
        for chunks in CHUNKS
    }
    return [
        compared(
            'section 5.5.3: workloads, Q = 10 and 20 ("a little over a million")',
            1e6,
            sum(number.values()),
            _A_LITTLE * 1e6,
        ),
        checked(compared("section 5.5.3: workloads, Q = 10", 1023, number[10], 0, note=_CHECKED)),
        checked(
            compared("section 5.5.3: workloads, Q = 20", 1_042_014, number[20], 0, note=_CHECKED)
        ),
    ]


def _largest(explored: Explored) -> list[Item]:
    """Return items on the largest excess of the closed form's WA over the optimal WA."""
    largest = {cell: _maximum(distances, "max") for cell, distances in explored.items()}
    least_of_10 = min(largest[10, fill] for fill in FILLS)
    most_of_20 = max(value for (chunks, _), value in largest.items() if chunks == 20)
    calculated = {(10, 0.7): 2.01, (20, 0.7): 5.84, (10, 0.9): 2.73, (20, 0.9): 8.90}
    return [
        compared(
            'section 5.5.3: largest excess of closed-form WA, Q = 10 ("between 2%")',
            2,
            least_of_10,
            _TO_ONE_DIGIT,
            note="in % of the optimal WA, at the LBA/PBA with the smallest of these excesses",
        ),
        compared(
            'section 5.5.3: largest excess of closed-form WA, Q = 20 ("and 9%")',
            9,
            most_of_20,
            _TO_ONE_DIGIT,
            note="in % of the optimal WA, at the LBA/PBA with the largest of these excesses",
        ),
        *(
            checked(
                compared(
                    f"section 5.5.3: largest excess of closed-form WA (%), Q = {chunks}, "
                    f"LBA/PBA {fill}",
                    published,
                    largest[chunks, fill],
                    0.005,
                    note=_CHECKED,
                )
            )
            for (chunks, fill), published in calculated.items()
        ),
    ]


def _means(explored: Explored) -> list[Item]:
    """Return items on the mean excess of the closed form's WA, by number of groups."""
    at_70 = max(_maximum(explored[chunks, _FILL], "mean") for chunks in CHUNKS)
    anywhere = max(_maximum(distances, "mean") for distances in explored.values())
    calculated = {10: (0.236, 0.396, 0.384, 0.315), 20: (0.484, 0.857, 0.964, 0.948)}
    twice = Erratum(0.31448, 5e-6, "0.31448 was rounded to 0.3145, and that to 0.315")
    return [
        at_most(
            'Fig. 4: largest mean excess of closed-form WA (%), LBA/PBA 0.7 ("below 1%")',
            1.0,
            at_70,
        ),
        compared(
            'section 5.5.3: largest mean excess of closed-form WA (%), any LBA/PBA ("below 1%")',
            1.0,
            anywhere,
            0.0,
            erratum=Erratum(
                1.30,
                0.005,
                "above 1% for Q = 20 and some numbers of groups at LBA/PBA 0.8 and 0.9",
            ),
        ),
        *(
            checked(
                compared(
                    f"Fig. 4: mean excess of closed-form WA (%), Q = {chunks}, {groups} groups",
                    published,
                    explored[chunks, _FILL]["mean_over_optimal_percent"][groups - 2],
                    0.0005,
                    note=_CHECKED,
                    erratum=twice if (chunks, groups) == (10, 5) else None,
                )
            )
            for chunks, means in calculated.items()
            for groups, published in enumerate(means, start=2)
        ),
    ]


def _maximum(distances: pl.DataFrame, kind: str) -> float:
    return float(np.max(distances[f"{kind}_over_optimal_percent"].to_numpy()))


def _figure_1() -> PanelChart:
    fills = np.linspace(0.3, 0.95, 131)
    wa = np.asarray(expected_value(1 / fills - 1))
    lines = (
        Line(fills.tolist(), wa.tolist(), SERIES_COLORS[0], label="WA"),
        Line(fills.tolist(), (1 - 1 / wa).tolist(), SERIES_COLORS[1], dash="dash", label="δ"),
    )
    return PanelChart(
        title="Valid share δ of collected blocks, and write amplification, in equilibrium",
        subtitle="paper 3, Fig. 1 · uniform random writes, eq. 3",
        x_label="fill U/T = LBA/PBA",
        y_label="WA = 1/(1-δ), and δ",
        panels=(Panel("", lines),),
        columns=1,
        y_log=True,
    )


def _figure_3() -> PanelChart:
    op = _op(_FILL)
    shares = np.linspace(0.01, 0.99, 197)
    curves = {}
    for size, frequency in _TWO_GROUPS:
        wa = _wa_of_division(size, frequency, shares)
        shown = wa < _MOST_WA_SHOWN
        name = f"s = {size:g}/{1 - size:g}, p = {frequency:g}/{1 - frequency:g}"
        curves[name] = (shares[shown], wa[shown])
    points = {
        name: [
            (float(division.op_shares[0]), float(division.wa))
            for division in (method([s, 1 - s], [p, 1 - p], op) for s, p in _TWO_GROUPS)
        ]
        for name, method in allocation.METHODS.items()
    }
    return wa_over_division(
        curves, points, subtitle="paper 3, Fig. 3 · LBA/PBA 0.7 · our choice of workloads"
    )


def _wa_of_division(size: float, frequency: float, shares: FloatArray) -> FloatArray:
    op = _op(_FILL)
    first = np.asarray(expected_value(shares * op / size))
    second = np.asarray(expected_value((1 - shares) * op / (1 - size)))
    return frequency * first + (1 - frequency) * second


def _figure_4(explored: Explored) -> PanelChart:
    numbers = explored[CHUNKS[-1], _FILL]["groups"].to_list()
    rows = {chunks: explored[chunks, _FILL][: len(numbers)] for chunks in CHUNKS}
    return over_optimal(
        numbers,
        {
            f"Q = {chunks}": (
                distances["mean_over_optimal_percent"].to_list(),
                distances["max_over_optimal_percent"].to_list(),
            )
            for chunks, distances in rows.items()
        },
        title="Excess of the closed form's WA over the optimum's, by number of groups",
        subtitle="paper 3, Fig. 4 · every workload of Q chunks · LBA/PBA 0.7",
        x_label="groups",
    )


def _figure_5(explored: Explored) -> PanelChart:
    fills = [fill for fill in FILLS if all((chunks, fill) in explored for chunks in CHUNKS)]

    def over(chunks: int, kind: str) -> list[float]:
        columns = (explored[chunks, fill][f"{kind}_over_optimal_percent"] for fill in fills)
        return [float(column[_GROUPS - 2]) for column in columns]

    return over_optimal(
        fills,
        {f"Q = {chunks}": (over(chunks, "mean"), over(chunks, "max")) for chunks in CHUNKS},
        title="Excess of the closed form's WA over the optimum's, by fill",
        subtitle=f"paper 3, Fig. 5 · every workload of Q chunks in {_GROUPS} groups",
        x_label="fill U/T = LBA/PBA",
    )
