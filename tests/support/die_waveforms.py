"""Ready/Busy waveforms of dies that work through commands, as an analyser records them.

Nothing is shared with `synthetic_captures`: durations have other shapes, several dies may drive one
pin, the analyser samples levels rather than rounds edges, and the truth is counted on the dies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Whole: TypeAlias = npt.NDArray[np.int64]
Random: TypeAlias = np.random.Generator


@dataclass(frozen=True)
class Command:
    """Operations of one kind: `spread` is the standard deviation over the mean."""

    of_class: str
    count: int
    mean_us: float
    spread: float
    shape: str = "normal"

    def draw(self, random: Random) -> Floats:
        """Return their durations in µs."""
        mean, sd, size = self.mean_us, self.mean_us * self.spread, self.count
        if self.spread == 0:
            return np.full(size, mean)
        if self.shape == "gamma":
            return random.gamma(self.spread**-2, mean * self.spread**2, size)
        if self.shape == "lognormal":
            sigma = np.sqrt(np.log1p(self.spread**2))
            return random.lognormal(np.log(mean) - sigma**2 / 2, sigma, size)
        if self.shape == "uniform":
            return random.uniform(mean - np.sqrt(3) * sd, mean + np.sqrt(3) * sd, size)
        if self.shape == "pulses":
            # Program pulses of one voltage step each, and a little scatter of their own.
            step = max(sd, 1e-9)
            return mean + step * (random.binomial(8, 0.5, size) - 4) / np.sqrt(2)
        return np.maximum(random.normal(mean, sd, size), 0.3 * mean)


@dataclass(frozen=True)
class Ready:
    """Ready times between commands: a least one and more by a mean, and a share of short ones."""

    least_us: float = 1.5
    mean_us: float = 40.0
    short_us: tuple[float, float] = (0.05, 0.3)
    short_share: float = 0.0

    def draw(self, random: Random, size: int) -> Floats:
        """Return ready times in µs."""
        usual = self.least_us + random.exponential(self.mean_us, size)
        is_short = random.random(size) < self.short_share
        return np.where(is_short, random.uniform(*self.short_us, size), usual)


@dataclass(frozen=True)
class Work:
    """Operations of a die in order: begin and end in µs, and which are programs."""

    begin_us: Floats
    end_us: Floats
    is_program: npt.NDArray[np.bool_]

    def programs_from(self, start_us: float, end_us: float) -> int:
        """Return the programs that begin in a span."""
        inside = (self.begin_us >= start_us) & (self.begin_us < end_us)
        return int((self.is_program & inside).sum())


def work(commands: Sequence[Command], ready: Ready, random: Random) -> Work:
    """Let a die do commands in random order."""
    busy = np.concatenate([command.draw(random) for command in commands])
    is_program = np.concatenate(
        [np.full(command.count, command.of_class == "program") for command in commands]
    )
    order = random.permutation(busy.size)
    busy, is_program = busy[order], is_program[order]
    end = np.cumsum(ready.draw(random, busy.size) + busy)
    return Work(end - busy, end, is_program)


def pulses_of(dies: Sequence[Work]) -> tuple[Floats, Floats]:
    """Return when a pin that several dies pull down falls and rises, in µs."""
    begin = np.concatenate([die.begin_us for die in dies])
    end = np.concatenate([die.end_us for die in dies])
    order = np.argsort(begin)
    begin, end = begin[order], np.maximum.accumulate(end[order])
    is_first = np.append(True, begin[1:] > end[:-1])
    return begin[is_first], end[np.append(is_first[1:], True)]


@dataclass(frozen=True)
class Analyser:
    """A logic analyser: its sampling, the file's unit of time, and faults of its probes.

    Attributes:
        period_ns: time between samples.
        unit_ns: of the times in the file; a sample of 100 ns is often written in ns.
        jitter_ns: standard deviation of the moment at which an edge is seen.
        skew_ns: how much later each pin is seen than the one before it.
    """

    period_ns: float = 100.0
    unit_ns: int = 1
    jitter_ns: float = 0.0
    skew_ns: float = 0.0

    def samples(self, at_us: Floats, pin: int, random: Random) -> Whole:
        """Return the first samples that see edges."""
        seen_ns = (
            1000 * at_us + pin * self.skew_ns + random.normal(0, 1, at_us.size) * (self.jitter_ns)
        )
        return np.ceil(np.maximum(seen_ns, 0) / self.period_ns).astype(np.int64)


@dataclass(frozen=True)
class Waveform:
    """Pins, each pulled down by some dies, and the span of time that is captured."""

    pins: tuple[tuple[Work, ...], ...]
    analyser: Analyser = field(default_factory=Analyser)
    start_us: float = 0.0
    end_us: float | None = None

    @property
    def programs(self) -> int:
        """Programs of all dies that begin while the capture is taken."""
        end_us = np.inf if self.end_us is None else self.end_us
        return sum(die.programs_from(self.start_us, end_us) for pin in self.pins for die in pin)

    def edges(self, pin: int, random: Random) -> tuple[Whole, Whole]:
        """Return the samples at which a pin is first low, and first high again, in turns."""
        fall_us, rise_us = pulses_of(self.pins[pin])
        fall = self.analyser.samples(fall_us, pin, random)
        rise = np.maximum(self.analyser.samples(rise_us, pin, random), fall)
        # Levels are sampled, so what begins and ends between two samples is not there.
        is_seen = rise > fall
        fall, rise = fall[is_seen], rise[is_seen]
        is_gap = fall[1:] > rise[:-1]
        return fall[np.append(True, is_gap)], rise[np.append(is_gap, True)]

    def write_vcd(self, path: Path, seed: int) -> None:
        """Write one change a line, from the first sample of the span to its last."""
        random = np.random.default_rng(seed)
        period_ns = self.analyser.period_ns
        first = int(np.ceil(1000 * self.start_us / period_ns))
        found = [self.edges(pin, random) for pin in range(len(self.pins))]
        last = max(int(rise.max()) for _, rise in found) + 20
        if self.end_us is not None:
            last = int(1000 * self.end_us / period_ns)
        changes: list[tuple[int, int, int]] = []
        for pin, (fall, rise) in enumerate(found):
            is_low = bool(((fall <= first) & (rise > first)).any())
            changes.append((first, pin, 0 if is_low else 1))
            for level, at in ((0, fall), (1, rise)):
                inside = at[(at > first) & (at < last)]
                changes += [(sample, pin, level) for sample in inside.tolist()]
        unit = f"{self.analyser.unit_ns}ns"
        lines = [
            "$version die waveforms $end",
            f"$timescale {unit} $end",
            "$scope module pins $end",
        ]
        lines += [f"$var wire 1 {chr(65 + pin)} die{pin} $end" for pin in range(len(self.pins))]
        lines += ["$upscope $end", "$enddefinitions $end"]
        for sample, pin, level in sorted(changes):
            at = round((sample - first) * period_ns / self.analyser.unit_ns)
            lines.append(f"#{at}\n{level}{chr(65 + pin)}")
        lines.append(f"#{round((last - first) * period_ns / self.analyser.unit_ns)}")
        path.write_text("\n".join(lines) + "\n", "ascii")
