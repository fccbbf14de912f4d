"""Simulations of one plan on drives of several sizes, each done once, to find a WA."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from writeamp.errors import Interrupted, RefusedError
from writeamp.runners import Progress, Runner, Shared, local_runner
from writeamp.runs.plan import Plan
from writeamp.runs.runner import drives_that_fit, run
from writeamp.runs.simulation_result import Result
from writeamp.settings.settings import SimulationSettings
from writeamp.statistics.passes import FEWEST_PASSES, analyse_passes
from writeamp.studies.op.drive_sizes import DriveSizes, KeepDrives
from writeamp.studies.study import RunStore

# Far from the target a run of less precision and without replicas tells on which side of it WA is,
# if it is further away than so many half widths of that run, and this share of WA.
_COARSE_PRECISION = 0.005
_CLEAR_HALF_WIDTHS = 3.0
_CLEAR_SHARE = 0.01
# Drives that most searches try; the bar of one that tries more stays near its end.
_EXPECTED_DRIVES = 32
# What the progress of one run is divided into.
_PARTS = 1000


@dataclass(frozen=True)
class Probe:
    """Result of one drive that was tried, by its blocks in each plane."""

    blocks: int
    result: Result
    is_coarse: bool

    @property
    def wa(self) -> float:
        """Its write amplification."""
        return self.result.wa

    @property
    def level(self) -> float:
        """WA that decides between drives: the mean over the run and its replicas.

        So that the op found is less one seed's.
        """
        return float(np.mean([self.wa, *self.result.steady_state.wa_of_replicas]))

    @property
    def half_width(self) -> float:
        """Half of the 95% interval of `wa`; NaN of runs too short for one."""
        low, high = self.result.ci
        return (high - low) / 2

    @property
    def slack(self) -> float:
        """Distance from a value at which WA is on one side of it for certain."""
        if not self.is_coarse:
            return self.half_width
        return max(_CLEAR_HALF_WIDTHS * self.half_width, _CLEAR_SHARE * self.wa)

    def is_above(self, wa: float) -> bool:
        """Return whether its WA is above a value for certain."""
        return self.low > wa

    def is_below(self, wa: float) -> bool:
        """Return whether its WA is below a value for certain."""
        return self.high < wa

    @property
    def low(self) -> float:
        """Value that WA is not below, for certain."""
        return self.wa - self.slack if self.is_coarse else self.result.ci[0]

    @property
    def high(self) -> float:
        """Value that WA is not above, for certain."""
        return self.wa + self.slack if self.is_coarse else self.result.ci[1]


@dataclass(frozen=True)
class ProbeRuns:
    """Runs of a search: drives and what runs on them, a runner, and a folder that keeps them."""

    sizes: Shared[DriveSizes]
    kept: RunStore
    runner: Runner | None = None
    files: Collection[str] = ()

    def run(self, plan: Plan, several: Sequence[int], tell: Progress | None) -> list[Result]:
        """Run a plan on drives of so many blocks a plane, some of them at the same time.

        Args:
            plan: what to run, with the load of `sizes`.
            several: the blocks.
            tell: of a single run in this process, called with what is done and expected.
        """
        sizes = self.sizes.value
        most = drives_that_fit(sizes.drive(max(several)))
        runner = self.runner or local_runner(len(several), most)
        is_here = self.runner is None and len(several) == 1
        work = partial(_run_on, self.sizes, plan.run, tell=tell if is_here else None)
        keeping = KeepDrives(sizes, plan, is_restated=False)
        return self._gather(keeping, runner, work, several)

    def with_error(self, result: Result) -> Result:
        """Return a result on one of the drives as that of the requested one, with its error.

        The run on the smaller drive that tells it is kept, too.
        """
        sizes, other = self.sizes.value, None
        if sizes.smaller is not None:
            runner = self.runner or local_runner(1)
            keeping = KeepDrives(sizes.smaller, is_restated=False)
            blocks = sizes.smaller.blocks_for(result.device.op)
            with suppress(RefusedError):  # one so small can be too small for its manager
                (other,) = self._gather(
                    keeping, runner, partial(_run_smaller, self.sizes), [blocks]
                )
        return sizes.restated(result, other)

    def _gather(
        self,
        keeping: KeepDrives,
        runner: Runner,
        work: Callable[[int], Result],
        several: Sequence[int],
    ) -> list[Result]:
        try:
            return self.kept.gather(keeping, runner, work, several, files=self.files)
        except Interrupted:  # a part of a search is no result of anybody's
            raise KeyboardInterrupt from None


def _run_on(
    shared: Shared[DriveSizes],
    run_as: SimulationSettings,
    blocks: int,
    *,
    tell: Progress | None,
) -> Result:
    """Run one drive; traces do not travel with the result."""
    sizes = shared.value
    plan = replace(sizes.plan, run=run_as)
    return replace(run(plan, sizes.drive(blocks), tell), plan=plan.without_requests())


def _run_smaller(shared: Shared[DriveSizes], blocks: int) -> Result:
    """Run one of the drives that show the error of the others."""
    sizes = shared.value.smaller
    assert sizes is not None, "who asks has seen that there are some"
    return replace(run(sizes.plan, sizes.drive(blocks)), plan=sizes.plan.without_requests())


class Probes:
    """The drives that were tried for one target, by their blocks a plane."""

    def __init__(self, runs: ProbeRuns, target_wa: float, progress: Progress | None) -> None:
        """Begin with no drive tried.

        Args:
            runs: how drives are run.
            target_wa: the write amplification asked for.
            progress: called with what is done and expected, in thousandths of a run.
        """
        self.sizes = runs.sizes.value
        self._run_all = runs.run
        self.target_wa = target_wa
        self.tried: dict[int, Probe] = {}
        self.error = 0.0
        """How far WA of the requested drives may be from theirs: that of the drive found, if any.
        """
        self._progress = progress
        self._runs = 0
        self._coarse = _coarse(self.sizes)

    def at(self, blocks: int) -> Probe:
        """Try a drive, precisely if it is near the target.

        Raises:
            RefusedError: the manager does not take a drive of that size.
        """
        if blocks not in self.tried:
            self._add([blocks], self._coarse)
        found = self.tried[blocks]
        is_near = not (found.is_above(self.target_wa) or found.is_below(self.target_wa))
        return self.precisely(blocks) if is_near else found

    def precisely(self, blocks: int) -> Probe:
        """Try a drive with the precision and the replicas of a run of its own."""
        if blocks not in self.tried or self.tried[blocks].is_coarse:
            self._add([blocks], self.sizes.plan)
        return self.tried[blocks]

    def all_at(self, several: Sequence[int]) -> None:
        """Try several drives, some of them at the same time, and those near the target again.

        One that the manager does not take is left out.
        """
        new = [blocks for blocks in several if blocks not in self.tried]
        with suppress(RefusedError):
            self._add(new, self._coarse)
        for blocks in several:
            with suppress(RefusedError):
                self.at(blocks)

    def in_order(self) -> list[Probe]:
        """Return the drives that were tried, the smallest first."""
        return [self.tried[blocks] for blocks in sorted(self.tried)]

    def _add(self, several: Sequence[int], plan: Plan) -> None:
        is_coarse = plan.run != self.sizes.plan.run
        tell = self._inner() if len(several) == 1 else None
        if not several:
            return
        for blocks, result in zip(several, self._run_all(plan, several, tell), strict=True):
            self.tried[blocks] = Probe(blocks, result, is_coarse)
        self._runs += len(several)
        self._say(0)

    def _inner(self) -> Progress:
        return lambda done, expected: self._say(min(_PARTS, _PARTS * done // max(expected, 1)))

    def _say(self, parts: int) -> None:
        if self._progress:
            done = _PARTS * self._runs + parts
            self._progress(done, max(_PARTS * _EXPECTED_DRIVES, done + _PARTS))


def _coarse(sizes: DriveSizes) -> Plan:
    """Return a plan that costs less; a trace has nothing to be left out of."""
    plan = sizes.plan
    if not sizes.has_draws:
        return plan
    precision = max(plan.run.precision, _COARSE_PRECISION)
    return replace(plan, run=replace(plan.run, replicas=1, precision=precision))


def is_known(probe: Probe) -> bool:
    """Return whether its WA has an interval, and is one that lasts.

    That of a trace whose loop decides it lasts as long as the loop if its passes agree.
    """
    result = probe.result
    if math.isnan(probe.half_width):
        return False
    return result.steady or (result.steady_state.loop_decides and _passes_agree(result))


def _passes_agree(result: Result) -> bool:
    host = result.passes["host_pages"].to_numpy()
    whole = host == host[0]
    if whole.sum() < FEWEST_PASSES:
        return False
    flash = result.passes["wa"].to_numpy()[whole] * host[0]
    return analyse_passes(int(host[0]), flash).steady
