"""One run of an experiment on one drive: filled, advanced and counted."""

from __future__ import annotations

import time
from copy import copy, deepcopy
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp._engine import MOST_EVENTS
from writeamp._engine import Load as EngineLoad
from writeamp._engine import Simulation as EngineSimulation
from writeamp.devices.device import Device
from writeamp.errors import WriteampError
from writeamp.registry.specs import Spec
from writeamp.runners import Progress, stop_if_asked
from writeamp.runs.loads import load_of_spec, load_of_trace
from writeamp.runs.plan import Plan, loaded_passes
from writeamp.runs.preconditioning import CHUNK_PAGES, precondition
from writeamp.runs.refusals import refusals
from writeamp.runs.series import flash_pages
from writeamp.runs.simulation_result import EVENT_SCHEMA, Result
from writeamp.statistics.judging import Intervals, Schedule
from writeamp.statistics.steady import SteadyState

if TYPE_CHECKING:  # a type of the stub only
    from writeamp._engine import Events


from itertools import pairwise

_SCHEMA = {"pass": pl.Int64, "host_pages": pl.Int64, "wa": pl.Float64}


class PassLog:
    """Log of the flash pages programmed at the end of each pass over a trace.

    A run without a trace (`pass_pages` None) has no passes.
    """

    def __init__(self, pass_pages: int | None, programmed: int) -> None:
        """Begin where `programmed` pages had been programmed."""
        self._pass_pages = pass_pages
        self._ends = [(0, programmed)]

    def left(self, done_pages: int, most: int) -> int:
        """Return how many host pages may come before a pass ends, at most `most`."""
        if self._pass_pages is None:
            return most
        return min(most, self._pass_pages - done_pages % self._pass_pages)

    def ends(self, done_pages: int) -> bool:
        """Return whether a pass has ended there."""
        return self._pass_pages is not None and done_pages % self._pass_pages == 0

    def add(self, done_pages: int, programmed: int) -> None:
        """Note a pass's end, or that of the run within a pass."""
        if self._pass_pages is not None and done_pages > self._ends[-1][0]:
            self._ends.append((done_pages, programmed))

    @property
    def flash_pages(self) -> list[int]:
        """Pages programmed in each pass."""
        return [after - before for (_, before), (_, after) in pairwise(self._ends)]

    @property
    def frame(self) -> pl.DataFrame:
        """Return one row a pass: its number `pass` from 1, its `host_pages`, and `wa` in it."""
        host_pages = [end - first for (first, _), (end, _) in pairwise(self._ends)]
        spans = zip(host_pages, self.flash_pages, strict=True)
        rows = [(number, host, flash / host) for number, (host, flash) in enumerate(spans, start=1)]
        return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


_Counts: TypeAlias = dict[str, npt.NDArray[np.uint64]]


class OneRun:
    """A drive after its fill, and what its host has done since."""

    def __init__(self, plan: Plan, drive: Device, seed: int, progress: Progress | None) -> None:
        """Build the drive, fill and age it.

        Args:
            plan: what to run; its own seed is not used.
            drive: what to run it on.
            seed: what decides every random draw.
            progress: called with the host pages written and expected.
        """
        self.plan = plan
        self.drive = drive
        self.seed = seed
        self.progress = progress
        self.done_pages = 0
        self.engine_s = 0.0
        self.simulation = new_simulation(plan, drive, seed)
        with refusals():
            self.ageing = precondition(
                self.simulation, plan, drive, tick=lambda: self._tick(plan.expected_writes(drive))
            )
        self.start = self.simulation.counters()
        self.start_erases = self.simulation.erase_counts()
        self.start_events = len(self.simulation.events()["kind"])
        self.finished_series: list[_Counts] = []
        self.has_series = False
        pass_pages = None if isinstance(plan.load, Spec) else plan.load.host_pages
        self.passes = PassLog(pass_pages, self.programmed())

    def continued(self) -> OneRun:
        """Return another run that goes on from here, as this one would, and reports no progress.

        Its drive is this one as it is saved. What users' policies save is theirs to say, so that
        under these it is a new drive that has done the same.
        """
        if self.plan.policy.is_custom:
            found = OneRun(self.plan, self.drive, self.seed, None)
            found.advance_to(self.done_pages, self.done_pages)
            return found
        found = copy(self)
        found.progress = None
        found.passes, found.finished_series = deepcopy(self.passes), [*self.finished_series]
        found.simulation = new_simulation(self.plan, self.drive, self.seed)
        with refusals():
            found.simulation.restore(self.simulation.save())
        return found

    def start_series(self, interval_pages: int) -> None:
        """Sample the counters every so many host pages from here on."""
        if self.has_series:
            self.finished_series.append(self._samples())
        self.simulation.start_series(interval_pages)
        self.has_series = True

    def advance_to(self, pages: int, expected_pages: int) -> None:
        """Let the host have written so many pages, of `expected_pages` that it will have."""
        while self.done_pages < pages:
            chunk = self.passes.left(self.done_pages, min(pages - self.done_pages, CHUNK_PAGES))
            began = time.perf_counter()
            with refusals():
                written = self.simulation.run(chunk)
            self.engine_s += time.perf_counter() - began
            assert written == chunk, "a trace holds the writes that its plan was checked for"
            self.done_pages += chunk
            if self.passes.ends(self.done_pages):
                self.passes.add(self.done_pages, self.programmed())
            self._tick(expected_pages)

    def schedule(self) -> Schedule:
        """Return the changes of the workload that are known beforehand."""
        return Schedule(*self.simulation.schedule())

    def programmed(self) -> int:
        """Return the flash pages programmed since the drive was new."""
        return flash_pages(self.simulation.counters())

    def times_programmed(self) -> float:
        """Return how often all of the flash was programmed since the fill."""
        started = flash_pages(self.start)
        started -= self.ageing.flash_pages if self.ageing else 0
        return (self.programmed() - started) / self.drive.physical_pages

    def intervals(self) -> Intervals:
        """Return host and flash pages of each interval."""
        samples = self._all_samples()
        host, flash = samples["host_pages"], flash_pages(samples)
        return np.diff(host).astype(float), np.diff(flash).astype(float)

    def result(self, steady: SteadyState, *, elapsed_s: float) -> Result:
        """Return the result of the run, with the verdict on its steadiness."""
        if self.passes.ends(self.done_pages):
            self.simulation.run_to_write()  # what the host asked for after its last write
        found = self.simulation.events()
        self.passes.add(self.done_pages, self.programmed())
        return Result(
            plan=self.plan,
            device=self.drive,
            steady_state=steady,
            samples=self._all_samples(),
            events=self._events(found),
            events_complete=len(found["kind"]) < MOST_EVENTS,
            erases_of_block=self.simulation.erase_counts() - self.start_erases,
            valid_page_histogram=self.simulation.valid_page_histogram(),
            scheme_bytes=self.simulation.scheme_bytes(),
            predicted_wa=self.simulation.predicted_wa(),
            hints=self.simulation.hints(),
            lives=pl.DataFrame(self.simulation.lives()),
            passes=self.passes.frame,
            held_pages=self.simulation.mapped_pages(),
            ageing=self.ageing,
            elapsed_s=elapsed_s,
            run_s=self.engine_s,
        )

    def _tick(self, expected_pages: int) -> None:
        stop_if_asked()
        if self.progress:
            self.progress(self.done_pages, expected_pages)

    def _samples(self) -> _Counts:
        """Return the current series, closed by the counters as they stand."""
        series = self.simulation.series()
        now = self.simulation.counters()
        # After its last write a host may still trim, read and flush.
        same_pages = series["host_pages"][-1] == now["host_pages"]
        return {
            name: np.append(column[:-1] if same_pages else column, np.uint64(now[name]))
            for name, column in series.items()
        }

    def _all_samples(self) -> _Counts:
        """Return every sample since the fill, counted from there."""
        parts = [*self.finished_series, self._samples()]
        # A later series begins with the sample that the one before it ended with.
        return {
            name: np.concatenate([parts[0][name], *(part[name][1:] for part in parts[1:])])
            - np.uint64(self.start[name])
            for name in parts[0]
        }

    def _events(self, found: Events) -> pl.DataFrame:
        """Return the log of group changes since the fill, counted from there."""
        new = slice(self.start_events, None)
        return pl.DataFrame(
            {
                "host_pages": found["host_pages"][new] - np.uint64(self.start["host_pages"]),
                "kind": found["kind"][new],
                "group": found["group"][new],
                "groups": found["groups"][new],
                "blocks": found["moved_blocks"][new],
            },
            schema=EVENT_SCHEMA,
        )


def new_simulation(plan: Plan, drive: Device, seed: int) -> EngineSimulation:
    """Return an empty drive and its host, ready to be filled.

    Raises:
        WriteampError: the drive cannot work by the policy, or not under this host.
    """
    load = _load(plan, drive)
    with refusals():
        return EngineSimulation(
            plan.policy.drive(drive), load, seed=seed, batch_pages=plan.run.batch_pages
        )


def _load(plan: Plan, drive: Device) -> EngineLoad:
    if isinstance(plan.load, Spec):
        return load_of_spec(plan.load, plan.used_pages(drive), drive)
    passes = loaded_passes(plan, drive)
    host_pages = plan.load.host_pages * passes
    if plan.run.writes is not None and plan.run.writes > host_pages:
        enough = -(-plan.run.writes // plan.load.host_pages)
        raise WriteampError(
            f"the trace holds {host_pages} page writes in {passes} pass(es), fewer than the "
            f"{plan.run.writes} asked for; use repeat={enough}"
        )
    return load_of_trace(plan.load, passes=passes)
