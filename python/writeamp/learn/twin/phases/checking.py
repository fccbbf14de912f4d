"""Check of a twin: WA that it predicts for phases of known loads."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from writeamp._engine import scaled_policy
from writeamp.devices import toml_text
from writeamp.devices.candidates import Candidate, Candidates
from writeamp.errors import WriteampError
from writeamp.fields.domains import Number, Text, shown
from writeamp.learn.twin.chain import PAGE_BYTES
from writeamp.learn.twin.phases.checked import (
    CheckedPhase,
    CheckedWindow,
    PredictedWa,
    TwinCheck,
    checked_without,
)
from writeamp.learn.twin.phases.counted import CountedPhase, CountedWindow
from writeamp.learn.twin.phases.groups import PhaseGroup
from writeamp.learn.twin.phases.served import (
    GRID,
    ServedPhases,
    candidate_windows,
    grouped_on,
    small_unit,
)
from writeamp.learn.twin.phases.table import CountedDrive
from writeamp.learn.twin.phases.windows import factor_of
from writeamp.learn.twin.serving import Floats
from writeamp.runners import Progress, Runner, gather_whole, local_runner
from writeamp.studies.mixture import CandidateRun, Mixture
from writeamp.units.ratios import physical_of

_LEVEL = 0.9
# Relative standard deviation of the WA of fills between spans of a drive.
_OF_FILLS = 0.01
_SEEDS = (1, 2)
_ABOVE_ZERO = Number("be above 0", lambda value: value > 0)
_Z90 = 1.645
_NO_UNIT = (
    "the twin's erase unit is unknown; learn it from phases with one active zone of several sizes"
)


@dataclass(frozen=True)
class PhaseTwin:
    """A twin that was learnt from phases of a drive.

    Attributes:
        name: name of the profile.
        drive: name of the drive.
        learnt_from: names of the phases that it was learnt from.
        candidates: the possible drives.
        erase_unit_pages: pages of the drive's erase unit, if the phases showed it.
    """

    name: str
    drive: str
    learnt_from: tuple[str, ...]
    candidates: Candidates
    erase_unit_pages: float | None = None

    @property
    def capacity_bytes(self) -> float:
        """Size of the drive."""
        return float(self.candidates.logical_pages * PAGE_BYTES)

    @property
    def factor(self) -> float:
        """Mean WA of the learnt fills; 1 without any."""
        return self.candidates.sequential_factor

    @property
    def unit_pages(self) -> int | None:
        """Erase unit of small candidates, in pages; None if that of the drive is unknown."""
        if self.erase_unit_pages is None:
            return None
        return small_unit(self.erase_unit_pages, self.candidates.logical_pages)

    @staticmethod
    def read(path: str | Path) -> PhaseTwin:
        """Return the twin in a profile of `twin fit PHASES`.

        Raises:
            WriteampError: the profile cannot be read, or is not one of phases.
        """
        tables = toml_text.parse(toml_text.read_text(path, "twin"), str(path))
        return PhaseTwin.of(Path(path).name, tables, str(path))

    @staticmethod
    def of(name: str, tables: dict[str, Any], where: str) -> PhaseTwin:
        """Return the twin in the tables of a profile; see `read`."""
        table = tables.get("twin", {})
        if not isinstance(table, dict) or not {"drive", "learnt_from"} <= table.keys():
            raise WriteampError(
                f"{where} was not learnt from phases; make a twin of phases with `writeamp twin "
                "fit PHASES --out`"
            )
        place = f"{where}: [twin]"
        learnt_from = table["learnt_from"]
        if not isinstance(learnt_from, list):
            raise WriteampError(
                f"{place}: learnt_from is {shown(learnt_from)}; it must be a list of phases"
            )
        unit = table.get("erase_unit_pages")
        return PhaseTwin(
            name,
            Text().check(f"{place}: drive", table["drive"]),
            tuple(Text().check(f"{place}: learnt_from", phase) for phase in learnt_from),
            Candidates.from_table(where, table),
            None if unit is None else _ABOVE_ZERO.check(f"{place}: erase_unit_pages", unit),
        )


def check(
    twin: PhaseTwin,
    drives: Iterable[CountedDrive],
    *,
    runner: Runner | None = None,
    progress: Progress | None = None,
) -> TwinCheck:
    """Predict all phases of all drives, and compare with their measured WA.

    Args:
        twin: a twin that was learnt from phases of one of the drives.
        drives: from `read_drives`.
        runner: runs the simulations.
        progress: called with the number of finished simulations, and of all.

    Returns:
        `TwinCheck`: `phases`, `summary`, `warnings`.
    """
    phases: list[CheckedPhase] = []
    notes: list[str] = []
    # The drive of the twin comes first.
    for drive in sorted(drives, key=lambda drive: drive.name != twin.drive):
        if drive.name != twin.drive:
            reason = f"the twin is of {twin.drive}"
            phases += [checked_without(phase, reason) for phase in drive.phases]
            continue
        notes += drive.notes
        predictions = _predictions(twin, drive, runner, progress)
        phases += [predictions.checked(phase) for phase in drive.phases]
    return TwinCheck(twin.name, twin.drive, tuple(phases), tuple(notes))


def _predictions(
    twin: PhaseTwin, drive: CountedDrive, runner: Runner | None, progress: Progress | None
) -> _Predictions:
    """Simulate all candidates under all phases with a known load.

    WA of zones depends on the erase unit of the drive, so their phases are served by candidates
    with this unit. WA of other loads hardly does.
    """
    capacity_bytes = twin.capacity_bytes
    divided = grouped_on(
        drive.phases, capacity_bytes, lambda phase: (phase.steady, *phase.fifths), GRID
    )
    without_zones = tuple(group for group in divided.groups if not group.has_zones)
    zoned = tuple(group for group in divided.groups if group.has_zones and twin.unit_pages)
    served = ServedPhases((*without_zones, *zoned), capacity_bytes)
    parts = (
        (replace(served, groups=without_zones), None),
        (replace(served, groups=zoned), twin.unit_pages),
    )
    members = twin.candidates.carrying
    jobs = [(member, seed) for member in members for seed in _SEEDS]
    runner = runner or local_runner(len(jobs))
    runs = gather_whole(runner, partial(_run, twin, parts), jobs, progress=progress)
    was = np.array(runs).reshape(len(members), len(_SEEDS), served.windows)
    return _Predictions(twin, drive, divided.reasons, served, np.asarray(was.mean(axis=1)))


def _run(
    twin: PhaseTwin, parts: Sequence[tuple[ServedPhases, int | None]], job: tuple[Candidate, int]
) -> Floats:
    """Return WA of a candidate in the windows of all parts, each with its erase unit in pages."""
    member, seed = job
    was = []
    for served, unit_pages in parts:
        unit = unit_pages or member.erase_unit_pages
        # Numbers of blocks in the victim policy are those of the whole drive.
        factor = (
            twin.candidates.blocks_of(member) * unit / physical_of(GRID.logical_pages, member.op)
        )
        victims, _ = scaled_policy("victims", member.victims, factor)
        small = replace(member, victims=victims)
        was.append(candidate_windows(served, small, unit, seed))
    return np.concatenate(was)


@dataclass(frozen=True)
class _Predictions:
    """Simulated WA of a drive's candidates, and the predictions that follow from it.

    `reasons` is by name of the phases that cannot be predicted. `was` has shape (candidates,
    windows), in the order of `served.places`.
    """

    twin: PhaseTwin
    drive: CountedDrive
    reasons: Mapping[str, str]
    served: ServedPhases
    was: Floats

    @cached_property
    def _by_phase(self) -> dict[str, tuple[PhaseGroup, list[Floats]]]:
        """Group, and WA of the candidates in each window, by name of the phase."""
        by_phase: dict[str, tuple[PhaseGroup, list[Floats]]] = {}
        for (group, phase, _), column in zip(self.served.places, self.was.T, strict=True):
            by_phase.setdefault(phase.name, (group, []))[1].append(column)
        return by_phase

    def checked(self, phase: CountedPhase) -> CheckedPhase:
        """Return a phase of the drive with its prediction."""
        if phase.load.is_fill:
            return self._checked_fill(phase)
        if phase.name in self.reasons:
            return checked_without(phase, self.reasons[phase.name])
        if phase.load.zones is not None and self.twin.unit_pages is None:
            return checked_without(phase, _NO_UNIT)
        if phase.name not in self._by_phase:
            return checked_without(phase, phase.reason or "the counters do not move")
        group, columns = self._by_phase[phase.name]
        left = iter(columns)
        windows = [
            CheckedWindow(
                window, None if window is None else self._mixed(next(left), group, window)
            )
            for window in (phase.steady, *phase.fifths)
        ]
        if all(window.predicted is None for window in windows):
            return checked_without(phase, "no candidate of the twin can serve it")
        first = windows[0].predicted
        own = [] if group.fill is None else [group.fill.name]
        return CheckedPhase(
            phase,
            windows[0],
            tuple(windows[1:]),
            tuple(dict.fromkeys((*self.twin.learnt_from, *own))),
            None if first is None else first.median / self._factor(group)[0] * self.twin.factor,
            phase.name in self.twin.learnt_from,
            phase.reason,
            phase.load.note,
        )

    def _factor(self, group: PhaseGroup) -> tuple[float, float]:
        """Return the WA of a sequential fill that applies to a group, and its relative error.

        This is the WA of the fill before the phases. On a sanitized drive, it is that of the fills
        that the twin was learnt from, which were made in another state of the drive.
        """
        if group.fill is None:
            return self.twin.factor, _OF_FILLS
        return factor_of(group.fill)

    def _mixed(self, was: Floats, group: PhaseGroup, measured: CountedWindow) -> PredictedWa | None:
        runs = tuple(
            CandidateRun(member, float(wa), 0.0, True)
            for member, wa in zip(self.twin.candidates.carrying, was, strict=True)
            if math.isfinite(wa)
        )
        if not runs:
            return None
        factor, of_factor = self._factor(group)
        of_counter = measured.error / measured.wa
        error = math.hypot(self.twin.candidates.error, of_factor, of_counter)
        mixture = Mixture(self.twin.name, "", runs, error)
        low, high = mixture.interval_at(_LEVEL)
        return PredictedWa(factor * mixture.wa, factor * low, factor * high)

    def _checked_fill(self, phase: CountedPhase) -> CheckedPhase:
        """Return a fill, whose WA is predicted to be that of the fills of the twin."""
        learnt = {fill.name for fill in self.drive.phases if fill.load.is_fill}
        fills = tuple(name for name in self.twin.learnt_from if name in learnt)
        if not fills:
            return checked_without(phase, "the twin was learnt from no fill of this table")
        if phase.steady is None:
            return checked_without(phase, phase.reason or "")
        wide = math.exp(_Z90 * math.hypot(_OF_FILLS, phase.steady.error / phase.steady.wa))
        factor = self.twin.factor
        predicted = PredictedWa(factor, factor / wide, factor * wide)
        return CheckedPhase(
            phase,
            CheckedWindow(phase.steady, predicted),
            tuple(CheckedWindow(window, None) for window in phase.fifths),
            fills,
            factor,
            phase.name in self.twin.learnt_from,
        )
