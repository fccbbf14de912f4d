"""Figures 2 and 3 of Verschoren and Van Houdt 2019: wear and endurance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean

from writeamp.plots import life_over_w
from writeamp.plots.spec import FigureSpec
from writeamp.studies.endurance.result import Endurance
from writeamp.studies.functions import endurance
from writeamp_papers.bench import Bench, Findings
from writeamp_papers.items import TIE, Item, at_most, compared, ordered

# Parameters from the captions: b, S_f and f = 1 − r. The values of d are in the figures only.
_PAGES_PER_BLOCK = 32
_SPARE_FACTOR = 0.10
_HOT_WRITE_FRACTIONS = (0.9, 0.99)
_D = (1, 5, 20)

# Block manager of each mode of the paper: HCWF, and HCWF(swap) with d* = 1 and 100.
_HCWF = "hcwf:d={d}"
_SWAP_1 = "hcwf-swap:d={d},d_swap=1"
_SWAP = "hcwf-swap:d={d},d_swap=100"
_MODES = (_HCWF, _SWAP_1, _SWAP)


@dataclass(frozen=True)
class Study:
    """Size and length of the study; the paper has 50 runs to 5000 erases per block.

    The paper does not state the size of the drive; full runs have 1000 logical blocks. `noise` is
    the relative difference up to which means over the replicas count as equal.
    """

    logical_blocks: int
    w_max: int
    replicas: int
    noise: float

    def life(self, manager: str, r: float, wear_leveling: str | None = None) -> Endurance:
        """Return simulated lives of drives under one manager; hot pages get the write share `r`."""
        return endurance(
            workload=f"hot-cold:f={1 - r:.4g},r={r}",
            manager=manager,
            wear_leveling=wear_leveling,
            logical_blocks=self.logical_blocks,
            pages_per_block=_PAGES_PER_BLOCK,
            spare_factor=_SPARE_FACTOR,
            w_max=self.w_max,
            replicas=self.replicas,
        )


SHORT = Study(logical_blocks=300, w_max=300, replicas=8, noise=0.1)
FULL = Study(logical_blocks=1000, w_max=5000, replicas=50, noise=0.02)

# Key: (mode, d, r).
_Key = tuple[str, int, float]


def run(bench: Bench) -> Findings:
    """Return items on sections 5 and 6, and the figures if requested."""
    study = FULL if bench.full else SHORT
    bench.step(f"fairness and endurance to W_max = {study.w_max} (Figs. 2 and 3)")
    keys = [(mode, d, r) for mode in _MODES for d in _D for r in _HOT_WRITE_FRACTIONS]
    lives = bench.map(study.life, [(mode.format(d=d), r) for mode, d, r in keys])
    lives_by_key = dict(zip(keys, lives, strict=True))
    items = [*_fairness(study, lives_by_key), *_endurance(study, lives_by_key)]
    if not bench.figures:
        return Findings(items)
    return Findings(items, _figures(lives_by_key))


def _fairness(study: Study, lives: Mapping[_Key, Endurance]) -> list[Item]:
    least = min(life.pe_fairness for (mode, _, _), life in lives.items() if mode == _HCWF)
    items = []
    if study == FULL:
        # Fairness falls with W_max, and the print is for the largest.
        name = "section 5: PE fairness of HCWF falls to 0.5 and below, smallest value"
        items.append(at_most(name, 0.5, least))
    for r in _HOT_WRITE_FRACTIONS:
        for d in _D[1:]:
            hcwf, swap = lives[_HCWF, d, r].pe_fairness, lives[_SWAP, d, r].pe_fairness
            items.append(
                ordered(
                    f"Fig. 2: PE fairness of HCWF ÷ that of HCWF(swap), d={d}, r={r}",
                    hcwf / swap,
                    note=f"{hcwf:.3f} and {swap:.3f}",
                )
            )
            items.append(
                compared(
                    f"section 5: PE fairness hardly depends on d*, d*=100 ÷ d*=1, d={d}, r={r}",
                    1,
                    swap / lives[_SWAP_1, d, r].pe_fairness,
                    study.noise,
                    note='"very slightly" above 1 in the paper; here above or below 1, by noise',
                )
            )
    for d in _D[1:]:
        hot, hotter = (lives[_SWAP, d, r].pe_fairness for r in _HOT_WRITE_FRACTIONS)
        items.append(
            ordered(f"section 5: PE fairness at r=0.99 ÷ that at r=0.9, d={d}", hotter / hot)
        )
    return items + [item for r in _HOT_WRITE_FRACTIONS for item in _fairness_over_d(lives, r)]


def _fairness_over_d(lives: Mapping[_Key, Endurance], r: float) -> list[Item]:
    """Return items on section 5: smaller d is fairer, but d=1 is less fair again."""
    fairness = {d: lives[_SWAP, d, r].pe_fairness for d in _D}
    random, small, large = fairness.values()
    note = ", ".join(f"d={d}: {value:.4f}" for d, value in fairness.items())
    return [
        ordered(
            f"section 5: PE fairness of HCWF(swap) at d={_D[2]} ÷ that at d={_D[1]}, r={r} "
            "(smaller d is fairer)",
            large / small,
            below=TIE,
            note=note,
        ),
        ordered(
            f"section 5: PE fairness of HCWF(swap) at d=1 ÷ that at d={_D[1]}, r={r} (d=1 is less "
            "fair again)",
            random / small,
            below=TIE,
            note=note,
        ),
    ]


def _endurance(study: Study, lives: Mapping[_Key, Endurance]) -> list[Item]:
    def fdw(mode: str, d: int, r: float) -> float:
        return lives[mode, d, r].endurance_full_drive_writes

    items = []
    for r in _HOT_WRITE_FRACTIONS:
        items += [
            ordered(
                f"Fig. 3: endurance of HCWF ÷ that of HCWF(swap), d={d}, r={r}",
                fdw(_HCWF, d, r) / fdw(_SWAP, d, r),
                note=f"{fdw(_HCWF, d, r):.0f} and {fdw(_SWAP, d, r):.0f} full drive writes",
            )
            for d in _D[1:]
        ]
        items.append(
            ordered(
                f"section 6: endurance of HCWF ÷ that of HCWF(swap) at d=d*=1, r={r}",
                fdw(_HCWF, 1, r) / fdw(_SWAP_1, 1, r),
            )
        )
    hot, hotter = _HOT_WRITE_FRACTIONS
    for d in _D[1:]:
        items.append(
            ordered(
                f"section 6: endurance of HCWF(swap) at r={hot} ÷ that at r={hotter}, d={d}",
                fdw(_SWAP, d, hot) / fdw(_SWAP, d, hotter),
            )
        )
        gain = {r: fdw(_SWAP, d, r) / fdw(_HCWF, d, r) for r in _HOT_WRITE_FRACTIONS}
        items.append(
            ordered(
                f"section 6: gain in endurance (with ÷ without swaps) at r={hot} ÷ that at "
                f"r={hotter}, d={d}",
                gain[hot] / gain[hotter],
                note=f"swapping multiplies the endurance by {gain[hot]:.2f} and {gain[hotter]:.2f}",
            )
        )
    items.append(
        compared(
            f"section 6: endurance of HCWF at d=1, r={hot} ÷ that at r={hotter}",
            1,
            fdw(_HCWF, 1, hot) / fdw(_HCWF, 1, hotter),
            study.noise,
        )
    )
    return items + _best_parameters(fdw)


def _best_parameters(fdw: Callable[[str, int, float], float]) -> list[Item]:
    """Return items on section 6: which d* and d live longest, and the gain at d=d*=1.

    `fdw` returns the endurance by mode, d and r.
    """
    hot, hotter = _HOT_WRITE_FRACTIONS
    best = {r: max(_D, key=lambda d: fdw(_SWAP, d, r)) for r in _HOT_WRITE_FRACTIONS}
    gain = {r: fdw(_SWAP_1, 1, r) / fdw(_HCWF, 1, r) for r in _HOT_WRITE_FRACTIONS}
    return [
        *(
            ordered(
                f"section 6: endurance at d*=1 ÷ that at d*=100, mean over d, r={r} (large d* "
                "lives longer)",
                fmean(fdw(_SWAP_1, d, r) / fdw(_SWAP, d, r) for d in _D),
                below=TIE,
            )
            for r in _HOT_WRITE_FRACTIONS
        ),
        ordered(
            f"section 6: best d at r={hot} ÷ best d at r={hotter} (it grows with hotness)",
            best[hot] / best[hotter],
            note=f"of {_D}: {best[hot]} and {best[hotter]}",
        ),
        ordered(
            f"section 6: gain in endurance by swaps at d=d*=1, r={hot} ÷ that at r={hotter} (it "
            "grows with hotness)",
            gain[hot] / gain[hotter],
            below=TIE,
            note=f"factors {gain[hot]:.2f} and {gain[hotter]:.2f}",
        ),
    ]


def _figures(lives: Mapping[_Key, Endurance]) -> dict[str, FigureSpec]:
    figures: dict[str, FigureSpec] = {}
    for r in _HOT_WRITE_FRACTIONS:
        curves = [
            life.life_curve(life.plan.policy.manager)
            for (_, _, of), life in lives.items()
            if of == r
        ]
        plan = next(iter(lives.values())).plan
        figures[f"fig2-3-life-r{round(100 * r)}"] = life_over_w(
            curves,
            title=f"Wear and endurance at r={r}, f={1 - r:.4g}",
            subtitle=f"paper 4, Figs. 2 and 3 · b={_PAGES_PER_BLOCK}, spare factor "
            f"{_SPARE_FACTOR}, {plan.replicas} runs",
        )
    return figures
