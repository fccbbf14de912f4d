"""Park et al. 2017, sections 4.4 and 4.5: a simulated Samsung 843TN."""

from __future__ import annotations

from functools import partial
from itertools import product

import polars as pl

from writeamp.devices.device import Device, device
from writeamp.plots import LineChart
from writeamp.settings.experiment import Experiment
from writeamp.studies.simulation import simulate_untimed
from writeamp_papers.bench import Bench, Findings
from writeamp_papers.items import Item, at_most, compared, typed_in
from writeamp_papers.park2017 import figures
from writeamp_papers.park2017.hot_file import (
    PASSES,
    Passes,
    overwrite,
    overwrite_for_long,
    two_files,
)
from writeamp_papers.park2017.readings import (
    ALL,
    HALVES,
    IN_TURN,
    MIXTURE,
    PASSES_COUNTED,
    SETTLED,
    by_choice,
)

PROFILE = "samsung-843tn"

UTILIZATIONS = (0.6, 0.7, 0.8, 0.9)
HOT_RATIOS = (0.1, 0.2, 0.3, 0.4)

# Section 4.4: sizes of the hot and the cold file in GB; together they fill the file system.
_HOT_GB, _COLD_GB = 112.9, 102.1
_HOT_SHARE = _HOT_GB / (_HOT_GB + _COLD_GB)

# Measured WA of the paper's drive, by utilization and hot ratio (share of the file system that is
# overwritten), under uniform random writes (Table 6 and section 4.5).
MEASURED = {(0.8, 0.3): 1.19, (0.9, 0.2): 1.17, (0.9, 0.3): 1.341, (0.9, 0.4): 1.518}
_MEASURED_FIG_3, _PREDICTED_FIG_3 = 2.466, 2.481

# Section 4.1: "channels and ways do not have any effect". The paper gives no numbers of them.
_CHANNELS, _WAYS, _CHANNEL_TOLERANCE = 8, 4, 0.001

# Firmware and file system are not simulated, so agreement to 1% is a match.
_DRIVE_TOLERANCE = 0.01

# Pages per superblock. Short runs keep the number of superblocks but have fewer pages in each; runs
# for the figure of errors have even fewer.
_SHORT_PAGES, _SHORT_MAP_PAGES = 512, 64
_FULL_MAP_PAGES = 256

# Length of a run in drive writes. By then, even a small share of writes to cold data has mixed hot
# and cold data in all blocks.
_FOR_LONG_DRIVE_WRITES = 120

_INTERLEAVED = "phases:writes=1/1,of=sequential/uniform"
_HALVES = "mix:sizes=1/1,weights=1/1,of=sequential/uniform"
_PATTERNS = {
    "uniform": "uniform",
    _INTERLEAVED: "sequential and uniform in turn",
    _HALVES: "sequential half, uniform half",
    "sequential": "sequential",
}

_GIB = 2**30

# Tolerance in GiB: half a unit of the last printed digit of 215 GB, of the op 0.147, and of the
# 23.4 GB.
_OF_ROUNDED_SIZES_GIB = 0.5 * 1.147 + 215 * 0.0005 + 0.05


def run(bench: Bench) -> Findings:
    """Simulate the drive and compare it with the paper's measurements of the real one."""
    drive = device(PROFILE, pages_per_block=None if bench.full else _SHORT_PAGES)
    findings = Findings(_capacity())
    bench.step(f"fifteen passes over the hot file (Fig. 3, N={drive.pages_per_block})")
    findings += _figure_3(bench, drive)
    findings += _figure_4(bench, drive)
    if bench.figures:
        findings += _where_effective_op_fails(bench)
    return findings


def _capacity() -> list[Item]:
    """Return items on the sizes of the profile, which follow from Table 3 and section 4.5."""
    drive = device(PROFILE)
    physical_bytes = drive.physical_pages * drive.page_bytes
    file_system_gib = drive.logical_pages * drive.page_bytes / _GIB
    items = [
        compared("section 4.5: file system (GB)", 215, file_system_gib, 0.5),
        compared("section 4.5: op", 0.147, physical_bytes / (215 * _GIB) - 1, 0.0005),
        compared("section 4.4: op", 0.28, drive.op / _HOT_SHARE, 0.005),
        compared(
            "Table 3: over-provisioning capacity (GB)",
            23.4,
            (physical_bytes - 240e9) / _GIB,
            _OF_ROUNDED_SIZES_GIB,
            note="assumed: the nominal 240 GB in 10^9 bytes, all other sizes in GiB; the computed "
            "value follows from 215 GB and op 0.147, which are rounded",
        ),
    ]
    return [typed_in(item) for item in items]


def _figure_3(bench: Bench, drive: Device) -> Findings:
    passes = overwrite(drive, 1.0, _HOT_SHARE)
    first = passes.wa_of_pass[0]
    items = [
        compared(
            "Fig. 3: drive at op 0.28, all fifteen passes",
            _MEASURED_FIG_3,
            _by_passes(passes),
            _DRIVE_TOLERANCE * _MEASURED_FIG_3,
            note=f"simulated; WA of the first pass is {first:.3f}, as it finds free superblocks",
        ),
        compared(
            "Fig. 3: drive at op 0.28 without the first five passes, beside the models' WA",
            _PREDICTED_FIG_3,
            passes.settled,
            _DRIVE_TOLERANCE * _PREDICTED_FIG_3,
            note="simulated; the models assume many blocks, and ignore that some of the 126 spare "
            "superblocks are open or reserved",
        ),
        _channels(drive, passes.all),
    ]
    if not bench.figures:
        return Findings(items)
    figure = figures.passes(drive, passes, _MEASURED_FIG_3)
    return Findings(items, {"fig3-passes": figure})


def _channels(drive: Device, wa_of_one: float) -> Item:
    """Return the item on section 4.1: with superblocks, channels and ways do not affect WA."""
    of_superblocks, of_blocks = (
        overwrite(channels_of(drive, erase_unit), 1.0, _HOT_SHARE).all / wa_of_one
        for erase_unit in ("superblock", "block")
    )
    return compared(
        f"section 4.1: WA with {_CHANNELS} channels of {_WAYS} ways ÷ WA with a single channel",
        1.0,
        of_superblocks,
        _CHANNEL_TOLERANCE,
        note=f"simulated; {of_blocks:.3f} if the blocks of a superblock are erased one by one",
    )


def channels_of(drive: Device, erase_unit: str) -> Device:
    """Return the drive with each superblock divided into a block on each way of each channel."""
    ways = _CHANNELS * _WAYS
    return device(
        drive,
        blocks=drive.geometry.blocks * (ways if erase_unit == "block" else 1),
        pages_per_block=drive.pages_per_block // ways,
        set={
            "geometry.channels": _CHANNELS,
            "geometry.chips_per_channel": _WAYS,
            "geometry.erase_unit": erase_unit,
        },
    )


def _figure_4(bench: Bench, drive: Device) -> Findings:
    grid = list(product(_PATTERNS, UTILIZATIONS, HOT_RATIOS))

    bench.step(f"{len(grid)} runs: pairs of files, each under {len(_PATTERNS)} patterns (Fig. 4)")
    passes = dict(zip(grid, bench.map(partial(_overwritten, drive), grid), strict=True))
    items = [
        _against_drive(published, place, passes["uniform", *place])
        for place, published in MEASURED.items()
    ]
    items += _words_of_section_4_5(passes, _other_mixtures(bench, drive))
    if not bench.figures:
        return Findings(items)
    figure = figures.grid(drive, _PATTERNS, passes, MEASURED)
    return Findings(items, {"fig4-grid": figure})


def _overwritten(
    drive: Device, pattern: str, utilization: float, written_fraction: float
) -> Passes:
    return overwrite(drive, utilization, written_fraction, pattern)


def _against_drive(published: float, place: tuple[float, float], passes: Passes) -> Item:
    utilization, written_fraction = place
    return compared(
        f"Table 6 and Fig. 4: drive, utilization {utilization:.0%}, hot {written_fraction:.0%}",
        published,
        _by_passes(passes),
        _DRIVE_TOLERANCE * published,
        note=f"simulated, mean WA of all {PASSES} passes; {passes.settled:.3f} without the first "
        "five",
    )


def _by_passes(passes: Passes) -> dict[str, float]:
    return by_choice(PASSES_COUNTED, {ALL: passes.all, SETTLED: passes.settled})


def _other_mixtures(bench: Bench, drive: Device) -> dict[str, float]:
    """Return WA of sequential and uniform writes in longer turns, by the kind of turn.

    Runs have the highest utilization and the largest hot file, because WA is largest there.
    """
    utilization, written_fraction = max(UTILIZATIONS), max(HOT_RATIOS)
    turns = {
        "superblock by superblock": drive.pages_per_block,
        "pass by pass": round(written_fraction * drive.logical_pages),
    }
    runs = [
        (drive, utilization, written_fraction, f"phases:writes={n}/{n},of=sequential/uniform")
        for n in turns.values()
    ]
    results = zip(turns, bench.map(overwrite, runs), strict=True)
    return {
        f"{name} (only at {utilization:.0%}, {written_fraction:.0%})": p.all for name, p in results
    }


def _words_of_section_4_5(
    passes: dict[tuple[str, float, float], Passes], others: dict[str, float]
) -> list[Item]:
    """Return items on statements in words on Fig. 4, whose bars have no printed numbers.

    `others` has WA of sequential and random writes that are mixed in further ways, by name.
    """

    def largest(pattern: str, utilizations: tuple[float, ...], hot: tuple[float, ...]) -> float:
        return max(passes[pattern, u, h].all for u, h in product(utilizations, hot))

    interleaved = largest(_INTERLEAVED, UTILIZATIONS, HOT_RATIOS)
    halves = largest(_HALVES, UTILIZATIONS, HOT_RATIOS)
    return [
        compared(
            'Fig. 4: largest WA at utilization 60-70% with a small hot file ("slightly over 1")',
            1.0,
            largest("uniform", (0.6, 0.7), (0.1,)),
            0.05,
            note="simulated; a hot file of 10%, uniform writes",
        ),
        at_most(
            'Fig. 4: largest WA of sequential writes ("less than 1.2")',
            1.2,
            largest("sequential", UTILIZATIONS, HOT_RATIOS),
            note="simulated",
        ),
        at_most(
            'Fig. 4: largest WA of sequential+random writes ("less than 1.2")',
            1.2,
            by_choice(MIXTURE, {IN_TURN: interleaved, HALVES: halves}),
            note="simulated; "
            + ", ".join(f"{name}: {value:.2f}" for name, value in others.items()),
        ),
    ]


def _where_effective_op_fails(bench: Bench) -> Findings:
    """Return heat maps of the error of the model expected-value with the effective op."""
    drive = device(PROFILE, pages_per_block=_FULL_MAP_PAGES if bench.full else _SHORT_MAP_PAGES)
    patterns = {"uniform": "uniform", "zipf:s=0.5": "Zipf s=0.5", "zipf:s=0.99": "Zipf s=0.99"}
    cold_shares = (0.0, 0.01, 0.1)
    points = list(product(cold_shares, patterns, UTILIZATIONS, HOT_RATIOS))

    bench.step(f"error of the effective op at {len(points)} points")
    wa_by_point = dict(
        zip(points, bench.map(partial(_overwritten_for_long, drive), points), strict=True)
    )
    return Findings(
        figures={
            "effective-op-error": figures.errors(drive, patterns, wa_by_point),
            "effective-op-over-time": _over_time(bench, drive),
        }
    )


def _overwritten_for_long(
    drive: Device, cold_share: float, pattern: str, utilization: float, written_fraction: float
) -> float:
    return overwrite_for_long(
        drive, utilization, written_fraction, pattern=pattern, cold_share=cold_share
    )


def _over_time(bench: Bench, drive: Device) -> LineChart:
    """Describe WA over drive writes while a small share of the writes goes to the cold file."""
    utilization, written_fraction = 0.9, 0.1
    bench.step("WA over time with a share of the writes to cold data")
    shares = (0.0, 0.005, 0.01, 0.02, 0.05)
    runs = [(drive, utilization, written_fraction, share) for share in shares]
    results = zip(shares, bench.map(_series, runs), strict=True)
    series = {s: (f["drive_writes"].to_numpy(), f["wa"].to_numpy()) for s, f in results}
    return figures.over_time(drive, utilization, written_fraction, series)


def _series(
    drive: Device, utilization: float, written_fraction: float, cold_share: float
) -> pl.DataFrame:
    experiment = Experiment.of(
        "simulate",
        device=drive,
        workload=two_files(utilization, written_fraction, "uniform", cold_share),
        utilization=utilization,
        writes=_FOR_LONG_DRIVE_WRITES * drive.logical_pages,
        warmup=0,
        replicas=1,
    )
    return simulate_untimed(experiment).series
