"""Park et al. 2017, Fig. 2 and section 4.3: cost of the models over pages per block N."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

from writeamp import models
from writeamp.models._binomial_maximum import Family
from writeamp.plots import PanelChart
from writeamp_papers.bench import Bench, Findings
from writeamp_papers.items import Item, checked, compared
from writeamp_papers.park2017 import figures

# Swept values of ρ in section 4.3: 0.01, 0.02, …, 1.
SWEEP = np.arange(1, 101) / 100

# Seconds for 100 values of ρ with the Coupon Collector model, by pages per block (section 4.3).
_PRINTED_SECONDS = {64: 58, 128: 233, 256: 936, 512: 3690}

# "The time multiplies by factor of four every time the number of pages in a block doubles". The
# printed seconds multiply by 4.02, 4.02 and 3.94.
_DOUBLING, _DOUBLING_TOLERANCE = 4, 0.06
_OP, _WINDOW = 0.28, 64


def run(bench: Bench) -> Findings:
    """Return items on the computing time of each model for the sweep of ρ (Fig. 2)."""
    bench.step("time of each model (Fig. 2)")
    items = [
        _time("uniform-distribution", 4e-5, _seconds(models.uniform_distribution, SWEEP)),
        *(
            _time(
                f"coupon-collector, N={n}",
                _PRINTED_SECONDS[n],
                _seconds(models.coupon_collector, SWEEP, n),
            )
            for n in (min(_PRINTED_SECONDS), max(_PRINTED_SECONDS))
        ),
        _time(
            'coupon-collector, N=32768, one value ("more than a day")',
            86400,
            _seconds(models.coupon_collector, 0.28, 32768),
        ),
        *_doubling(),
    ]
    return Findings(items, {"fig2-time": _figure_2(bench.full)} if bench.figures else {})


def _figure_2(full: bool) -> PanelChart:
    sizes = [2**k for k in range(6, 16 if full else 11)]
    seconds = {
        "coupon-collector": [_seconds(models.coupon_collector, SWEEP, n) for n in sizes],
        "markov": [_seconds(models.markov, SWEEP, n) for n in sizes],
        "expected-value": [_seconds(models.expected_value, SWEEP) for _ in sizes],
        "uniform-distribution": [_seconds(models.uniform_distribution, SWEEP) for _ in sizes],
    }
    return figures.time(sizes, seconds, _PRINTED_SECONDS)


def _doubling() -> list[Item]:
    """Return items on the growth of the Coupon Collector's cost with N.

    The cost is the number of binomial terms of one value, because seconds depend on the machine.
    """
    sizes = min(_PRINTED_SECONDS), max(_PRINTED_SECONDS)
    doublings = math.log2(sizes[1] / sizes[0])
    wa = [float(models.coupon_collector(_OP, pages, _WINDOW)) for pages in sizes]
    written_out, terms_of_equation = zip(*map(_equation_3, sizes, wa), strict=True)
    terms_here = [_terms_here(*pair) for pair in zip(sizes, wa, strict=True)]
    return [
        checked(
            compared(
                f"coupon-collector at op {_OP}, N={sizes[1]}, s={_WINDOW}: eq. 3 written out",
                written_out[1],
                wa[1],
                1e-9,
                note="checked value: independent calculation, not in the paper",
            )
        ),
        *(
            compared(
                f"Fig. 2: cost of the Coupon Collector for each doubling of N, {method} (factor)",
                _DOUBLING,
                (terms[1] / terms[0]) ** (1 / doublings),
                _DOUBLING_TOLERANCE,
                note=f"in binomial terms of one value: {terms[0]} at N={sizes[0]}, {terms[1]} at "
                f"N={sizes[1]}",
            )
            for method, terms in (
                ("eq. 3 written out", terms_of_equation),
                ("as computed here", terms_here),
            )
        ),
    ]


def _equation_3(pages: int, wa: float) -> tuple[float, int]:
    """Return the WA of eq. 3 written out, and the number of binomial terms that it adds.

    Each block of the window has Binomial(N, q) invalid pages (docs/models.md), with a q that
    depends on `wa`; at the model's WA, eq. 3 returns it. Each k has a sum of its own, from the
    first term.
    """
    stays = math.exp(-(1 + _OP) / wa)
    terms = [math.comb(pages, k) * (1 - stays) ** k * stays ** (pages - k) for k in range(pages)]
    sums = [terms[: k + 1] for k in range(pages)]
    fewest_valid = sum(1 - sum(added) ** _WINDOW for added in sums)
    return pages / fewest_valid, sum(map(len, sums))


def _terms_here(pages: int, wa: float) -> int:
    """Return the number of binomial terms of one value as `models.coupon_collector` adds them."""
    age = (1 + _OP) / wa
    least, most = Family(pages, _WINDOW, age, 0.0).reach(age)
    return most - least + 1


def _seconds(function: Callable[..., object], *arguments: object) -> float:
    """Return the time of the fastest of three calls, in seconds."""

    def once() -> float:
        started = time.perf_counter()
        function(*arguments)
        return time.perf_counter() - started

    return min(once() for _ in range(3))


def _time(item: str, published: float, ours: float) -> Item:
    return compared(f"Fig. 2: time of {item} (s)", published, ours, published / 2)
