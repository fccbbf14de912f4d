"""Drive the engine: fill, run, sample, and judge when the result can be trusted."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl
import psutil

from writeamp._engine import CAUSES, MOST_EVENTS
from writeamp._engine import Load as EngineLoad
from writeamp._engine import Simulation as EngineSimulation
from writeamp.devices.device import Device
from writeamp.errors import WriteampError
from writeamp.experiments.loads import load_of_trace
from writeamp.experiments.passes import PassLog
from writeamp.experiments.plan import FIRST_DRIVE_WRITES, Plan
from writeamp.experiments.preconditioning import Ageing, precondition
from writeamp.experiments.settings import Warmup
from writeamp.experiments.simulation_result import EVENT_SCHEMA, Result
from writeamp.experiments.spread import Spread
from writeamp.registry.specs import Spec
from writeamp.statistics.passes import analyse_passes
from writeamp.statistics.steady import SteadyState, analyse

if TYPE_CHECKING:  # a type of the stub only
    from writeamp._engine import Events

Progress: TypeAlias = Callable[[int, int], None]
_Counts: TypeAlias = dict[str, npt.NDArray[np.uint64]]

# Pages written between two looks at Ctrl-C and the progress bar: a few tenths of a second at most.
_CHUNK_PAGES = 1 << 20

# An automatic run grows by half of its length until it is steady and precise enough, or reaches the
# most: a multiple of the flash, or on a small drive so many pages, which take a second or two.
_MOST_DRIVE_WRITES = 200
_MOST_PAGES_AT_ONCE = 50_000_000
_GROWTH = 1.5
_SAMPLES_PER_DRIVE_WRITE = 25
_SAMPLES_OF_A_FIXED_RUN = 400
_MOST_SAMPLES = 20_000

# A trace is steady pass by pass from this many passes on; below, interval by interval.
_FEWEST_PASSES = 3

# Until the flash has been programmed so often, collection has hardly begun.
_FEWEST_TIMES_PROGRAMMED = 2


def run(plan: Plan, drive: Device, progress: Progress | None = None) -> Result:
    """Run the plan on one drive."""
    started = time.perf_counter()
    simulation = _build(plan, drive)
    ageing = precondition(
        simulation,
        plan,
        drive,
        tick=lambda: progress(0, plan.expected_writes(drive)) if progress else None,
    )
    runner = _Runner(simulation, plan, drive, progress, ageing)
    filled = time.perf_counter()
    if isinstance(plan.load, Spec):
        steady = (
            runner.run_until_steady()
            if plan.run.writes is None
            else runner.run_exactly(plan.run.writes)
        )
    else:
        steady = runner.replay(plan.load.host_pages)
    finished = time.perf_counter()
    return runner.result(steady, elapsed_s=finished - started, run_s=finished - filled)


def spread_over_sizes(plan: Plan, drive: Device, wa: float) -> Spread:
    """Rerun on drives one block (in each plane) smaller and larger.

    A looped trace can lock in phase with collection: WA then jumps with the size of the drive, and
    the confidence interval of one run says nothing of it.
    """
    cancelled = Event()

    def rerun(neighbour: Device) -> float:
        def stop_if_cancelled(_done: int, _expected: int) -> None:
            if cancelled.is_set():
                raise WriteampError("cancelled")

        try:
            return run(plan, neighbour, stop_if_cancelled).wa
        except WriteampError:  # one block less can be too few
            return math.nan

    neighbours = [drive.with_extra_blocks(extra) for extra in (-1, 1)]
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(rerun, neighbour) for neighbour in neighbours]
        try:
            smaller, larger = (found.result() for found in runs)
        except BaseException:  # Ctrl-C: the pool would wait for both to end
            cancelled.set()
            raise
    smallest_op, largest_op = (neighbour.op for neighbour in neighbours)
    return Spread(smaller, wa, larger, smallest_op, largest_op)


def _build(plan: Plan, drive: Device) -> EngineSimulation:
    check_memory("the drive needs", drive.geometry.bytes_needed(drive.logical_pages))
    return EngineSimulation(
        plan.policy.drive(drive),
        _load(plan, drive),
        seed=plan.seed,
        batch_pages=plan.run.batch_pages,
    )


def _load(plan: Plan, drive: Device) -> EngineLoad:
    if isinstance(plan.load, Spec):
        return EngineLoad.spec(plan.load.text, plan.used_pages(drive))
    host_pages = plan.load.host_pages * plan.repeat
    if plan.run.writes is not None and plan.run.writes > host_pages:
        passes = -(-plan.run.writes // plan.load.host_pages)
        raise WriteampError(
            f"the trace holds {host_pages} page writes in {plan.repeat} pass(es), fewer than the "
            f"{plan.run.writes} asked for; use repeat={passes}"
        )
    return load_of_trace(plan.load, passes=plan.repeat)


def check_memory(what_needs: str, needed_bytes: int) -> None:
    """Refuse what this machine has no memory for."""
    # Linux promises more memory than it has; without this check the kernel would kill the process.
    available_bytes = psutil.virtual_memory().available
    if needed_bytes > available_bytes:
        raise WriteampError(
            f"{what_needs} {needed_bytes / 2**30:.1f} GiB of memory but "
            f"{available_bytes / 2**30:.1f} GiB are available; use larger pages or fewer blocks"
        )


class _Runner:
    """One simulation after its fill: runs it, and keeps what it has counted since."""

    def __init__(
        self,
        simulation: EngineSimulation,
        plan: Plan,
        drive: Device,
        progress: Progress | None,
        ageing: Ageing | None,
    ) -> None:
        self.simulation = simulation
        self.ageing = ageing
        self.plan = plan
        self.drive = drive
        self.progress = progress
        self.start = simulation.counters()
        self.start_erases = simulation.erase_counts()
        self.start_events = len(simulation.events()["kind"])
        self.done_pages = 0
        self.finished_series: list[_Counts] = []
        pass_pages = None if isinstance(plan.load, Spec) else plan.load.host_pages
        self.passes = PassLog(pass_pages, self.programmed())

    def run_exactly(self, writes: int, *, unless_given: Warmup = "auto") -> SteadyState:
        """Run `writes` host pages; a given warm-up ends on a sample."""
        warmup = self.plan.run.warmup
        warmup = unless_given if warmup == "auto" else warmup
        interval = self.interval_pages(writes)
        if warmup == "auto":
            self.simulation.start_series(interval)
            self.advance(writes, writes)
            return self.judged(analyse(*self.intervals()))
        if warmup >= writes:
            raise WriteampError(
                f"warmup is {warmup}, which leaves nothing of {writes} writes; use a smaller warmup"
            )
        if warmup:
            self.simulation.start_series(interval)
            self.advance(warmup, writes)
            self.finished_series.append(self.samples())
        self.simulation.start_series(interval)
        self.advance(writes - warmup, writes)
        return self.judged(analyse(*self.intervals(), warmup=warmup))

    def run_until_steady(self) -> SteadyState:
        """Run until the result is steady and as precise as asked, or the limit is reached."""
        if self.plan.run.warmup != "auto":
            raise WriteampError("a given warmup needs writes too; or use warmup auto")
        logical_pages, physical_pages = self.drive.logical_pages, self.drive.physical_pages
        most = max(_MOST_DRIVE_WRITES * physical_pages, _MOST_PAGES_AT_ONCE)
        interval = max(
            logical_pages // _SAMPLES_PER_DRIVE_WRITE, _MOST_PAGES_AT_ONCE // _MOST_SAMPLES
        )
        self.simulation.start_series(interval)
        first_samples = FIRST_DRIVE_WRITES * _SAMPLES_PER_DRIVE_WRITE
        target = max(FIRST_DRIVE_WRITES * physical_pages, first_samples * interval)
        while True:
            self.advance(target - self.done_pages, target)
            steady = self.judged(analyse(*self.intervals()))
            half_width = (steady.ci_high - steady.ci_low) / 2
            precise = half_width <= self.plan.run.precision * steady.wa
            if (steady.steady and precise) or target >= most:
                return steady
            target = min(math.ceil(_GROWTH * target), most)

    def replay(self, pass_pages: int) -> SteadyState:
        """Replay a trace: judged by its passes if there are several whole ones."""
        total = self.plan.expected_writes(self.drive)
        passes, rest = divmod(total, pass_pages)
        if self.plan.run.warmup != "auto" or rest or passes < _FEWEST_PASSES:
            # A drive that is aged is not warmed up: all that the trace does to it counts.
            return self.run_exactly(total, unless_given=0 if self.ageing else "auto")
        programmed = [self.programmed()]
        for turn in range(passes):
            if turn:
                self.finished_series.append(self.samples())
            # A series of its own for each pass, so that a pass ends on a sample.
            self.simulation.start_series(self.interval_pages(total))
            self.advance(pass_pages, total)
            programmed.append(self.programmed())
        return self.judged(analyse_passes(pass_pages, np.diff(programmed)))

    def advance(self, pages: int, expected_pages: int) -> None:
        end = self.done_pages + pages
        while self.done_pages < end:
            chunk = self.passes.left(self.done_pages, min(end - self.done_pages, _CHUNK_PAGES))
            written = self.simulation.run(chunk)
            assert written == chunk, "a trace holds the writes that its plan was checked for"
            self.done_pages += chunk
            if self.passes.ends(self.done_pages):
                self.passes.add(self.done_pages, self.programmed())
            if self.progress:
                self.progress(self.done_pages, expected_pages)

    def programmed(self) -> int:
        counters = self.simulation.counters()
        return sum(counters[cause] for cause in CAUSES)

    def interval_pages(self, writes: int) -> int:
        by_drive = self.drive.logical_pages // _SAMPLES_PER_DRIVE_WRITE
        fine = min(by_drive, writes // _SAMPLES_OF_A_FIXED_RUN)
        return max(1, fine, writes // _MOST_SAMPLES)

    def samples(self) -> _Counts:
        """Return the current series, closed by the counters as they stand."""
        series = self.simulation.series()
        now = self.simulation.counters()
        if series["host_pages"][-1] != now["host_pages"]:
            series = {
                name: np.append(column, np.uint64(now[name])) for name, column in series.items()
            }
        return series

    def all_samples(self) -> _Counts:
        """Return every sample since the fill, counted from there."""
        parts = [*self.finished_series, self.samples()]
        # A later series begins with the sample that the one before it ended with.
        return {
            name: np.concatenate([parts[0][name], *(part[name][1:] for part in parts[1:])])
            - np.uint64(self.start[name])
            for name in parts[0]
        }

    def events(self, found: Events) -> pl.DataFrame:
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

    def intervals(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return host and flash pages of each interval."""
        samples = self.all_samples()
        flash = np.sum([samples[cause] for cause in CAUSES], axis=0)
        return np.diff(samples["host_pages"]).astype(float), np.diff(flash).astype(float)

    def judged(self, steady: SteadyState) -> SteadyState:
        """Add what only the drive knows: one that was hardly filled once cannot be steady."""
        started = sum(self.start[cause] for cause in CAUSES)
        started -= self.ageing.flash_pages if self.ageing else 0
        times = (self.programmed() - started) / self.drive.physical_pages
        if steady.steady and times < _FEWEST_TIMES_PROGRAMMED:
            reason = (
                f"too short: all of the flash was programmed {times:.2f} times since the fill, at "
                f"least {_FEWEST_TIMES_PROGRAMMED} are needed"
            )
            return SteadyState(**{**vars(steady), "steady": False, "reason": reason})
        return steady

    def result(self, steady: SteadyState, *, elapsed_s: float, run_s: float) -> Result:
        found = self.simulation.events()
        self.passes.add(self.done_pages, self.programmed())
        return Result(
            plan=self.plan,
            device=self.drive,
            steady_state=steady,
            samples=self.all_samples(),
            events=self.events(found),
            events_complete=len(found["kind"]) < MOST_EVENTS,
            erases_of_block=self.simulation.erase_counts() - self.start_erases,
            valid_page_histogram=self.simulation.valid_page_histogram(),
            scheme_bytes=self.simulation.scheme_bytes(),
            hints=self.simulation.hints(),
            passes=self.passes.frame,
            held_pages=self.simulation.mapped_pages(),
            ageing=self.ageing,
            elapsed_s=elapsed_s,
            run_s=run_s,
        )
