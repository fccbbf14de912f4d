"""Figure 9 of Dayan et al. 2015: frequencies of updates to the pages of TPC-C_init.

The trace is not published. This is the histogram from which `tpcc` draws its writes (section
`tpcc` of docs/workloads.md), computed independently of that workload.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from writeamp.plots.spec import Line, LineChart
from writeamp.plots.style import SERIES_COLORS
from writeamp_papers.bench import Bench, Findings
from writeamp_papers.items import Item, compared, fitted_to

PAGES = 802_816

# For each cluster of the histogram: share of the pages, then mean and standard deviation of a
# page's updates. For the tail: share of the pages, and range of a page's updates.
CLUSTERS = ((0.23, 25.0, 5.0), (0.23, 200.0, 40.0))
TAIL_SHARE = 0.002
TAIL = (300.0, 13_300.0)

_MOST_SHOWN = 300

_FITTED = "computed from the generated trace, which is fitted to the print"


def run(bench: Bench) -> Findings:
    """Return the items on the histogram, and figure 9 if requested."""
    updates = updates_of_pages()
    figures = {"fig9-updates": _figure_9(updates)} if bench.figures else {}
    return Findings(_items(updates), dict(figures))


def updates_of_pages() -> npt.NDArray[np.int64]:
    """Return the number of updates of each page, shape (PAGES,), from quantiles."""
    from scipy.special import ndtr, ndtri  # type: ignore[import-untyped]  # noqa: PLC0415 (slow)

    parts = []
    for share, mean, deviation in CLUSTERS:
        low, high = ndtr((np.array([0.5, TAIL[0] + 0.5]) - mean) / deviation)
        quantiles = low + (high - low) * _middles(share)
        parts.append(np.rint(mean + deviation * ndtri(quantiles)))
    low, high = np.log(TAIL)
    parts.append(np.ceil(np.exp(low + (high - low) * _middles(TAIL_SHARE))))
    never = np.zeros(PAGES - sum(map(len, parts)))
    return np.concatenate((*parts, never)).astype(np.int64)


def _middles(share: float) -> npt.NDArray[np.float64]:
    pages = round(share * PAGES)
    return (np.arange(pages) + 0.5) / pages


def _items(updates: npt.NDArray[np.int64]) -> list[Item]:
    def percent(chosen: npt.NDArray[np.bool_]) -> float:
        return 100 * float(chosen.mean())

    seldom = updates[(updates > 0) & (updates <= _MOST_SHOWN)]
    peaks = [
        float(np.bincount(cluster).argmax())
        for cluster in (seldom[seldom < 100], seldom[seldom >= 100])
    ]
    items = [
        compared("Fig. 9: writes (millions)", 47, updates.sum() / 1e6, 0.5, note=_FITTED),
        compared(
            "Fig. 9: pages updated 1 to 300 times (%)",
            46,
            percent((updates > 0) & (updates <= _MOST_SHOWN)),
            0.5,
            note=_FITTED,
        ),
        compared("Fig. 9: pages never updated (%)", 54, percent(updates == 0), 0.5, note=_FITTED),
        compared(
            "Fig. 9: pages updated more than 300 times (%)",
            0.2,
            percent(updates > _MOST_SHOWN),
            0.05,
            note=_FITTED,
        ),
        compared(
            "section 5.5.3: updates at the peak of the hotter cluster ÷ those at the peak of "
            "the colder one",
            8,
            peaks[1] / peaks[0],
            1,
            note=_FITTED,
        ),
    ]
    return [fitted_to(item) for item in items]


def _figure_9(updates: npt.NDArray[np.int64]) -> LineChart:
    pages = np.bincount(updates, minlength=_MOST_SHOWN + 1)[1 : _MOST_SHOWN + 1]
    return LineChart(
        title="Updates of the pages of TPC-C_init",
        subtitle=f"paper 3, Fig. 9 · generated trace · {PAGES:,} pages, 46% of them shown",
        x_label="updates in 47 M writes",
        y_label="pages",
        lines=(
            Line(list(range(1, _MOST_SHOWN + 1)), pages.astype(float).tolist(), SERIES_COLORS[0]),
        ),
    )
