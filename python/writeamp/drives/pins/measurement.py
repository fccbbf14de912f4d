"""Write amplification from a capture of Ready/Busy pins, by a fixed window and by a mixture."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from writeamp.drives.pins import classes, doubts, mixture
from writeamp.drives.pins.capture import Durations, Floats, Pin, PinCapture, pooled, read
from writeamp.drives.pins.classes import CLASSES, Classification, Shares
from writeamp.drives.pins.device_facts import PinFacts
from writeamp.drives.pins.doubts import Doubt, most_hidden, with_erases
from writeamp.drives.pins.four_level import (
    FourLevel,
    agree,
    class_errors,
    count,
    disagreement,
    doubt_warnings,
    four_level,
)
from writeamp.drives.pins.mixture import DurationMixture
from writeamp.drives.pins.settings import METHODS, Method, PinSettings
from writeamp.drives.pins.unseen import capture_warnings, most_missed, overlap, sample_us
from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import Number, OneOf
from writeamp.plots.figures.ready_busy import ClassSeries, durations_by_class
from writeamp.plots.spec import PanelChart
from writeamp.results.card import Card, Spark
from writeamp.results.drawn import Drawn
from writeamp.results.numbers import plural, with_interval
from writeamp.runners import Progress

_HOST_BYTES = Number("be above 0", lambda value: value > 0)


@dataclass(frozen=True, eq=False)
class ReadyBusy(Drawn):
    """Measurement of a drive by a capture of its Ready/Busy pins.

    Attributes:
        method: method of `answer`: "mixture" or "fixed".
        mixture, fixed: write amplification and counts by each method.
        fitted: the fitted mixture.
        reading: classification of the mixture's components.
        window_us: the fixed window of programs, in µs.
        facts: facts of the drive.
        host_bytes: bytes that the host wrote during the capture.
        capture: the capture.
        used: names of the counted pins.
        doubts: doubts about the programs of the mixture, which its interval includes.
        warnings: sentences about possible errors.
    """

    method: Method
    mixture: FourLevel
    fixed: FourLevel
    fitted: DurationMixture
    reading: Classification
    window_us: tuple[float, float]
    facts: PinFacts
    host_bytes: float
    capture: PinCapture
    used: tuple[str, ...]
    doubts: tuple[Doubt, ...]
    warnings: tuple[str, ...]

    @property
    def answer(self) -> FourLevel:
        """Write amplification and counts by the selected method."""
        return self.mixture if self.method == "mixture" else self.fixed

    @property
    def methods_agree(self) -> bool:
        """Whether the intervals of the two methods overlap."""
        return agree(self.mixture, self.fixed)

    @property
    def ci(self) -> tuple[float, float]:
        """The 95% confidence interval of `wa`; if the methods disagree, it includes both."""
        if self.methods_agree:
            return self.answer.ci
        low, high = zip(self.mixture.ci, self.fixed.ci, strict=True)
        return (min(low), max(high))

    def components(self) -> list[dict[str, Any]]:
        """Return the components of the mixture, shortest first."""
        fitted = self.fitted
        return [
            {
                "class": of_class,
                "mean_us": float(mean_us),
                "sd_us": float(sd_us),
                "share": float(share),
            }
            for of_class, mean_us, sd_us, share in zip(
                self.reading.of_component, fitted.mean_us, fitted.sd_us, fitted.share, strict=True
            )
        ]

    def over_time(self) -> dict[str, Floats]:
        """Return the busy share and the operations of all captured pins over time.

        Over time, durations are known only in bins that are 9% wide. The mixture divides the
        operations of a bin into classes.

        Returns:
            `start_s`, `busy_share`, `reads`, `programs` and `erases`, shape (n,) each.
        """
        line = self.capture.over_time
        low_us, high_us = line.edges_us[:-1], line.edges_us[1:]
        responsibilities = self.fitted.responsibilities(low_us, high_us)
        shares = classes.shares(self.reading, responsibilities)
        counts = line.counts.astype(float)
        by_class = {f"{name}s": counts @ shares[name] for name in CLASSES}
        return {"start_s": line.start_s, "busy_share": line.busy_share} | by_class

    def to_dict(self) -> dict[str, Any]:
        """Return the measurement as JSON types."""
        over_time = {name: values.tolist() for name, values in self.over_time().items()}
        by_pin = self.answer.by_pin
        return {
            **self.answer.to_dict(),
            "wa_ci95": list(self.ci),
            "method": self.method,
            "methods_agree": self.methods_agree,
            "host_bytes": self.host_bytes,
            "pages_per_program": self.facts.pages_per_program,
            "page_bytes": self.facts.page_bytes,
            "dies": self.facts.dies,
            "pins_counted": list(self.used),
            "mixture": self.mixture.to_dict(),
            "fixed_window": self.fixed.to_dict() | {"window_us": list(self.window_us)},
            "pins": {
                pin: {f"{name}s": counts[name].value for name in CLASSES}
                for pin, counts in by_pin.items()
            },
            "spread_between_dies": self.answer.spread,
            "sure_share": {
                name: min(by_pin[pin][name].sure_share for pin in self.used) for name in CLASSES
            },
            "components": self.components(),
            "component_shape": self.fitted.shape,
            "unexplained_share": self.fitted.background,
            "doubts": {
                doubt.name: {"too_many": doubt.too_many, "missing": doubt.missing}
                for doubt in self.doubts
            },
            "duty_cycle": self.capture.busy_share,
            "over_time": over_time,
            "capture_format": self.capture.format,
            "capture_s": self.capture.seconds,
            "resolution_us": self.capture.resolution_us,
            "repairs": self.capture.repairs,
            "warnings": list(self.warnings),
        }

    def card(self) -> Card:
        """Return the main facts in words, with busy time as a line."""
        facts, capture = self.facts, self.capture
        rows = [
            (
                "capture",
                f"{capture.format}, {capture.seconds:.6g} s, {plural(len(capture.pins), 'pin')}",
            ),
            ("host wrote", f"{self.host_bytes:,.0f} bytes"),
            (
                "flash",
                f"{facts.dies} dies; a program writes {plural(facts.pages_per_program, 'page')} of "
                f"{facts.page_bytes:,} bytes",
            ),
            ("WA", with_interval(self.answer.wa, self.ci, ".5f")),
            (
                "the two methods",
                "agree within their intervals"
                if self.methods_agree
                else "disagree: neither is reliable alone, and the interval of WA includes both",
            ),
            *self.mixture.cells("mixture"),
            *self.fixed.cells("fixed window, {:g} to {:g} µs".format(*self.window_us)),
        ]
        rows += [
            (
                f"component: {component['class']}",
                f"{component['mean_us']:,.1f} ± {component['sd_us']:.1f} µs (standard deviation), "
                f"{component['share']:.3%} of the pulses",
            )
            for component in self.components()
        ]
        spread = self.answer.spread
        if spread is not None:
            rows.append(
                (
                    "programs per die",
                    f"{spread['mean']:,.1f} ± {spread['sd']:,.1f} (standard deviation), "
                    f"{spread['min']:,.1f} to {spread['max']:,.1f}",
                )
            )
        rows.append(("duty cycle", f"{capture.busy_share:.3%} of the time busy, mean of the pins"))
        rows += [
            (f"repaired: {name.replace('_', ' ')}", f"{count:,}")
            for name, count in capture.repairs.items()
        ]
        line = capture.over_time
        spark = Spark(line.start_s, line.busy_share, "share of busy time over the capture")
        pins = f"{len(self.used)} of {len(capture.pins)} pins"
        notes = [f"WA is by the {self.method} method, from {pins}"]
        return Card("Ready/Busy capture", rows, warnings=self.warnings, notes=notes, spark=spark)

    def _records(self) -> list[dict[str, Any]]:
        # Data over time has one row per bucket of time, so it is left out of this table of one row.
        return [{name: value for name, value in self.to_dict().items() if name != "over_time"}]

    def figure(self) -> PanelChart:
        """Describe operations over duration by class, and operations and busy share over time.

        The axis of durations is logarithmic.
        """
        pulses = pooled([pin.durations for pin in self.capture.pins if pin.name in self.used])
        shares = _mixture_shares(self.fitted, self.reading, pulses)
        over_time = self.over_time()
        return durations_by_class(
            middle_us=pulses.middle_us,
            counts={name: pulses.count * shares[name] for name in CLASSES},
            window_us=self.window_us,
            over_time=[
                ClassSeries(name, over_time["start_s"], over_time[f"{name}s"]) for name in CLASSES
            ],
            duty_cycle=ClassSeries("busy", over_time["start_s"], over_time["busy_share"]),
            subtitle=(
                f"{len(self.used)} of {self.facts.dies} pins, {self.capture.seconds:.4g} s; "
                f"WA {self.answer.wa:.4f} by the {self.method} method"
            ),
        )


def ready_busy(
    path: str | os.PathLike[str],
    facts: PinFacts,
    host_bytes: float,
    *,
    pin: str | None = None,
    method: Method = PinSettings.method,
    inverted: bool = PinSettings.inverted,
    progress: Progress | None = None,
) -> ReadyBusy:
    """Measure write amplification from a capture of Ready/Busy pins.

    Both methods are computed: the fixed window of paper 5, and a mixture of distributions that is
    fitted to the durations of the capture itself.

    Args:
        path: a VCD, a sigrok session or CSV, or Saleae Logic 2's CSV or binary export.
        facts: the drive's levels of parallelism and the times of its flash.
        host_bytes: bytes that the host wrote during the capture.
        pin: the only pin to count, from which all dies are extrapolated; default: all.
        method: method of `answer`: "mixture" or "fixed".
        inverted: whether a pin is high, rather than low, while a die is busy.
        progress: called with the bytes read and the total bytes, if they are known.

    Returns:
        `ReadyBusy`: `answer` by the selected method (`wa`, `ci`), `mixture`, `fixed`,
            `methods_agree`, `doubts`, `warnings`.

    Raises:
        WriteampError: the capture cannot be read, has more pins than the drive has dies, or has
            durations with an ambiguous class.
    """
    OneOf(METHODS).check("method", method)
    host_bytes = _HOST_BYTES.check("host_bytes", host_bytes)
    window_us = facts.fixed_window_us()
    capture = read(path, inverted=inverted, progress=progress)
    used = _used(capture, pin, facts)
    pulses = pooled([pin.durations for pin in used])
    if pulses.total == 0:
        raise WriteampError(
            f"{os.fspath(path)}: no pin has a complete busy pulse of 2 µs to 100 ms, so no "
            "operation can be counted"
        )
    fitted, reading = _fitted_mixture(pulses, facts)
    shown = capture.pins if len(capture.pins) <= facts.dies else used

    of_pulses = _mixture_shares(fitted, reading, pulses)
    of_mixture = count(pulses, of_pulses)
    errors = class_errors(fitted, reading, pulses, of_pulses)
    # The uncertainty of the mixture's fit is common to all pins, so each pin's error is increased
    # by the same factor.
    inflation = {
        name: max(1.0, errors[name] / error.error) if error.error > 0 else 1.0
        for name, error in of_mixture.items()
    }
    hidden = 0.0
    if not reading.of("erase"):
        hidden = most_hidden(fitted, reading, pulses, facts.erase_us)
    period_us = sample_us(capture)
    missed = 0.0 if period_us is None else most_missed(capture, period_us)
    shared = overlap(fitted, pulses, used, capture.seconds, facts)
    of_both = doubts.of_capture(sum(pin.cut for pin in used), missed)
    if shared.is_likely:
        counted = of_mixture["program"].value
        of_both.append(Doubt("shared_pins", 0.0, max(0.0, shared.most_programs - counted)))
    mixture_doubts = [*doubts.of_mixture(fitted, reading, pulses, of_pulses, hidden), *of_both]
    of_kinds = _kind_shares(fitted, reading, pulses)
    of_window = [*doubts.of_window(window_us, reading, pulses, of_kinds, hidden), *of_both]

    def by_method(shares_of: Callable[[Durations], Shares], doubtful: Sequence[Doubt]) -> FourLevel:
        by_pin = {
            pin.name: {
                name: replace(counted, error=counted.error * inflation[name])
                for name, counted in count(pin.durations, shares_of(pin.durations)).items()
            }
            for pin in shown
        }
        names = [pin.name for pin in used]
        return four_level(by_pin, names, facts, host_bytes, doubtful)

    by_mixture = by_method(
        lambda durations: _mixture_shares(fitted, reading, durations), mixture_doubts
    )
    by_window = by_method(lambda durations: classes.window_shares(durations, window_us), of_window)
    warnings = capture_warnings(capture, used, shown, facts, period_us=period_us, missed=missed)
    retries = sum(doubt.too_many for doubt in mixture_doubts if doubt.name == doubts.RETRIES)
    programs = of_mixture["program"].value
    warnings += doubt_warnings(reading, programs, pulses.total, retries, shared)
    if not agree(by_mixture, by_window):
        warnings.insert(0, disagreement(by_mixture, by_window, reading, window_us))
    return ReadyBusy(
        method=method,
        mixture=by_mixture,
        fixed=by_window,
        fitted=fitted,
        reading=reading,
        window_us=window_us,
        facts=facts,
        host_bytes=host_bytes,
        capture=capture,
        used=tuple(pin.name for pin in used),
        doubts=tuple(mixture_doubts),
        warnings=tuple(warnings),
    )


def _fitted_mixture(pulses: Durations, facts: PinFacts) -> tuple[DurationMixture, Classification]:
    """Fit a mixture, and classify its components; search rare erases at the drive's erase times."""
    fitted = mixture.fit(pulses)
    reading = classes.classify(fitted, facts)
    if reading.of("erase"):
        return fitted, reading
    better = with_erases(fitted, pulses, facts.erase_us)
    if better is None:
        return fitted, reading
    read_anew = classes.classify(better, facts)
    return (better, read_anew) if read_anew.of("erase") else (fitted, reading)


def _used(capture: PinCapture, pin: str | None, facts: PinFacts) -> tuple[Pin, ...]:
    names = [pin.name for pin in capture.pins]
    if pin is not None:
        if pin not in names:
            raise unknown("pin", pin, names)
        return tuple(captured for captured in capture.pins if captured.name == pin)
    if len(names) > facts.dies:
        raise WriteampError(
            f"the capture has {len(names)} channels, but the drive has {facts.dies} dies with one "
            f"pin each. Select one with --pin ({', '.join(names[:8])}), or set --dies"
        )
    return capture.pins


def _mixture_shares(
    fitted: DurationMixture, reading: Classification, durations: Durations
) -> Shares:
    if durations.total == 0:
        return {name: np.zeros(0) for name in CLASSES}
    of_component = fitted.responsibilities(durations.low_us, durations.high_us)
    return classes.shares(reading, of_component)


def _kind_shares(fitted: DurationMixture, reading: Classification, durations: Durations) -> Floats:
    of_component = fitted.responsibilities(durations.low_us, durations.high_us)
    return np.stack(
        [of_component[:, list(kind.components)].sum(axis=1) for kind in reading.kinds], axis=1
    )
