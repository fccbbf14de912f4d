"""Figures 5 and 6: programs as the Ready/Busy pins tell them, beside the drive's own count."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from writeamp._engine import CaptureWriter
from writeamp.devices.device import Device
from writeamp.experiments.ready_busy import pin_names
from writeamp.measure import facts_of, measure_ready_busy
from writeamp.measure.four_level import FourLevel
from writeamp.plots import FigureSpec
from writeamp.reproduce.bench import Bench, Findings
from writeamp.reproduce.four_level import figures
from writeamp.reproduce.four_level.drives import GIB, MIB, Life, Scale
from writeamp.reproduce.four_level.formulas import percentage_error
from writeamp.reproduce.four_level.loads import Access, grid
from writeamp.reproduce.items import Item, at_most

# A logic analyser of 10 MHz.
_PERIOD_PS = 100_000

# |PEN| in percent by the share of writes: the paper's (section IV.C), and ours from all pins.
_PRINTED = {1.0: 1.0, 0.5: 10.0}
_BAR = {1.0: 0.1, 0.5: 1.0}

_OURS, _FIXED = "mixture, all pins", "fixed window, all pins"
_OURS_ONE, _FIXED_ONE = "mixture, one pin", "fixed window, one pin"
METHODS = (_OURS, _FIXED, _OURS_ONE, _FIXED_ONE)


@dataclass(frozen=True)
class Form:
    """A drive like SSD-v, random writes before the test in sizes of it, and bytes of each test."""

    scale: Scale
    changes: tuple[str, ...]
    ageing_writes: float
    volume_bytes: int


# Section IV.C: 2 GB each. The short form keeps the blocks of 256 pages, so that erases are as rare.
FULL = Form(Scale(1, 256), (), 2, 2 * GIB)
SHORT = Form(Scale(32, 256), ("collection.soft_blocks=2", "collection.hard_blocks=1"), 2, 24 * MIB)

_Errors = Mapping[str, float]


def run(bench: Bench) -> Findings:
    """Measure every micro-benchmark of the figures from a capture of its own."""
    form = FULL if bench.full else SHORT
    drive = form.scale.device("ssd-v", *form.changes)
    accesses = grid((True, False), (1.0, 0.5))
    bench.step(f"programs told by {len(accesses)} captures (Figs. 5 and 6)")
    found = bench.map(_errors, [(drive, access, form) for access in accesses])
    errors = dict(zip(accesses, found, strict=True))
    items = _items(errors)
    if not bench.figures:
        return Findings(items)
    return Findings(items, _figures(errors, form, drive))


def _errors(drive: Device, access: Access, form: Form) -> _Errors:
    """Return |PEN| in percent by method."""
    load = access.load(drive.capacity_bytes, form.volume_bytes, seed=1)
    life = Life(drive, load, ageing_writes=form.ageing_writes, ready_busy=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rb.vcd"
        path.touch()
        pins = CaptureWriter(
            str(path), channels=pin_names(drive), comments=[str(access)], period_ps=_PERIOD_PS
        )
        counts = life.settle(heard=pins.drain)
        pins.finish(life.run.now_ns)
        told = measure_ready_busy(path, facts_of(drive), counts.written_bytes)
    real = sum(counts.pages.values())
    return {
        _OURS: percentage_error(told.mixture.flash_bytes / drive.page_bytes, real),
        _FIXED: percentage_error(told.fixed.flash_bytes / drive.page_bytes, real),
        _OURS_ONE: percentage_error(_by_one_pin(told.mixture, drive), real),
        _FIXED_ONE: percentage_error(_by_one_pin(told.fixed, drive), real),
    }


def _by_one_pin(told: FourLevel, drive: Device) -> float:
    """Return the programs of all dies if they were like those of the first (section III.C)."""
    first = next(iter(told.by_pin.values()))
    return first["program"].value * drive.dies * drive.pages_per_program


def _items(errors: Mapping[Access, _Errors]) -> list[Item]:
    """Return the largest |PEN| of each method, and where it is."""
    items = []
    for is_random in (False, True):
        for write_share, printed in _PRINTED.items():
            chosen = {
                access: error
                for access, error in errors.items()
                if (access.is_random, access.write_share) == (is_random, write_share)
            }
            figure = "Fig. 6, random" if is_random else "Fig. 5, sequential"
            for method in METHODS:
                worst = max(chosen, key=lambda access: chosen[access][method])
                of_paper = method in (_FIXED, _FIXED_ONE)
                items.append(
                    at_most(
                        f"{figure}, {write_share:.0%} writes: largest |PEN| (%), {method}",
                        printed if of_paper else _BAR[write_share],
                        chosen[worst][method],
                        note=f"at {worst}" + ("" if of_paper else "; our own bar, not the paper's"),
                    )
                )
    return items


def _figures(errors: Mapping[Access, _Errors], form: Form, drive: Device) -> dict[str, FigureSpec]:
    subtitle = (
        f"paper 5, Figs. 5 and 6 · {drive.name} of {drive.capacity_bytes / GIB:.3g} GiB, "
        f"{form.volume_bytes / MIB:g} MiB written each, pins sampled at 10 MHz"
    )
    return {"fig5-6-percentage-error": figures.percentage_errors(errors, METHODS, subtitle)}
