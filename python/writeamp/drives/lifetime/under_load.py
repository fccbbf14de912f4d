"""Life of a drive under a load, in drive writes (writes of the full capacity).

The profile is scaled down until the load's pages fill it. The load is simulated until the small
drive is worn out at the rated cycles; its life in drive writes equals that of the full drive. If a
drive is described by candidates, the most probable one is simulated this way. The other candidates
only give factors on the life. Wear levelling is assumed to be equal on all candidates, so they
differ only in their amount of flash and in their WA.

Rated cycles are those of a profile, or of its cell type: ranges of data sheets and teardowns of
recent years. Few vendors publish rated cycles, so the range dominates most answers until `cycles`
is set.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import writeamp.traces as trace_room
from writeamp._engine import scaled_workload
from writeamp.devices.device import profile_op
from writeamp.devices.drive import Device
from writeamp.devices.profile import profile
from writeamp.drives.lifetime.result import SIMULATION, DriveLifetime, WhatIf
from writeamp.errors import WriteampError
from writeamp.fio.workload import FioLoad
from writeamp.models._effective_op import effective_op
from writeamp.runners import Progress
from writeamp.runs.daily_writes import WARRANTY_YEARS, warranty_days
from writeamp.settings.experiment import Experiment
from writeamp.studies.candidates import mixture_of
from writeamp.studies.endurance.lifetime import run_lifetime
from writeamp.studies.endurance.result import Endurance
from writeamp.studies.mixture import CandidateRun, Mixture
from writeamp.studies.simulation import simulate_drive
from writeamp.text import Caution
from writeamp.units.byte_sizes import shown_bytes
from writeamp.units.durations import DAYS_A_YEAR
from writeamp.units.ratios import logical_of

# Size of the simulated drive for a synthetic load, which fits any size. A drive of this size is
# worn out in seconds of simulation.
SYNTHETIC_BYTES = 512 << 20
_REPLICAS = 2
# Most erases per block that are simulated. The result is extrapolated to the rated cycles, as wear
# levels out.
_MOST_CYCLES = 1000
_MORE_OP = (0.07, 0.14)
_MANAGERS = ("sepgc", "dac", "wolf:detector=interval", "sepbit")
_HANDLES = "nvme-fdp:handles=4"
_FULL = 0.9
# With fewer blocks (of all planes that are erased together), open blocks take much of the spare
# space.
_FEWEST_UNITS = 64
_TRIM = "TRIM that keeps a tenth of the capacity free"


@dataclass(frozen=True)
class _Change:
    """Change of the drive or its policy.

    Attributes:
        words: description of the change.
        settings: settings of the simulation that make the change.
        capacity_share: share of the full drive's capacity that the simulated drive represents.
    """

    words: str
    settings: dict[str, Any]
    capacity_share: float = 1.0


@dataclass(frozen=True)
class _Load:
    """Load, and the drive that it wears out."""

    device: str
    trace: Any
    workload: str | None
    size_bytes: int
    mapping_unit: int | None
    cycles: RatedCycles
    daily_bytes: float
    seed: int
    notes: tuple[str, ...] = ()

    def worn_out(self, *, is_rated: bool = False, **changes: Any) -> Endurance:
        settings = {
            "w_max": self._simulated_cycles,
            "replicas": _REPLICAS,
            **self._asked(),
            **changes,
        }
        experiment = Experiment.of("endurance", device=self.device, **settings)
        return run_lifetime(experiment, is_rated=is_rated)

    @property
    def _simulated_cycles(self) -> int:
        return min(self.cycles.usual, _MOST_CYCLES)

    def under_jesd219(self, lives: Endurance, capacity_bytes: float) -> dict[str, float] | None:
        """Return the full drive's endurance under JESD219, or None if the drive is too small."""
        rated = lives.under_jesd219
        if rated is None:
            return None
        drive_writes = rated.tbw * 1e12 / rated.capacity_bytes
        drive_writes *= self.cycles.usual / self._simulated_cycles
        return {
            "tbw": drive_writes * capacity_bytes / 1e12,
            "dwpd": drive_writes / warranty_days(WARRANTY_YEARS),
            "wa_bytes": rated.wa_bytes,
        }

    def factors(self, own_op: float, **changes: Any) -> Factors:
        """Return WA and years of all candidates / those of the most probable one."""
        more_op = changes.pop("op", own_op) - own_op
        return factors(more_op, device=self.device, **self._asked(), **changes)

    def _asked(self) -> dict[str, Any]:
        load = {"trace": self.trace} if self.trace is not None else {"workload": self.workload}
        drive = {"size": self.size_bytes, "mapping_unit": self.mapping_unit}
        return {"seed": self.seed, **drive, **load}

    def years(self, endurance: Endurance, capacity_bytes: float, cycles: float) -> float:
        """Return the full drive's life in years, if its blocks last for a number of cycles."""
        scale = cycles / self._simulated_cycles
        return endurance.years(self.daily_bytes, capacity_bytes=capacity_bytes) * scale


def lifetime_under_load(
    device: str,
    *,
    daily_bytes: float,
    trace: Any = None,
    workload: str | None = None,
    fio: FioLoad | None = None,
    mapping_unit: int | None = None,
    cycles: int | None = None,
    seed: int = 1,
    progress: Progress | None = None,
) -> DriveLifetime:
    """Return the lifetime of a drive under a load.

    Args:
        device: profile of the drive.
        daily_bytes: bytes that the host writes per day.
        trace: block trace, replayed without end.
        workload: synthetic workload, instead of a trace.
        fio: workload of fio jobs for the full drive, instead of a trace.
        mapping_unit: bytes of a unit of the drive's map; default: the page of the profile.
        cycles: rated cycles of the blocks; default: of the profile, or typical for their cell type.
        seed: seed of the random draws.
        progress: called with the number of worn-out drives, and the total.

    Raises:
        WriteampError: an input cannot be used.
    """
    if [trace, workload, fio].count(None) != 2:
        raise WriteampError("pass one load of the drive: a trace, a workload, or fio jobs")
    size_bytes = SYNTHETIC_BYTES
    if trace is not None:
        unit_bytes = mapping_unit or profile(device).shape.page_bytes
        pages = trace_room.to_pages(trace_room.read(trace), unit_bytes).logical_pages
        size_bytes = pages * unit_bytes
    rated = rated_cycles(device, cycles)
    op, capacity_bytes = profile_op(device), capacity_of(device)
    if fio is not None:
        workload = scaled_workload(fio.text, max(1.0, capacity_bytes / size_bytes))
    notes = () if fio is None else fio.notes
    load = _Load(device, trace, workload, size_bytes, mapping_unit, rated, daily_bytes, seed, notes)
    changes = list(_changes(load, op))
    tell = progress or (lambda _done, _whole: None)
    tell(0, 1 + len(changes))
    base, all_of_base = load.worn_out(is_rated=True), load.factors(op)
    tell(1, 1 + len(changes))
    # Without random draws, as mostly under a trace, a second life would only repeat the first.
    replicas = 1 if base.are_equal else _REPLICAS
    rows = []
    for done, change in enumerate(changes, 2):
        rows.append(_row(load, change, op, capacity_bytes, replicas))
        tell(done, 1 + len(changes))
    return _lifetime(load, base, all_of_base, capacity_bytes, tuple(rows))


def capacity_of(device: str) -> float:
    """Return the logical capacity of the full drive of a profile, in bytes."""
    shape = profile(device).shape
    return logical_of(shape.physical_pages, profile_op(device)) * shape.page_bytes


def _changes(load: _Load, op: float) -> Iterator[_Change]:
    for more in _MORE_OP:
        yield _Change(f"op {op + more:.3f} instead of {op:.3f}", {"op": op + more})
    for name in _MANAGERS:
        yield _Change(f"block manager {name}", {"manager": name})
    yield _Change(f"placement handles ({_HANDLES})", {"manager": _HANDLES})
    if load.trace is None:
        yield _Change(_TRIM, {"utilization": _FULL})
    else:
        # The trace's data fills the simulated drive, so its spare space is increased instead.
        yield _Change(_TRIM, {"op": float(effective_op(op, _FULL, _FULL))}, capacity_share=_FULL)


def _row(
    load: _Load, change: _Change, own_op: float, capacity_bytes: float, replicas: int
) -> WhatIf:
    try:
        endurance = load.worn_out(replicas=replicas, **change.settings)
        of_all = load.factors(own_op, **change.settings)
    except WriteampError as error:
        return WhatIf(change.words, None, None, str(error))
    years = load.years(endurance, change.capacity_share * capacity_bytes, load.cycles.usual)
    return WhatIf(change.words, endurance.wa * of_all.wa[0], years * of_all.years[0])


def _lifetime(
    load: _Load,
    base: Endurance,
    of_all: Factors,
    capacity_bytes: float,
    rows: tuple[WhatIf, ...],
) -> DriveLifetime:
    cycles = load.cycles
    of_best = load.years(base, capacity_bytes, cycles.usual)
    years = of_best * of_all.years[0]
    # The lower bound covers differences between replicas. The upper bound is the life if all blocks
    # wore evenly.
    fairness = base.pe_fairness
    spread_low, spread_high = min(1.0, _relative_low(base)), max(1.0, 1.0 / fairness)
    tbw = years * DAYS_A_YEAR * load.daily_bytes / 1e12
    described = profile(load.device)
    sheet = described.data_sheet
    rated_tbw = sheet.rated_tbw if sheet is not None else 0.0
    flash_bytes = described.shape.physical_pages * described.shape.page_bytes
    return DriveLifetime(
        method=SIMULATION,
        years=years,
        years_low=of_best * of_all.years[1] * spread_low * cycles.low / cycles.usual,
        years_high=of_best * of_all.years[2] * spread_high * cycles.high / cycles.usual,
        wa=base.wa * of_all.wa[0],
        wa_low=base.ci[0] * of_all.wa[1],
        wa_high=base.ci[1] * of_all.wa[2],
        wa_bytes=base.wa_bytes * of_all.wa[0],
        dwpd=tbw * 1e12 / capacity_bytes / warranty_days(WARRANTY_YEARS),
        tbw=tbw,
        jesd219=load.under_jesd219(base, capacity_bytes),
        rating_wa=flash_bytes * cycles.usual / (rated_tbw * 1e12) if rated_tbw else None,
        percentage_used_a_year=100.0 / years,
        host_bytes_a_day=load.daily_bytes,
        dominates=_dominating(cycles, spread_high / spread_low, of_all),
        what_if=tuple(sorted(rows, key=lambda row: -(row.years or 0))),
        assumptions=(
            (
                "rated cycles",
                f"{cycles.usual}, with bounds {cycles.low} to {cycles.high} ({cycles.source})",
            ),
            (
                "simulated drive",
                f"{load.size_bytes:,} logical bytes, with op and blocks as in the profile",
            ),
            ("capacity", f"{capacity_bytes:,.0f} bytes"),
            ("mapping unit", shown_bytes(base.plan.device.page_bytes)),
            ("PE fairness", f"{fairness:.4f} (mean wear / wear of the most worn block)"),
            *(("fio job", note) for note in load.notes if not isinstance(note, Caution)),
            *_of_candidates(of_all),
        ),
        warnings=(
            *(note for note in (*load.notes, *base.notes) if isinstance(note, Caution)),
            *too_small(base.plan.device, is_of_trace=load.trace is not None),
        ),
    )


def too_small(device: Device, *, is_of_trace: bool) -> Iterator[str]:
    """Yield a warning if the simulated drive has too few blocks to represent the profile."""
    units = device.physical_pages // device.pages_per_erase_unit
    if units < _FEWEST_UNITS:
        cause = " because the trace writes few pages" if is_of_trace else ""
        yield (
            f"the simulated drive is too small{cause}: it has {units} blocks, fewer than "
            f"{_FEWEST_UNITS}; WA and years may differ from those of the full drive, and block "
            "managers with many open blocks do not fit"
        )


def _relative_low(base: Endurance) -> float:
    low, _ = base.endurance_ci95
    return low / base.endurance_full_drive_writes if low > 0 else 1.0


def _of_candidates(of_all: Factors) -> tuple[tuple[str, str], ...]:
    if of_all.candidates == 1:
        return ()
    words = "each has its own WA and op; the evenness of wear is that of the most probable drive"
    return (("candidates", f"{of_all.candidates} possible drives of the profile: {words}"),)


def _dominating(cycles: RatedCycles, of_wear: float, of_all: Factors) -> str:
    """Return the cause of uncertainty with the greatest ratio of high to low."""
    ranges = {
        "rated cycles": cycles.high / cycles.low,
        "the evenness of the wear": of_wear,
        "the differences between the possible drives of the profile": of_all.years[2]
        / of_all.years[1],
    }
    widest = max(ranges, key=lambda name: ranges[name])
    return widest if ranges[widest] > 1 else "nothing: no value has bounds"


@dataclass(frozen=True)
class Factors:
    """WA and years of all candidates / those of the most probable one: median and 95% interval."""

    wa: tuple[float, float, float] = (1.0, 1.0, 1.0)
    years: tuple[float, float, float] = (1.0, 1.0, 1.0)
    candidates: int = 1


def factors(more_op: float, **settings: Any) -> Factors:
    """Return WA and years of all candidates / those of the most probable; 1 without candidates.

    Args:
        more_op: over-provisioning that is added to that of each candidate.
        settings: settings of `writeamp.simulate`: drive, load and policy.
    """
    experiment = Experiment.of("simulate", **settings)
    if experiment.candidates is None:
        return Factors()
    candidates = experiment.candidates.with_more_op(more_op)
    mixture = mixture_of(experiment, candidates, simulate_drive)
    best = mixture.runs[0]
    # `_wear` is the number of erases of the whole flash per drive write.
    wear = replace(mixture, runs=tuple(replace(run, wa=_wear(run)) for run in mixture.runs))
    return Factors(
        wa=tuple(wa / best.wa for wa in _ends(mixture)),  # type: ignore[arg-type]
        years=tuple(_wear(best) / each for each in _of_life(wear)),  # type: ignore[arg-type]
        candidates=len(mixture.runs),
    )


def _wear(run: CandidateRun) -> float:
    return logical_of(run.wa, run.candidate.op)


def _ends(mixture: Mixture) -> tuple[float, float, float]:
    low, high = mixture.interval
    return mixture.wa, low, high


def _of_life(wear: Mixture) -> tuple[float, float, float]:
    """Return the wear for the median, shortest and longest life; most wear is shortest life."""
    middle, low, high = _ends(wear)
    return middle, high, low


class RatedCycles(NamedTuple):
    """Rated cycles of the blocks, with typical bounds, and their source."""

    low: int
    usual: int
    high: int
    source: str


# Typical cycles (low, usual, high) by the cell type in a profile's summary. The first type of
# this table that the summary contains counts; TLC if it contains none.
_BY_CELL = {
    "QLC": (600, 1000, 1500),
    "TLC": (1500, 3000, 7000),
    "MLC": (3000, 5000, 10_000),
    "SLC": (50_000, 100_000, 100_000),
}


def rated_cycles(device: str, stated_cycles: int | None) -> RatedCycles:
    """Return the rated cycles of a device: those of the user, of its profile, or typical ones.

    For cycles from the profile, the bounds are those of the cell type, because vendors seldom
    guarantee the number.
    """
    if stated_cycles is not None:
        return RatedCycles(stated_cycles, stated_cycles, stated_cycles, "as given")
    described = profile(device)
    cell = next((name for name in _BY_CELL if name in described.summary), "TLC")
    low, usual, high = _BY_CELL[cell]
    stated = described.shape.rated_erases
    if stated is None:
        return RatedCycles(low, usual, high, f"typical for {cell}")
    return RatedCycles(
        min(low, stated),
        stated,
        max(high, stated),
        f"value of the profile; bounds typical for {cell}",
    )
