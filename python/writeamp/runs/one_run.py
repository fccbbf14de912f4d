"""One run of an experiment on one drive: the drive is filled, advanced and counted."""

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
    """Log of the flash pages programmed by the end of each pass over a trace.

    A run without a trace (`pass_pages` None) has no passes.
    """

    def __init__(self, pass_pages: int | None, programmed: int) -> None:
        """Begin the log after `programmed` pages have been programmed."""
        self._pass_pages = pass_pages
        self._ends = [(0, programmed)]

    def left(self, done_pages: int, most: int) -> int:
        """Return the number of host pages to run before the pass ends, at most `most`."""
        if self._pass_pages is None:
            return most
        return min(most, self._pass_pages - done_pages % self._pass_pages)

    def ends(self, done_pages: int) -> bool:
        """Return whether a pass ends exactly after `done_pages` host pages."""
        return self._pass_pages is not None and done_pages % self._pass_pages == 0

    def add(self, done_pages: int, programmed: int) -> None:
        """Add the end of a pass, or the end of a run that ends within a pass."""
        if self._pass_pages is not None and done_pages > self._ends[-1][0]:
            self._ends.append((done_pages, programmed))

    @property
    def flash_pages(self) -> list[int]:
        """Pages programmed in each pass."""
        return [after - previous for (_, previous), (_, after) in pairwise(self._ends)]

    @property
    def frame(self) -> pl.DataFrame:
        """Return one row per pass: its number `pass` from 1, its `host_pages`, and its `wa`.

        If the run ends within a pass, the last row is for the replayed part of it.
        """
        host_pages = [end - first for (first, _), (end, _) in pairwise(self._ends)]
        spans = zip(host_pages, self.flash_pages, strict=True)
        rows = [(number, host, flash / host) for number, (host, flash) in enumerate(spans, start=1)]
        return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


_Counts: TypeAlias = dict[str, npt.NDArray[np.uint64]]


class OneRun:
    """Run on one drive: the drive after its fill, and counters of host writes since."""

    def __init__(self, plan: Plan, drive: Device, seed: int, progress: Progress | None) -> None:
        """Build the drive, fill it and age it.

        Args:
            plan: plan of the run; `seed` is used instead of the plan's seed.
            drive: drive to run on.
            seed: seed of every random draw.
            progress: called with the number of host pages written and the expected total.
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
        """Return a copy of the run that continues from here and reports no progress.

        The copy restores the drive's saved state. A user's policy may be unable to save its state,
        so a new drive is run to the same point instead if the plan has a user's policy.
        """
        if self.plan.policy.is_custom:
            other = OneRun(self.plan, self.drive, self.seed, None)
            other.advance_to(self.done_pages, self.done_pages)
            return other
        other = copy(self)
        other.progress = None
        other.passes, other.finished_series = deepcopy(self.passes), [*self.finished_series]
        other.simulation = new_simulation(self.plan, self.drive, self.seed)
        with refusals():
            other.simulation.restore(self.simulation.save())
        return other

    def start_series(self, interval_pages: int) -> None:
        """Sample the counters every `interval_pages` host pages from now on."""
        if self.has_series:
            self.finished_series.append(self._samples())
        self.simulation.start_series(interval_pages)
        self.has_series = True

    def advance_to(self, pages: int, expected_pages: int) -> None:
        """Run until the host has written `pages` pages since the preconditioning.

        `expected_pages` is the total that the progress callback gets.
        """
        while self.done_pages < pages:
            chunk = self.passes.left(self.done_pages, min(pages - self.done_pages, CHUNK_PAGES))
            began = time.perf_counter()
            with refusals():
                written = self.simulation.run(chunk)
            self.engine_s += time.perf_counter() - began
            assert written == chunk, "the trace has fewer writes than its plan was checked for"
            self.done_pages += chunk
            if self.passes.ends(self.done_pages):
                self.passes.add(self.done_pages, self.programmed())
            self._tick(expected_pages)

    def schedule(self) -> Schedule:
        """Return the changes of the workload that are known in advance."""
        return Schedule(*self.simulation.schedule())

    def programmed(self) -> int:
        """Return the number of flash pages programmed since the drive was new."""
        return flash_pages(self.simulation.counters())

    def times_programmed(self) -> float:
        """Return how often the whole flash was programmed since the fill, including the ageing."""
        started = flash_pages(self.start)
        started -= self.ageing.flash_pages if self.ageing else 0
        return (self.programmed() - started) / self.drive.physical_pages

    def intervals(self) -> Intervals:
        """Return host and flash pages of each sampling interval."""
        samples = self._all_samples()
        host, flash = samples["host_pages"], flash_pages(samples)
        return np.diff(host).astype(float), np.diff(flash).astype(float)

    def result(self, steady: SteadyState, *, elapsed_s: float) -> Result:
        """Return the result of the run, with its verdict on steadiness."""
        if self.passes.ends(self.done_pages):
            self.simulation.run_to_write()  # also serves the requests after the last write
        events = self.simulation.events()
        self.passes.add(self.done_pages, self.programmed())
        return Result(
            plan=self.plan,
            device=self.drive,
            steady_state=steady,
            samples=self._all_samples(),
            events=self._events(events),
            events_complete=len(events["kind"]) < MOST_EVENTS,
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
        """Return the current series of counters, with the present counters as its last sample."""
        series = self.simulation.series()
        now = self.simulation.counters()
        # After the last write, the host may still trim, read and flush. The last sample is then
        # replaced by the present counters, since it is at the same host page.
        same_pages = series["host_pages"][-1] == now["host_pages"]
        return {
            name: np.append(column[:-1] if same_pages else column, np.uint64(now[name]))
            for name, column in series.items()
        }

    def _all_samples(self) -> _Counts:
        """Return all samples of the run; counters are 0 at its start, after the preconditioning."""
        series = [*self.finished_series, self._samples()]
        # Each series after the first begins with a copy of the previous series' last sample, so
        # that copy is dropped.
        return {
            name: np.concatenate([series[0][name], *(later[name][1:] for later in series[1:])])
            - np.uint64(self.start[name])
            for name in series[0]
        }

    def _events(self, events: Events) -> pl.DataFrame:
        """Return the log of group changes since the fill, with host pages since the fill."""
        new = slice(self.start_events, None)
        return pl.DataFrame(
            {
                "host_pages": events["host_pages"][new] - np.uint64(self.start["host_pages"]),
                "kind": events["kind"][new],
                "group": events["group"][new],
                "groups": events["groups"][new],
                "blocks": events["moved_blocks"][new],
            },
            schema=EVENT_SCHEMA,
        )


def new_simulation(plan: Plan, drive: Device, seed: int) -> EngineSimulation:
    """Return an empty drive and its host, ready to be filled.

    Raises:
        WriteampError: the drive cannot work under the policy, or with this host.
    """
    load = _load(plan, drive)
    with refusals():
        return EngineSimulation(
            plan.policy.drive(drive, tags=plan.tag_count, counts_handles=plan.counts_handles),
            load,
            seed=seed,
            batch_pages=plan.run.batch_pages,
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
            f"requested {plan.run.writes}; use repeat={enough}"
        )
    return load_of_trace(plan.load, passes=passes)
