"""Flash caches with and without FDP: bands of WA over unpublished inputs.

For each published pair, the band reaches from the lowest to the highest WA of Theorem 1 of
EuroSys '25 and of simulated drives, over all values of `Unknowns`. A published value agrees if it
lies in the band. A second statement is stronger: one set of inputs must explain both values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product

from writeamp.devices.device import device
from writeamp.runs.series import flash_pages
from writeamp.theory.fdp import CachePrediction
from writeamp_papers.bench import Bench, Findings
from writeamp_papers.dayan2015.drives import filled_drive
from writeamp_papers.fdp_cache.pairs import PAIRS, Pair, Unknowns
from writeamp_papers.items import Item, compared, ordered
from writeamp_papers.paper import Paper

# Block managers of a drive with FDP (a handle for each part), and of drives without: data of the
# host and of collection in the same blocks or apart.
_WITH_FDP = ("nvme-fdp",)
_WITHOUT_FDP = ("single", "sepgc")
_FORMULA = "Theorem 1"

# The drive of EuroSys '25 has about 310 reclaim units: 1.88 TB in units of about 6 GB.
_LOGICAL_UNITS = 320
_PAGES_PER_UNIT = 64
_WARMUP_DRIVE_WRITES, _DRIVE_WRITES = 6, 10

# Largest relative difference of a published WA that a set of inputs explains.
_EXPLAINED = 0.05


@dataclass(frozen=True)
class Inputs:
    """One set of the inputs: a cache on a drive, with old data on a share of the drive."""

    soc: float
    soc_writes: float
    old_data: float
    op: float

    @property
    def workload(self) -> str:
        """The workload; old data are pages that the fill writes and the host never."""
        cache = f"cachelib(soc={self.soc},soc_writes={self.soc_writes})"
        if self.old_data == 0:
            return cache
        sizes = f"sizes={1 - self.old_data}/{self.old_data}"
        return f"mix:{sizes},weights=1/0,of={cache}/uniform"

    def formula(self) -> float:
        """Return the WA of Theorem 1; blocks of old data are never collected."""
        effective = self.op / (1 - self.old_data)
        return CachePrediction(self.soc, self.soc_writes, effective).wa


# Computed WA by inputs, and by manager or formula.
_Runs = Mapping[tuple[Inputs, str], float]


def inputs_of(unknowns: Unknowns) -> list[Inputs]:
    """Return all combinations of the unknown inputs."""
    axes = (unknowns.socs, unknowns.soc_writes, unknowns.old_data, unknowns.ops)
    return [Inputs(*values) for values in product(*axes)]


def wa_of(inputs: Inputs, manager: str, logical_units: int) -> float:
    """Return the WA of a simulated drive."""
    drive = device(op=inputs.op, logical_blocks=logical_units, pages_per_block=_PAGES_PER_UNIT)
    # The engine itself: `simulate` takes half as long again for runs as short as these.
    simulation = filled_drive(manager, None, inputs.workload, drive)
    simulation.run(_WARMUP_DRIVE_WRITES * drive.logical_pages)
    settled_pages = flash_pages(simulation.counters())
    measured = (_DRIVE_WRITES - _WARMUP_DRIVE_WRITES) * drive.logical_pages
    simulation.run(measured)
    return (flash_pages(simulation.counters()) - settled_pages) / measured


def _bands(bench: Bench) -> Findings:
    bench.step("drives with and without FDP, over the unknown inputs")
    points = sorted({inputs for pair in PAIRS for inputs in inputs_of(pair.unknowns)}, key=str)
    keys = list(product(points, _WITH_FDP + _WITHOUT_FDP))
    units = _LOGICAL_UNITS * (4 if bench.full else 1)
    simulated = bench.map(wa_of, [(*key, units) for key in keys])
    runs = dict(zip(keys, simulated, strict=True))
    runs |= {(inputs, _FORMULA): inputs.formula() for inputs in points}
    return Findings([item for pair in PAIRS for item in items_of(pair, runs)])


def items_of(pair: Pair, runs: _Runs) -> list[Item]:
    """Return the items of a pair: each value in its band, and both by one set of inputs."""
    points = inputs_of(pair.unknowns)
    decimals_with, decimals_without = pair.decimals
    ways = {"with FDP": (*_WITH_FDP, _FORMULA), "without FDP": _WITHOUT_FDP}
    published = {
        "with FDP": (pair.with_fdp, decimals_with),
        "without FDP": (pair.without_fdp, decimals_without),
    }
    items = []
    for form, (wa, decimals) in published.items():
        if wa is not None:
            band = [runs[inputs, way] for inputs in points for way in ways[form]]
            items.append(_in_band(f"{pair.name}, {form}", wa, decimals, band, pair.unknowns))
    if pair.with_fdp is not None and pair.without_fdp is not None:
        items.append(_explained(pair, pair.with_fdp, pair.without_fdp, runs))
    return items


def _in_band(
    name: str, wa: float, decimals: int, band: Iterable[float], unknowns: Unknowns
) -> Item:
    """Compare a published WA with a band; the item shows its middle, and half its width."""
    values = list(band)
    low, high = min(values), max(values)
    half = (high - low) / 2 + 0.5 * 10.0**-decimals
    note = f"band {low:.3f} to {high:.3f} over {unknowns}"
    return compared(f"{name}: WA, middle of the band", wa, (low + high) / 2, half, note=note)


def _explained(pair: Pair, with_fdp: float, without_fdp: float, runs: _Runs) -> Item:
    """Check whether one set of inputs gives both values within the stated share."""
    errors = {
        (inputs, way, other): max(
            abs(runs[inputs, way] / with_fdp - 1), abs(runs[inputs, other] / without_fdp - 1)
        )
        for inputs in inputs_of(pair.unknowns)
        for way in (*_WITH_FDP, _FORMULA)
        for other in _WITHOUT_FDP
    }
    best = min(errors, key=lambda key: errors[key])
    inputs, way, other = best
    note = (
        f"best at op {inputs.op:g}, soc_writes {inputs.soc_writes:g}, {way} and {other}: "
        f"{runs[inputs, way]:.3f} and {runs[inputs, other]:.3f}"
    )
    return ordered(
        f"{pair.name}: largest relative error of both values at the best single set of inputs",
        errors[best],
        below=_EXPLAINED,
        note=note,
    )


PAPER = Paper(
    name="fdp-cache",
    citation="Flash caches with and without FDP: EuroSys '25 (Allison et al.), FAST '26 (WARP)",
    summary="published WA of CacheLib with and without FDP, in bands over inputs not published",
    parts=(_bands,),
)
