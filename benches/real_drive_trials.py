"""Trials of twins on published counters of real drives: fits to some phases, WA of others.

Candidates are simulated once for each drive and cached, as those of `writeamp twin fit`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path

from writeamp.learn.twin.fitting import fit
from writeamp.learn.twin.phases.checked import CheckedPhase
from writeamp.learn.twin.phases.checking import PhaseTwin, check
from writeamp.learn.twin.phases.counted import GIB, CountedPhase
from writeamp.learn.twin.phases.table import CountedDrive
from writeamp.learn.twin.phases.windows import PhaseWindows
from writeamp.learn.twin.phases.zoned import weighed_by_zones
from writeamp.learn.twin.table import CandidateTable, table_of
from writeamp.runners import Here, gather_whole, local_runner

ROOT = Path(__file__).resolve().parent.parent
COUNTERS = ROOT / "tests/data/real-drives/ssdiq_counters.csv"

AFTER_A_FILL, SANITIZED = "one phase after a fill", "one phase of a sanitized drive"
TWO, ALL_OTHERS = "two phases", "all other phases"
SCHEMES = (AFTER_A_FILL, SANITIZED, TWO, ALL_OTHERS)


@dataclass(frozen=True)
class Trial:
    """Loads that a twin is learnt from, with their fills, and the phases that it predicts.

    Attributes:
        scheme: how the loads were chosen.
        drive: the drive.
        learnt: the loads.
        judged: phases whose prediction counts.
    """

    scheme: str
    drive: CountedDrive
    learnt: tuple[CountedPhase, ...]
    judged: tuple[CountedPhase, ...]


@dataclass(frozen=True)
class Outcome:
    """A trial, and all phases of its drive with the twin's predictions."""

    trial: Trial
    phases: tuple[CheckedPhase, ...]

    @property
    def tests(self) -> list[CheckedPhase]:
        """Judged phases of loads, with both WA."""
        return [phase for phase in self.phases if phase.is_test and self._is_judged(phase)]

    @property
    def fills(self) -> list[CheckedPhase]:
        """Fills with both WA that the twin was not learnt from."""
        return [
            phase
            for phase in self.phases
            if phase.phase.load.is_fill
            and phase.steady.error is not None
            and phase.phase.name not in phase.learnt_from
        ]

    def _is_judged(self, phase: CheckedPhase) -> bool:
        return phase.phase.name in {judged.name for judged in self.trial.judged}


def fill_of(drive: CountedDrive, phase: CountedPhase) -> CountedPhase | None:
    """Return the last fill before a phase in its run; None on a sanitized drive."""
    run = [other for other in drive.phases if other.run == phase.run]
    fills = [other for other in run[: run.index(phase)] if other.load.is_fill]
    return fills[-1] if fills else None


def label_of(drive: CountedDrive, phase: CountedPhase) -> str:
    """Return the load, with span and preparation where the phases of the drive differ in them."""
    texts = [load_name(phase)]
    loads = [other for other in drive.phases if other.pattern == phase.pattern]
    if len({round(load.span_bytes / GIB) for load in loads}) > 1:
        texts.append(f"{phase.span_bytes / GIB:.0f} GiB")
    if not phase.load.is_fill and len({_prepared_by(drive, load) for load in loads}) > 1:
        texts.append(_prepared_by(drive, phase))
    return ", ".join(texts)


def _prepared_by(drive: CountedDrive, phase: CountedPhase) -> str:
    fill = fill_of(drive, phase)
    if fill is None:
        return "sanitized"
    return f"{'shuffled' if fill.load.workload == 'permutation' else 'sequential'} fill"


def load_name(phase: CountedPhase) -> str:
    """Return pattern and details of a phase; of zones, their size and the number of active ones."""
    zones = phase.load.zones
    if zones is not None:
        return f"zones of {zones.zone_bytes / GIB:.4g} GiB, {zones.active} active"
    try:
        details = f"{float(phase.details):g}"
    except ValueError:
        details = phase.details
    return f"{phase.pattern} {details}".strip()


def trials_of(drive: CountedDrive) -> list[Trial]:
    """Return all trials of a drive."""
    known = {phase for _, phase, _ in PhaseWindows(drive, drive.phases).served.places}
    loads = [phase for phase in drive.phases if phase in known]
    zones = [phase for phase in drive.phases if phase.load.zones is not None]
    trials = [
        Trial(AFTER_A_FILL if fill_of(drive, load) else SANITIZED, drive, (load,), drive.phases)
        for load in loads
    ]
    trials += [Trial(TWO, drive, pair, drive.phases) for pair in combinations(loads, 2)]
    for left_out in (*loads, *zones):
        others = tuple(other for other in (*loads, *zones) if other is not left_out)
        trials.append(Trial(ALL_OTHERS, drive, others, (left_out,)))
    return trials


def outcome_of(trial: Trial, table: CandidateTable, columns: Sequence[str]) -> Outcome:
    """Learn a twin and predict all phases of its drive.

    Args:
        trial: the loads to learn from.
        table: candidates under all loads of the drive.
        columns: name of the phase of each window of the table.
    """
    windows = PhaseWindows(trial.drive, trial.learnt)
    used = [columns.index(phase.name) for _, phase, _ in windows.served.places]
    fitted = fit(windows, table=replace(table, wa=table.wa[..., used]))
    learnt = weighed_by_zones(fitted, windows, Here())
    twin = PhaseTwin.of(trial.scheme, learnt.profile(), trial.scheme)
    return Outcome(trial, check(twin, [trial.drive], runner=Here()).phases)


def outcomes_of(drive: CountedDrive) -> list[Outcome]:
    """Return the outcomes of all trials of a drive."""
    whole = PhaseWindows(drive, drive.phases)
    table = table_of(
        whole.served, families=whole.families, progress=shown(f"{drive.name}, candidates")
    )
    columns = [phase.name for _, phase, _ in whole.served.places]
    trials = trials_of(drive)
    return gather_whole(
        local_runner(len(trials)),
        partial(outcome_of, table=table, columns=columns),
        trials,
        progress=shown(f"{drive.name}, twins"),
    )


def shown(title: str) -> Callable[[int, int], None]:
    """Return a callback that shows progress on stderr."""

    def show(done: int, whole: int) -> None:
        print(f"\r{title}: {done} of {whole} ", end="", file=sys.stderr, flush=True)
        if done == whole:
            print(file=sys.stderr)

    return show


def outcomes(drives: Iterable[CountedDrive]) -> list[Outcome]:
    """Return the outcomes of all trials, in the order of the schemes."""
    found = [outcome for drive in drives for outcome in outcomes_of(drive)]
    return sorted(found, key=lambda outcome: SCHEMES.index(outcome.trial.scheme))
