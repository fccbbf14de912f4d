"""Future work of Verschoren and Van Houdt 2019: other wear levellers, and runs of a trace.

Section 7 announces a comparison with other levellers, with erase counters for the swap, and on
traces. No published values exist, so these are figures without items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from writeamp.plots.spec import Line, Marker, Panel, PanelChart
from writeamp.plots.style import WA_LABEL, series_color
from writeamp.studies.functions import endurance
from writeamp_papers.bench import Bench

# Block manager and wear leveller (None for none): the paper's two modes, HCWF with each leveller,
# and HCWF(swap) with one leveller.
SCHEMES: tuple[tuple[str, str | None], ...] = (
    ("hcwf", None),
    ("hcwf", "youngest-free:reserve=8"),
    ("hcwf", "static:threshold=16"),
    ("hcwf", "dual-pool:threshold=16"),
    ("hcwf-swap", None),
    ("hcwf-swap", "static:threshold=16"),
)
_MARKERS: tuple[Marker, ...] = ("circle", "diamond", "square", "triangle", "cross", "ring")

_D = 5


@dataclass(frozen=True)
class LevelerLoad:
    """Workload or trace, its drive, and the parameters of HCWF."""

    name: str
    arguments: dict[str, Any]
    parameters: str


@dataclass(frozen=True)
class Outcome:
    """Result of one manager and wear leveller under one load.

    `pe_fairness_half_width` is half of the width of the 95% interval of `pe_fairness`.
    """

    load: str
    scheme: str
    wa: float
    pe_fairness: float
    pe_fairness_half_width: float
    endurance_full_drive_writes: float


def synthetic_loads(logical_blocks: int) -> list[LevelerLoad]:
    """Return the paper's two workloads and a Zipf-distributed one, on the paper's drive."""
    drive = {"logical_blocks": logical_blocks, "pages_per_block": 32, "spare_factor": 0.10}
    specs = ("hot-cold:f=0.1,r=0.9", "hot-cold:f=0.01,r=0.99", "zipf:s=0.99")
    return [LevelerLoad(spec, {"workload": spec, **drive}, f"d={_D}") for spec in specs]


def trace_load(path: Path) -> LevelerLoad:
    """Return a trace as a load, on a drive of the size that it needs.

    A detector finds the hot pages of the trace; synthetic workloads state theirs.
    """
    arguments = {"trace": path, "pages_per_block": 32, "spare_factor": 0.10}
    return LevelerLoad(path.stem, arguments, f"d={_D},detector=distance")


def outcomes(
    bench: Bench, loads: Sequence[LevelerLoad], *, w_max: int, replicas: int
) -> list[Outcome]:
    """Return the results of all schemes under the first load, then under the next, and so on."""
    runs = [
        (load, manager, leveler, w_max, replicas) for load in loads for manager, leveler in SCHEMES
    ]
    return bench.map(_outcome, runs)


def _outcome(
    load: LevelerLoad, manager: str, leveler: str | None, w_max: int, replicas: int
) -> Outcome:
    life = endurance(
        **load.arguments,
        manager=f"{manager}:{load.parameters}",
        wear_leveling=leveler,
        w_max=w_max,
        replicas=replicas,
    )
    low, high = life.pe_fairness_ci95
    return Outcome(
        load.name,
        manager if leveler is None else f"{manager} + {leveler}",
        life.wa,
        life.pe_fairness,
        (high - low) / 2,
        life.endurance_full_drive_writes,
    )


def figure(outcomes_of_all: Sequence[Outcome], *, subtitle: str) -> PanelChart:
    """Describe PE fairness over WA, one panel per load and one mark per wear-leveling scheme."""
    panels = []
    for load in dict.fromkeys(outcome.load for outcome in outcomes_of_all):
        of_load = [outcome for outcome in outcomes_of_all if outcome.load == load]
        lines = tuple(
            Line(
                (outcome.wa,),
                (outcome.pe_fairness,),
                series_color(index),
                width_pt=0,
                label=outcome.scheme,
                marker=_MARKERS[index],
            )
            for index, outcome in enumerate(of_load)
        )
        panels.append(Panel(load, lines))
    return PanelChart(
        title="Cost of even wear: hot and cold frontiers with wear levellers, and with swaps",
        subtitle=subtitle,
        x_label=f"{WA_LABEL} of the whole life",
        y_label="PE fairness (mean erases per block\n÷ erases of the first worn-out block)",
        panels=tuple(panels),
        columns=2,
    )
