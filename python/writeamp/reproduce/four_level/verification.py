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
    """A drive like SSD-v, and what each test writes: bytes on a used drive and on a new one.

    `ageing_writes` are random writes before the tests on a used drive, in sizes of it;
    `most_writes` is the largest number of accesses, of sequential and of random ones.
    """

    scale: Scale
    changes: tuple[str, ...]
    ageing_writes: float
    volume_bytes: int
    new_volume_bytes: int
    most_writes: tuple[int, int]

    def volume(self, state: str, access: Access) -> int:
        """Return the bytes that an access writes."""
        most = self.volume_bytes if state == _USED else self.new_volume_bytes
        return min(most, self.most_writes[access.is_random] * access.size)


# Section IV.C: 2 GB each. The short form keeps the blocks of 256 pages, so that erases are as rare.
FULL = Form(Scale(1, 256), (), 2, 2 * GIB, 2 * GIB, (2**22, 2**22))
SHORT = Form(
    Scale(32, 256),
    ("collection.soft_blocks=2", "collection.hard_blocks=1"),
    2,
    64 * MIB,
    96 * MIB,
    (196_608, 8192),
)

# Section V: TRIM puts a drive into its first state before each test, in which 2 GB need no erase.
_NEW = "emptied by TRIM"
# Where errors are to be feared, collection goes on meanwhile, and erases are as long as programs.
_USED = "in random steady state"
_STATES = (_NEW, _USED)

_Errors = Mapping[str, float]
_Found = Mapping[tuple[str, Access], _Errors]


def run(bench: Bench) -> Findings:
    """Measure every micro-benchmark of the figures from a capture of its own."""
    form = FULL if bench.full else SHORT
    drive = form.scale.device("ssd-v", *form.changes)
    keys = [(state, one) for state in _STATES for one in grid((True, False), (1.0, 0.5))]
    bench.step(f"programs told by {len(keys)} captures (Figs. 5 and 6)")
    done = bench.map(_errors, [(drive, state, access, form) for state, access in keys])
    found = dict(zip(keys, done, strict=True))
    items = _items(found)
    if not bench.figures:
        return Findings(items)
    return Findings(items, _figures(found, form, drive))


def _errors(drive: Device, state: str, access: Access, form: Form) -> _Errors:
    """Return |PEN| in percent by method."""
    load = access.load(drive.capacity_bytes, form.volume(state, access), seed=1)
    is_used = state == _USED
    life = Life(
        drive,
        load,
        is_filled=is_used,
        ageing_writes=form.ageing_writes if is_used else 0,
        ready_busy=True,
    )
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


def _items(found: _Found) -> list[Item]:
    """Return the largest |PEN|: of all pins in either state, and of one pin as the paper has it.

    One pin stands for all dies, and where dies collect for themselves they differ; so its errors on
    a used drive are in the notes, and those of the paper's new one are judged.
    """
    items = []
    for is_random in (False, True):
        for write_share, printed in _PRINTED.items():
            figure = "Fig. 6, random" if is_random else "Fig. 5, sequential"
            what = f"{figure}, {write_share:.0%} writes: largest |PEN| (%)"
            worst = {
                state: {
                    method: max(
                        errors[method]
                        for (of_state, access), errors in found.items()
                        if (of_state, access.is_random, access.write_share)
                        == (state, is_random, write_share)
                    )
                    for method in METHODS
                }
                for state in _STATES
            }
            items += [
                at_most(
                    f"{what}, {method}, {state}",
                    _BAR[write_share] if method == _OURS else printed,
                    worst[state][method],
                    note="our own bar, not the paper's" if method == _OURS else "",
                )
                for method in (_OURS, _FIXED)
                for state in _STATES
            ]
            items += [
                at_most(
                    f"{what}, {method}, {_NEW}",
                    printed,
                    worst[_NEW][method],
                    note=f"{worst[_USED][method]:.2f}% {_USED}",
                )
                for method in (_OURS_ONE, _FIXED_ONE)
            ]
    return items


def _figures(found: _Found, form: Form, drive: Device) -> dict[str, FigureSpec]:
    subtitle = (
        f"paper 5, Figs. 5 and 6 · SSD-v of {drive.capacity_bytes / GIB:.3g} GiB {_USED}, "
        f"up to {form.volume_bytes / MIB:g} MiB each, sampled at 10 MHz"
    )
    errors = {access: found[_USED, access] for state, access in found if state == _USED}
    return {"fig5-6-percentage-error": figures.percentage_errors(errors, METHODS, subtitle)}
