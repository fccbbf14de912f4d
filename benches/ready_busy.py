"""Rate at which `measure rb` is right within its interval, or warns.

The waveforms are made by other code.

Two halves of the space of waveforms, which share the faults and one device and shape each: `tune`
is for work on the method, `judge` for the figures. Run `python benches/ready_busy.py judge --cases
60`; it writes captures to a temporary folder.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from zlib import crc32

import numpy as np

from writeamp.devices.device import device
from writeamp.drives.measure import PinFacts, facts_of, ready_busy
from writeamp.errors import WriteampError

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))
from die_waveforms import Analyser, Command, Random, Ready, Waveform, Work, work

HALVES = {
    "tune": (("ssd-v", "ssd-s", "tlc-datacenter"), ("normal", "gamma", "uniform")),
    "judge": (("ssd-i", "mqsim", "apex", "ssd-v"), ("normal", "lognormal", "pulses")),
}
HEAD = (
    "| scene | captures | held | held or warned | warned | median error | median width | s |\n"
    "|---|---|---|---|---|---|---|---|"
)
PINS = 4  # of every drive, so that none is warned of for its uncaptured dies


@dataclass(frozen=True)
class Drive:
    """A drive of a profile whose operations take a little less or more than it says."""

    facts: PinFacts
    read_us: float
    program_us: tuple[float, ...]
    erase_us: float
    shape: str
    spread: float

    def reads(self, count: int, times: int = 1) -> Command:
        """Return reads that are each done so many times in one busy time."""
        spread = min(self.spread, 0.04) / np.sqrt(times)
        return Command("read", count, times * self.read_us, spread, self.shape)

    def programs(self, count: int) -> list[Command]:
        """Return programs, as many of each kind of page."""
        each = max(1, count // len(self.program_us))
        return [
            Command("program", each, mean_us, self.spread, self.shape)
            for mean_us in self.program_us
        ]

    def erases(self, count: int) -> Command:
        """Return erases."""
        return Command("erase", count, self.erase_us, min(self.spread, 0.03), self.shape)


def drawn_drive(half: str, random: Random) -> Drive:
    names, shapes = HALVES[half]
    facts = facts_of(device(str(random.choice(names))))
    facts = replace(facts, channels=PINS, chips_per_channel=1, dies_per_chip=1)
    # Chips of one kind differ by some per cent, all of their times alike and each for itself.
    all_alike = random.uniform(0.95, 1.05)

    def real(nominal_us: float) -> float:
        return nominal_us * all_alike * random.uniform(0.98, 1.02)

    return Drive(
        facts,
        real(facts.read_us[0]),
        tuple(real(nominal_us) for nominal_us in facts.program_us),
        real(facts.erase_us[0]),
        str(random.choice(shapes)),
        random.uniform(0.02, 0.09),
    )


def usual(drive: Drive, random: Random) -> list[Command]:
    """Return what a die does under a usual load."""
    programs = int(10 ** random.uniform(2.2, 4.2))
    reads = int(programs * random.choice([0, 0.3, 1, 3]))
    erases = programs // int(random.choice([64, 128, 256]))
    found = drive.programs(programs)
    found += [drive.reads(reads)] if reads else []
    return found + ([drive.erases(erases)] if erases else [])


def ready(random: Random) -> Ready:
    return Ready(random.uniform(0.8, 6), 10 ** random.uniform(0.5, 3))


def dies(commands: Callable[[], list[Command]], random: Random, count: int = PINS) -> list[Work]:
    pause = ready(random)
    return [work(commands(), pause, random) for _ in range(count)]


def alone(found: list[Work], analyser: Analyser | None = None) -> Waveform:
    return Waveform(tuple((die,) for die in found), analyser or Analyser())


def clean(drive: Drive, random: Random) -> Waveform:
    commands = usual(drive, random)
    return alone(dies(lambda: commands, random))


def retries(drive: Drive, random: Random) -> Waveform:
    """Return reads that are done again inside one busy time, fewer the more often."""
    commands = usual(drive, random)
    reads = int(10 ** random.uniform(2.5, 4.2))
    again = random.uniform(0.1, 0.6)
    for times in range(1, int(random.integers(2, 6)) + 1):
        share = int(reads * again ** (times - 1))
        if share:
            commands.append(drive.reads(share, times))
    return alone(dies(lambda: commands, random))


def few_erases(drive: Drive, random: Random) -> Waveform:
    commands = drive.programs(int(10 ** random.uniform(2, 4.3)))
    if random.random() < 0.5:
        commands.append(drive.reads(int(10 ** random.uniform(2, 4))))
    found = [work(commands, ready(random), random) for _ in range(PINS - 1)]
    found.append(
        work([*commands, drive.erases(int(random.integers(1, 41)))], ready(random), random)
    )
    return alone(found)


def wired(drive: Drive, random: Random) -> Waveform:
    commands = usual(drive, random)
    found = dies(lambda: commands, random, 2 * PINS)
    return Waveform(tuple((found[2 * pin], found[2 * pin + 1]) for pin in range(PINS)))


def short_gaps(drive: Drive, random: Random) -> Waveform:
    commands = usual(drive, random)
    share = float(random.choice([0.1, 0.5, 1.0]))
    pause = replace(ready(random), short_us=(0.05, random.uniform(0.12, 0.6)), short_share=share)
    found = [work(commands, pause, random) for _ in range(PINS)]
    unit_ns = int(random.choice([1, 100]))
    return alone(found, Analyser(100.0, unit_ns))


def blurred(drive: Drive, random: Random) -> Waveform:
    analyser = Analyser(
        float(random.choice([40, 100])), 1, random.uniform(0, 60), random.uniform(0, 200)
    )
    return replace(clean(drive, random), analyser=analyser)


def clipped(drive: Drive, random: Random) -> Waveform:
    whole = clean(drive, random)
    last_us = max(float(die.end_us[-1]) for pin in whole.pins for die in pin)
    start, end = np.sort(random.uniform(0, last_us, 2))
    return replace(whole, start_us=float(start), end_us=float(max(end, start + 0.2 * last_us)))


SCENES: dict[str, Callable[[Drive, Random], Waveform]] = {
    "clean": clean,
    "jitter and skew": blurred,
    "clipped": clipped,
    "read retries": retries,
    "few erases": few_erases,
    "wired dies": wired,
    "short gaps": short_gaps,
}


@dataclass(frozen=True)
class Tried:
    """One capture: the error of the programs, whether the interval holds them, and warnings."""

    error: float
    holds: bool
    warnings: tuple[str, ...]
    relative_width: float


def tried(half: str, scene: str, number: int, folder: Path) -> Tried | None:
    """Return what came of one waveform; None if the capture was refused."""
    random = np.random.default_rng([crc32(f"{half} {scene}".encode()), number])
    drive = drawn_drive(half, random)
    waveform = SCENES[scene](drive, random)
    path = folder / "rb.vcd"
    waveform.write_vcd(path, number)
    host_bytes = float(drive.facts.program_bytes * waveform.programs)  # so WA is 1
    try:
        found = ready_busy(path, drive.facts, host_bytes)
    except WriteampError as error:
        print(f"    {scene} {number}: refused: {error}")
        return None
    low, high = found.ci
    # Counts are whole, and so are their intervals.
    slack = 0.5 / waveform.programs
    return Tried(found.answer.wa - 1, low - slack <= 1 <= high + slack, found.warnings, high - low)


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("half", choices=HALVES)
    asked.add_argument("--cases", type=int, default=60)
    asked.add_argument("--first", type=int, default=0, help="number of the first case")
    asked.add_argument("--scene", choices=SCENES)
    asked.add_argument("--verbose", action="store_true")
    given = asked.parse_args()
    numbers = range(given.first, given.first + given.cases)
    print(HEAD)
    with tempfile.TemporaryDirectory() as folder:
        for scene in [given.scene] if given.scene else SCENES:
            start = time.process_time()
            found = [tried(given.half, scene, number, Path(folder)) for number in numbers]
            seconds = time.process_time() - start
            if given.verbose:
                for number, one in zip(numbers, found, strict=True):
                    if one is not None:
                        print(
                            number,
                            f"{one.error:+.4%}",
                            one.holds,
                            f"{one.relative_width:.4%}",
                            [sentence[:70] for sentence in one.warnings],
                        )
            print(row(scene, found, seconds), flush=True)


def row(scene: str, found: list[Tried | None], seconds: float) -> str:
    read = [one for one in found if one is not None]
    # A capture that is refused with what is needed is not silently wrong.
    refused = len(found) - len(read)
    held = sum(one.holds for one in read)
    warned = sum(bool(one.warnings) for one in read)
    told = sum(one.holds or bool(one.warnings) for one in read) + refused
    errors = np.median([abs(one.error) for one in read])
    width = np.median([one.relative_width for one in read])
    return (
        f"| {scene} | {len(found)} | {held / len(found):.0%} | {told / len(found):.0%} | "
        f"{warned / len(found):.0%} | {errors:.4%} | {width:.4%} | {seconds / len(found):.1f} |"
    )


if __name__ == "__main__":
    main()
