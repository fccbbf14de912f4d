"""Figure 1 of Verschoren and Van Houdt 2019: WA of HCWF and HCWF(swap) over d."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from writeamp import meanfield
from writeamp.plots.spec import Line, Panel, PanelChart
from writeamp.plots.style import WA_LABEL, WA_UNIT, series_color
from writeamp_papers.bench import Bench, Findings
from writeamp_papers.items import TIE, Item, compared, ordered

# Parameters from the figure's caption. Section 4 states one exception: at these r and f, swapping
# wins only up to this d.
_PAGES_PER_BLOCK = 32
_SPARE_FACTOR = 0.08
_EXCEPTION = (0.8, 0.025, 15)

# The text does not state r and f of the figure, except those of the exception, so these are ours.
_HOT_WRITE_FRACTIONS = (0.8, 0.9)
_HOT_FRACTIONS = (0.025, 0.05, 0.1, 0.2)
_D = (*range(1, 31),)
_D_IN_SHORT = (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 15, 16, 18, 20, 25, 30)

# "Small" and "larger" d of section 4. The text calls 2 and 3 small; our limit is the last third.
_SMALL_D, _LARGE_D = (2, 3), 20

_Curves = dict[float, list[float]]


def figure_1(bench: Bench, d_swap: int) -> Findings:
    """Return items on section 4's statements on the figure, and the figure if requested."""
    sweep = _D if bench.full else _D_IN_SHORT
    hcwf = {r: _curves(sweep, r, None) for r in _HOT_WRITE_FRACTIONS}
    swap = {r: _curves(sweep, r, d_swap) for r in _HOT_WRITE_FRACTIONS}
    random_swap = _curves(sweep, _HOT_WRITE_FRACTIONS[1], 1)
    items = [
        _first_loss(sweep, hcwf, swap),
        *(_lower_minimum(r, f, hcwf[r][f], swap[r][f]) for r in hcwf for f in hcwf[r]),
        *_small_d(sweep, hcwf, swap),
        _random_swap_costs(swap[_HOT_WRITE_FRACTIONS[1]], random_swap),
        *_random_swap_and_none(sweep, hcwf[_HOT_WRITE_FRACTIONS[1]], random_swap),
    ]
    if not bench.figures:
        return Findings(items)
    r = _HOT_WRITE_FRACTIONS[1]
    panels = [
        *(_panel(f"r={r}, d*={d_swap}", sweep, hcwf[r], swap[r]) for r in hcwf),
        _panel(f"r={r}, d*=1", sweep, hcwf[r], random_swap),
    ]
    figure = PanelChart(
        title="Write amplification of HCWF and HCWF(swap)",
        subtitle=f"paper 4, Fig. 1 · mean field, b={_PAGES_PER_BLOCK}, "
        f"spare factor {_SPARE_FACTOR} · dashed: HCWF",
        x_label="blocks drawn for a victim (d)",
        y_label=f"{WA_LABEL}\n({WA_UNIT})",
        panels=tuple(panels),
        columns=3,
    )
    return Findings(items, {"fig1-hcwf-over-d": figure})


def _curves(sweep: tuple[int, ...], r: float, d_swap: int | None) -> _Curves:
    """Return WA at each d of `sweep`, by hot fraction f; `d_swap=None` means no swaps."""
    solve = (
        meanfield.hot_cold if d_swap is None else partial(meanfield.hot_cold_swap, d_swap=d_swap)
    )
    return {
        f: [
            solve(
                pages_per_block=_PAGES_PER_BLOCK,
                spare_factor=_SPARE_FACTOR,
                d=d,
                hot_fraction=f,
                hot_write_fraction=r,
            ).wa
            for d in sweep
        ]
        for f in _HOT_FRACTIONS
    }


def _first_loss(
    sweep: tuple[int, ...], hcwf: dict[float, _Curves], swap: dict[float, _Curves]
) -> Item:
    """Return the item on section 4: swapping wins for nearly any d, with one stated exception.

    The exception is r=0.8, f=0.025 and d above 15.
    """
    losses = {
        (r, f): [
            d for d, a, b in zip(sweep, hcwf[r][f], swap[r][f], strict=True) if b > a * (1 + 1e-9)
        ]
        for r in hcwf
        for f in hcwf[r]
    }
    r, f, last_win = _EXCEPTION
    others = {key: at for key, at in losses.items() if at and key != (r, f)}
    first = min(losses[r, f], default=sweep[-1] + 1)
    return compared(
        f"section 4: largest d up to which swapping wins at r={r}, f={f}",
        last_win,
        max((d for d in sweep if d < first), default=0),
        1,
        note=f"at other (r, f), swapping loses at d: {others}"
        if others
        else "at other r and f, swapping never loses",
    )


def _lower_minimum(r: float, f: float, hcwf: list[float], swap: list[float]) -> Item:
    """Return the item on section 4: HCWF(swap) achieves a lower minimum of WA over d."""
    return ordered(
        f"Fig. 1: least WA of HCWF(swap) ÷ least WA of HCWF, r={r}, f={f}", min(swap) / min(hcwf)
    )


def _small_d(
    sweep: tuple[int, ...], hcwf: dict[float, _Curves], swap: dict[float, _Curves]
) -> list[Item]:
    """Return items on section 4: at small d, swapping is nearer to its best WA than HCWF is."""
    items = []
    for r in hcwf:
        excess = {
            name: max(curves[r][f][sweep.index(2)] / min(curves[r][f]) for f in curves[r])
            for name, curves in (("HCWF", hcwf), ("HCWF(swap)", swap))
        }
        items.append(
            ordered(
                f"section 4: excess of WA at d=2 over WA at the best d, HCWF(swap) ÷ HCWF, r={r}",
                (excess["HCWF(swap)"] - 1) / (excess["HCWF"] - 1),
                note=", ".join(f"{name} {value:.3f}" for name, value in excess.items()),
            )
        )
    return items


def _random_swap_costs(swap: _Curves, random_swap: _Curves) -> Item:
    """Return the item on section 4: lowering d* to 1 increases the WA for all d."""
    pairs = [
        (random_draw, many)
        for f in swap
        for random_draw, many in zip(random_swap[f], swap[f], strict=True)
    ]
    return ordered("Fig. 1c: WA with d*=100 ÷ WA with d*=1, largest", max(b / a for a, b in pairs))


def _random_swap_and_none(
    sweep: tuple[int, ...], hcwf: _Curves, random_swap: _Curves
) -> list[Item]:
    """Return items on section 4: with d*=1, swapping is better for small d, HCWF for larger d."""

    def largest(curves: _Curves, others: _Curves, numbers: Iterable[int]) -> float:
        at = [sweep.index(d) for d in numbers]
        return max(curves[f][i] / others[f][i] for f in curves for i in at)

    return [
        ordered(
            "Fig. 1c, d*=1: WA of HCWF(swap) ÷ that of HCWF, largest at d=2 and 3",
            largest(random_swap, hcwf, _SMALL_D),
            below=TIE,
        ),
        ordered(
            f"Fig. 1c, d*=1: WA of HCWF ÷ that of HCWF(swap), largest at d≥{_LARGE_D} (HCWF is "
            "better for larger d)",
            largest(hcwf, random_swap, (d for d in sweep if d >= _LARGE_D)),
            below=TIE,
        ),
    ]


def _panel(title: str, sweep: tuple[int, ...], hcwf: _Curves, swap: _Curves) -> Panel:
    lines = []
    for index, f in enumerate(_HOT_FRACTIONS):
        color = series_color(index)
        lines.append(Line(sweep, swap[f], color, label=f"f={f}"))
        lines.append(Line(sweep, hcwf[f], color, dash="dash"))
    return Panel(title, tuple(lines))
