"""Desnoyers 2012, "Analytic modeling of SSD write performance" (SYSTOR '12).

Write amplification (WA) of LRW collection (the least recently written block, here `fifo`) and of
greedy collection, under uniform writes and under writes to hot and cold pages.
"""

from __future__ import annotations

import math

from writeamp.models import d_choices, expected_value, markov
from writeamp.studies.functions import simulate
from writeamp.units.ratios import op_of
from writeamp_papers.bench import Bench, Findings
from writeamp_papers.items import Item, checked, compared
from writeamp_papers.paper import Paper

_PAGES_PER_BLOCK = 64
_SPARE_FACTOR = 0.1

# LRW under uniform writes: A(S_f) as printed.
PRINTED_LRW = {0.07: 7.32, 0.1: 5.18, 0.2: 2.69, 0.28: 1.99, 0.5: 1.26}
_PRINTED_GREEDY = 4.82

# Writes to hot and cold pages: the share of the writes that goes to the hot pages, and their share
# of all pages.
_HOT_WRITES, _HOT_PAGES = 0.9, 0.05
_PRINTED_MIXED = 6.24
_PRINTED_SEPARATED = 1.86

_AS_PRINTED = 0.005
# Relative tolerance of simulations, beside the rounding of the print: the open blocks of a finite
# drive cost up to 0.3% of WA.
_OF_SIMULATION = 0.005
# The abstract calls the model of greedy collection under such writes accurate within 2%.
_OF_MIXED = 0.02


def _op(spare_factor: float) -> float:
    """Return the over-provisioning ratio (T−U)/U of a spare factor (T−U)/T."""
    op = op_of(spare_factor=spare_factor)
    assert op is not None
    return op


def lrw(spare_factor: float) -> float:
    """Return the WA of LRW collection under uniform writes: the Expected Value model."""
    return float(expected_value(_op(spare_factor)))


def greedy(op: float) -> float:
    """Return the WA of greedy collection under uniform writes, by the paper's closed form."""
    return float(markov(op, _PAGES_PER_BLOCK))


def lrw_of_two_classes(spare_factor: float, hot_writes: float, hot_pages: float) -> float:
    """Return the WA of LRW collection of hot and cold pages in the same blocks.

    A block is collected T/A host writes after it was filled. A page of a class with the share r of
    the writes and f of the pages is then still valid with the probability e^(−r·T/(f·U·A)), so that
    A = Σ r/(1 − e^(−r·T/(f·U·A))).
    """
    from scipy.optimize import brentq  # type: ignore[import-untyped]  # noqa: PLC0415 (slow)

    classes = ((hot_writes, hot_pages), (1 - hot_writes, 1 - hot_pages))
    size = 1 / (1 - spare_factor)

    def excess(wa: float) -> float:
        return sum(r / -math.expm1(-r * size / (f * wa)) for r, f in classes) - wa

    # At this bound, a block would have one invalid page in a thousand.
    return float(brentq(excess, 1 + 1e-9, 1000))


def separated(spare_factor: float, hot_writes: float, hot_pages: float) -> tuple[float, float]:
    """Return the op of a hot and of a cold pool at which the WA of greedy collection is lowest."""
    from scipy.optimize import minimize_scalar  # noqa: PLC0415 (slow)

    op = _op(spare_factor)

    def pools(hot_share: float) -> tuple[float, float]:
        return op * hot_share / hot_pages, op * (1 - hot_share) / (1 - hot_pages)

    best = minimize_scalar(
        lambda share: _weighted([greedy(pool) for pool in pools(share)], hot_writes),
        bounds=(0.01, 0.99),
        method="bounded",
        options={"xatol": 1e-6},
    )
    return pools(float(best.x))


def simulated(
    bench: Bench, victims: str, op: float, workload: str = "uniform"
) -> tuple[str, str, float, str, int]:
    """Return the arguments of `wa_of` for a drive of the short or the full form."""
    return (victims, workload, op, "0.1%" if bench.full else "0.2%", 10_000 if bench.full else 4000)


def wa_of(victims: str, workload: str, op: float, precision: str, logical_blocks: int) -> float:
    """Return the WA of a simulated drive with one write frontier."""
    return simulate(
        workload=workload,
        victims=victims,
        op=op,
        logical_blocks=logical_blocks,
        pages_per_block=_PAGES_PER_BLOCK,
        precision=precision,
        replicas=1,
    ).wa


def _weighted(wa_of_pools: list[float], hot_writes: float) -> float:
    hot, cold = wa_of_pools
    return hot_writes * hot + (1 - hot_writes) * cold


def _formulas(bench: Bench) -> Findings:
    bench.step("formulas")
    items = [
        compared(f"LRW, S_f={spare_factor}: formula", printed, lrw(spare_factor), _AS_PRINTED)
        for spare_factor, printed in PRINTED_LRW.items()
    ]
    pools = separated(_SPARE_FACTOR, _HOT_WRITES, _HOT_PAGES)
    items += [
        compared(
            "greedy, S_f=0.1, 64 pages: closed form",
            _PRINTED_GREEDY,
            greedy(_op(_SPARE_FACTOR)),
            _AS_PRINTED,
        ),
        compared(
            "greedy, S_f=0.1, 64 pages: mean field",
            _PRINTED_GREEDY,
            float(d_choices(_SPARE_FACTOR, _PAGES_PER_BLOCK, math.inf)),
            _AS_PRINTED,
        ),
        compared(
            "greedy, 90% of writes to 5% of pages, separated with the best division: closed form",
            _PRINTED_SEPARATED,
            _weighted([greedy(pool) for pool in pools], _HOT_WRITES),
            _AS_PRINTED,
        ),
    ]
    return Findings(items)


def _simulations(bench: Bench) -> Findings:
    bench.step("simulated drives")
    load = f"hot-cold:f={_HOT_PAGES},r={_HOT_WRITES}"
    op = _op(_SPARE_FACTOR)
    pools = separated(_SPARE_FACTOR, _HOT_WRITES, _HOT_PAGES)
    runs = [simulated(bench, "fifo", _op(spare_factor)) for spare_factor in PRINTED_LRW]
    runs += [simulated(bench, "greedy", pool) for pool in (op, *pools)]
    runs += [simulated(bench, victims, op, load) for victims in ("greedy", "fifo")]
    *of_lrw, of_greedy, hot, cold, mixed, mixed_lrw = bench.map(wa_of, runs)
    items = [
        _near(f"LRW, S_f={spare_factor}: simulation", printed, ours)
        for (spare_factor, printed), ours in zip(PRINTED_LRW.items(), of_lrw, strict=True)
    ]
    formula = lrw_of_two_classes(_SPARE_FACTOR, _HOT_WRITES, _HOT_PAGES)
    items += [
        _near("greedy, S_f=0.1, 64 pages: simulation", _PRINTED_GREEDY, of_greedy),
        _near(
            "greedy, 90% of writes to 5% of pages, separated with the best division: simulation",
            _PRINTED_SEPARATED,
            _weighted([hot, cold], _HOT_WRITES),
        ),
        compared(
            "greedy, 90% of writes to 5% of pages, mixed: simulation",
            _PRINTED_MIXED,
            mixed,
            _OF_MIXED * _PRINTED_MIXED,
        ),
        checked(_near("LRW, 90% of writes to 5% of pages, mixed: simulation", formula, mixed_lrw)),
    ]
    return Findings(items)


def _near(name: str, published: float, ours: float) -> Item:
    return compared(name, published, ours, _AS_PRINTED + _OF_SIMULATION * published)


PAPER = Paper(
    name="desnoyers2012",
    citation="Desnoyers: Analytic modeling of SSD write performance (SYSTOR 2012)",
    summary="WA of LRW and greedy collection, of mixed and of separated hot and cold pages",
    parts=(_formulas, _simulations),
)
