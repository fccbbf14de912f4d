"""Figures 5 and 6: programs counted at the Ready/Busy pins and by the drive itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from writeamp.drives.pins.measurement import ready_busy
from writeamp.plots import FigureSpec
from writeamp_papers.bench import Bench, Findings
from writeamp_papers.four_level import figures
from writeamp_papers.four_level.choices import CHOICES, PAIR, Choices, by_reading
from writeamp_papers.four_level.drives import GIB, MIB, Counts, Drive, Life, Scale
from writeamp_papers.four_level.formulas import (
    TESTED_US,
    percentage_error,
    share_of_window,
)
from writeamp_papers.four_level.loads import SECTOR_BYTES, SIZES, Access, grid
from writeamp_papers.items import Item, at_most, checked, compared, ordered, typed_in

# Bounds of the absolute percentage error |PEN| in percent, by the share of writes: the paper's for
# one pin (section IV.C), and ours for all pins with a mixture of times.
_PRINTED = {1.0: 1.0, 0.5: 10.0}
_BAR = {1.0: 0.2, 0.5: 1.0}

_VOLUME_BYTES = 2 * GIB

# Share of low times that an analyser misses, to find the sign of the error (section IV.C, second
# reason).
_MISSED = 0.01


@dataclass(frozen=True)
class VerificationForm:
    """A scaled SSD-v, and the maximum number of 512-byte writes of a workload.

    The drives of short and of full runs have blocks of 256 pages, so that erases are equally rare.
    """

    scale: Scale
    changes: tuple[str, ...]
    most_small_writes: int

    def drive(self, choices: Choices) -> Drive:
        """Return the drive under a reading's choices.

        Reads get no share of the drive's cache, because one drive serves loads with and without
        reads in turn.
        """
        return self.scale.drive("ssd-v", choices.firmware, *self.changes)

    def load_bytes(self, access: Access) -> int:
        """Return the bytes that a workload of this access writes."""
        volume = _VOLUME_BYTES // self.scale.factor
        if access.size > SECTOR_BYTES:
            return volume
        return min(volume, self.most_small_writes * access.size)


# SSD-v has its full size in the full form: no smaller drive gives the same error of one pin.
FULL = VerificationForm(Scale(1, 256), (), 65_536)
SHORT = VerificationForm(
    Scale(32, 256), ("collection.soft_blocks=2", "collection.hard_blocks=1"), 32_768
)


@dataclass(frozen=True)
class Errors:
    """Errors of the program counts at the pins on a workload.

    Attributes:
        one_pin, all_pins: absolute percentage error |PEN| of the first pin and of all pins, if
            low times within a fixed window count as programs.
        mixture: |PEN| of all pins, if a fitted mixture of times decides; 0 if not computed.
        counted: programs counted at all pins, divided by the drive's count.
        kinds_us: mean times of the kinds of programs in the mixture, in µs.
    """

    one_pin: float
    all_pins: float
    mixture: float
    counted: float
    kinds_us: tuple[float, ...] = ()


_Found: TypeAlias = Mapping[Access, Errors]


def run(bench: Bench) -> Findings:
    """Measure every micro-benchmark of the figures from its own capture."""
    form = FULL if bench.full else SHORT
    runs = dict.fromkeys(_run_of(choices) for choices in CHOICES.values())
    bench.step(f"programs by {len(_order())} captures, {len(runs)} times (Figs. 5 and 6)")
    jobs: list[tuple[Choices, tuple[Access, ...]]] = []
    for choices in runs:
        parts = [(access,) for access in _order()] if choices.is_emptied else [tuple(_order())]
        jobs += [(choices, workloads) for workloads in parts]
    done = bench.map(_errors, [(form, choices, workloads) for choices, workloads in jobs])
    errors_by_choices: dict[Choices, dict[Access, Errors]] = {choices: {} for choices in runs}
    for (choices, workloads), errors in zip(jobs, done, strict=True):
        errors_by_choices[choices] |= dict(zip(workloads, errors, strict=True))
    missed = _missed_low_times(form)
    items = [
        *_bounds(errors_by_choices),
        *_used(errors_by_choices),
        *_causes(errors_by_choices, missed),
        *_our_bar(errors_by_choices),
    ]
    if not bench.figures:
        return Findings(items)
    return Findings(items, _figures(errors_by_choices[_run_of(CHOICES[PAIR])], form))


def _run_of(choices: Choices) -> Choices:
    """Return a reading's choices with defaults for those that do not affect Figs. 5 and 6.

    Readings that are equal then share their runs.
    """
    firmware = replace(choices.firmware, flash_of_ssd_i="ssd-i", read_share=0)
    return Choices(firmware, choices.is_emptied)


def _order() -> list[Access]:
    """Return the workloads in the order of the legend: size, pattern, share, alignment."""
    return sorted(
        grid((True, False), (1.0, 0.5)),
        key=lambda access: (
            access.size,
            not access.is_random,
            access.write_share,
            not access.is_aligned,
        ),
    )


def _errors(
    form: VerificationForm, choices: Choices, workloads: tuple[Access, ...]
) -> list[Errors]:
    """Return the errors of the pins on successive workloads of one drive."""
    errors = []
    life: Life | None = None
    is_ours = choices == _run_of(CHOICES[PAIR])
    drive = form.drive(choices)
    for number, access in enumerate(workloads):
        load = access.load(drive.capacity_bytes, form.load_bytes(access), seed=number + 1)
        seen: list[tuple[float, tuple[float, ...]]] = []
        # The fit takes longer than the run, and alignment does not change the times of programs.
        look = _mixture_of(drive, seen) if is_ours and access.is_aligned else None
        if life is None:
            life = Life(drive, load, is_filled=not choices.is_emptied)
            counts = life.settle(look)
        else:
            counts = life.go_on(load, look)
        errors.append(_errors_of(counts, *(seen[0] if seen else (None, ()))))
    return errors


def _mixture_of(
    drive: Drive, seen: list[tuple[float, tuple[float, ...]]]
) -> Callable[[Path], None]:
    """Return a function that measures a capture by a mixture of times and stores the result."""

    def look(path: Path) -> None:
        measured = ready_busy(path, drive.facts, 1.0)
        kinds = [
            component["mean_us"]
            for component in measured.components()
            if component["class"] == "program"
        ]
        seen.append((measured.mixture.flash_bytes, tuple(kinds)))

    return look


def _errors_of(counts: Counts, mixture_bytes: float | None, kinds_us: tuple[float, ...]) -> Errors:
    true_bytes = counts.true_wa * counts.written_bytes
    return Errors(
        counts.error_by_one,
        counts.error,
        0.0 if mixture_bytes is None else percentage_error(mixture_bytes, true_bytes),
        counts.wa / counts.true_wa,
        kinds_us,
    )


def _missed_low_times(form: VerificationForm) -> float:
    """Return the ratio of counted to true programs if sampling misses low times.

    The drive starts empty.
    """
    drive = form.drive(CHOICES[PAIR])
    access = Access(max(SIZES), is_random=False, write_share=1, is_aligned=True)
    load = access.load(drive.capacity_bytes, form.load_bytes(access), seed=1)
    counts = Life(drive, load, is_filled=False, missed=_MISSED).settle()
    return counts.wa / counts.true_wa


def _bounds(errors_by_choices: Mapping[Choices, _Found]) -> list[Item]:
    """Return items on the largest |PEN| of each kind of workload, by one pin and by all pins."""
    items = []
    for is_random, figure, ids in (
        (False, "Fig. 5, sequential", "P5-F5-1"),
        (True, "Fig. 6, random", "P5-F6-1"),
    ):
        for write_share, printed in _PRINTED.items():
            statement = f"{ids} {'P5-A-1' if write_share == 1 else 'P5-A-2'}"
            what = f"{figure}, {write_share:.0%} writes: largest absolute percentage error |PEN|"
            items += [
                at_most(
                    f"{what}, counted at one pin",
                    printed,
                    _largest(
                        errors_by_choices,
                        is_random,
                        write_share,
                        lambda workload_errors: workload_errors.one_pin,
                    ),
                    note="programs at this pin times the number of dies, as in the paper",
                    statement=statement,
                ),
                at_most(
                    f"{what}, counted at all pins",
                    printed,
                    _largest(
                        errors_by_choices,
                        is_random,
                        write_share,
                        lambda workload_errors: workload_errors.all_pins,
                    ),
                    note="cause of the error: erases with a low time in the window of programs",
                    statement=f"{statement} P5-E-4",
                ),
            ]
        errors = {
            share: _largest(
                errors_by_choices, is_random, share, lambda workload_errors: workload_errors.one_pin
            )
            for share in _PRINTED
        }
        items.append(
            ordered(
                f"{figure}: largest |PEN| of 100% writes ÷ that of 50%, counted at one pin",
                {name: errors[1.0][name] / errors[0.5][name] for name in errors[1.0]},
                statement="P5-F6-2",
            )
        )
    return items


def _used(errors_by_choices: Mapping[Choices, _Found]) -> list[Item]:
    """Return items on |PEN| of one pin on a used drive with separate collection on each die.

    The drive of the default reading is used for all readings, because some readings empty the drive
    before each workload.
    """
    errors = errors_by_choices[_run_of(CHOICES[PAIR])]
    return [
        at_most(
            f"Figs. 5 and 6, used drive with separate collection on each die, {share:.0%} writes: "
            "largest absolute percentage error |PEN|, counted at one pin",
            printed,
            max(
                workload_errors.one_pin
                for access, workload_errors in errors.items()
                if access.write_share == share
            ),
            statement="P5-A-1" if share == 1 else "P5-A-2",
        )
        for share, printed in _PRINTED.items()
    ]


def _largest(
    errors_by_choices: Mapping[Choices, _Found],
    is_random: bool,
    write_share: float,
    error: Callable[[Errors], float],
) -> dict[str, float]:
    return by_reading(
        lambda choices: max(
            error(errors)
            for access, errors in errors_by_choices[_run_of(choices)].items()
            if (access.is_random, access.write_share) == (is_random, write_share)
        )
    )


def _causes(errors_by_choices: Mapping[Choices, _Found], missed: float) -> list[Item]:
    """Return items on section IV.C's causes of errors."""
    low_us, high_us = TESTED_US["ssd-v"]
    random = Access(4096, is_random=True, write_share=1, is_aligned=True)
    kinds_us = errors_by_choices[_run_of(CHOICES[PAIR])][random].kinds_us
    return [
        typed_in(
            compared(
                "Section IV.C: programs of 2000 to 2200 µs, if all times of the window are as "
                "likely",
                0.10,
                share_of_window(2000, (low_us, high_us)),
                0.005,
                statement="P5-E-3",
            )
        ),
        ordered(
            "Section IV.C: true programs ÷ counted ones if erases fall into the window",
            by_reading(
                lambda choices: max(
                    1 / errors.counted
                    for access, errors in errors_by_choices[_run_of(choices)].items()
                    if access.is_random and access.write_share == 1
                )
            ),
            note="random workloads of 100% writes, counted at all pins; the largest ratio",
            statement="P5-E-5",
        ),
        ordered(
            "Section IV.C: counted programs ÷ true ones if sampling misses 1% of the low times",
            missed,
            note="on an empty drive, which erases nothing",
            statement="P5-E-6",
        ),
        ordered(
            "Section IV.C: program time of lower pages ÷ that of upper ones",
            min(kinds_us) / max(kinds_us),
            note="shortest and longest mean time of the kinds of programs in a fitted mixture",
            statement="P5-E-7",
        ),
    ]


def _our_bar(errors_by_choices: Mapping[Choices, _Found]) -> list[Item]:
    """Return items on the largest |PEN| of the mixture of times, which is not in the paper."""
    ours = errors_by_choices[_run_of(CHOICES[PAIR])]
    return [
        checked(
            at_most(
                f"Figs. 5 and 6, {share:.0%} writes, aligned: largest absolute percentage error "
                "|PEN|, counted at all pins by a mixture of times",
                bar,
                max(
                    workload_errors.mixture
                    for access, workload_errors in ours.items()
                    if access.write_share == share
                ),
                note="the bound is ours; the error is that from the drive's own count",
            )
        )
        for share, bar in _BAR.items()
    ]


def _figures(errors_by_access: _Found, form: VerificationForm) -> dict[str, FigureSpec]:
    drive = form.drive(CHOICES[PAIR])
    volume = _VOLUME_BYTES / form.scale.factor / MIB
    subtitle = (
        f"paper 5, Figs. 5 and 6 · SSD-v of {drive.capacity_bytes / GIB:.3g} GiB, one workload "
        f"after the other, up to {volume:g} MiB written by each, pins sampled at 10 MHz"
    )
    by_method = {
        access: {
            "one pin (the paper's method)": errors.one_pin,
            "all pins, fixed window": errors.all_pins,
            "all pins, mixture (aligned accesses)": errors.mixture,
        }
        for access, errors in errors_by_access.items()
    }
    methods = list(next(iter(by_method.values())))
    return {"fig5-6-percentage-error": figures.percentage_errors(by_method, methods, subtitle)}
