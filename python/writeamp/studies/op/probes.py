"""Probes: simulations on drives of several sizes, each run once, to find a target WA."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from writeamp.errors import Interrupted, RefusedError
from writeamp.runners import Progress, Runner, Shared, local_runner, report_wa
from writeamp.runs.plan import Plan
from writeamp.runs.runner import drives_that_fit, run
from writeamp.runs.simulation_result import Result
from writeamp.settings.settings import SimulationSettings
from writeamp.statistics.passes import FEWEST_PASSES, analyse_passes
from writeamp.studies.op.drive_sizes import DriveCodec, DriveSizes
from writeamp.studies.study import RunStore

# A coarse run, with lower precision and without replicas, decides if its WA is far from the target:
# more than three half widths of its interval, and more than 1% of WA.
_COARSE_PRECISION = 0.005
_CLEAR_HALF_WIDTHS = 3.0
_CLEAR_SHARE = 0.01
# Number of drives that most searches run. If a search runs more, its progress bar stays near the
# end.
_EXPECTED_DRIVES = 32
# Number of progress steps for each run.
_PARTS = 1000


@dataclass(frozen=True)
class Probe:
    """Result of one drive, identified by its blocks in each plane."""

    blocks: int
    result: Result
    is_coarse: bool

    @property
    def wa(self) -> float:
        """Write amplification."""
        return self.result.wa

    @property
    def level(self) -> float:
        """Mean WA over the run and its replicas, used to compare drives.

        With the mean, the op found by the search depends less on one seed.
        """
        return float(np.mean([self.wa, *self.result.steady_state.wa_of_replicas]))

    @property
    def half_width(self) -> float:
        """Half of the 95% interval of `wa`; NaN if the run is too short."""
        low, high = self.result.ci
        return (high - low) / 2

    @property
    def slack(self) -> float:
        """Half width of the interval of WA that the search assumes; wider after a coarse run."""
        if not self.is_coarse:
            return self.half_width
        return max(_CLEAR_HALF_WIDTHS * self.half_width, _CLEAR_SHARE * self.wa)

    def is_above(self, wa: float) -> bool:
        """Return whether WA is certainly above a value."""
        return self.low > wa

    def is_below(self, wa: float) -> bool:
        """Return whether WA is certainly below a value."""
        return self.high < wa

    @property
    def low(self) -> float:
        """Lower bound of WA for decisions of the search."""
        return self.wa - self.slack if self.is_coarse else self.result.ci[0]

    @property
    def high(self) -> float:
        """Upper bound of WA for decisions of the search."""
        return self.wa + self.slack if self.is_coarse else self.result.ci[1]


@dataclass(frozen=True)
class ProbeRuns:
    """Runs of a search: the drives and their plan, the runner, and the store of finished runs."""

    sizes: Shared[DriveSizes]
    store: RunStore
    runner: Runner | None = None
    files: Collection[str] = ()

    def run(
        self, plan: Plan, block_counts: Sequence[int], on_progress: Progress | None
    ) -> list[Result]:
        """Run a plan on drives with these blocks per plane, several drives at the same time.

        Args:
            plan: plan to run, with the load of `sizes`.
            block_counts: blocks per plane of each drive.
            on_progress: called with the work done and expected, for a single run in this process.
        """
        sizes = self.sizes.value
        most = drives_that_fit(sizes.drive(max(block_counts)))
        runner = self.runner or local_runner(len(block_counts), most)
        is_single_here = self.runner is None and len(block_counts) == 1
        work = partial(
            _run_on, self.sizes, plan.run, on_progress=on_progress if is_single_here else None
        )
        codec = DriveCodec(sizes, plan, is_restated=False)
        return self._gather(codec, runner, work, block_counts)

    def with_error(self, result: Result) -> Result:
        """Return a drive's result as one of the requested drive, with its scaling error.

        The run on a smaller drive, which gives the scaling error, is stored, too.
        """
        sizes, other = self.sizes.value, None
        if sizes.smaller is not None:
            runner = self.runner or local_runner(1)
            codec = DriveCodec(sizes.smaller, is_restated=False)
            blocks = sizes.smaller.blocks_for(result.device.op)
            with suppress(RefusedError):  # the drive can be too small for its manager
                (other,) = self._gather(codec, runner, partial(_run_smaller, self.sizes), [blocks])
        return sizes.to_target(result, other)

    def _gather(
        self,
        codec: DriveCodec,
        runner: Runner,
        work: Callable[[int], Result],
        block_counts: Sequence[int],
    ) -> list[Result]:
        try:
            return self.store.gather(codec, runner, work, block_counts, files=self.files)
        except Interrupted:  # an interrupted search has no partial result
            raise KeyboardInterrupt from None


def _run_on(
    shared: Shared[DriveSizes],
    run_settings: SimulationSettings,
    blocks: int,
    *,
    on_progress: Progress | None,
) -> Result:
    """Run one drive; return its result without the trace."""
    sizes = shared.value
    plan = replace(sizes.plan, run=run_settings)
    return replace(run(plan, sizes.drive(blocks), on_progress), plan=plan.without_requests())


def _run_smaller(shared: Shared[DriveSizes], blocks: int) -> Result:
    """Run a drive of the smaller size that shows the scaling error."""
    sizes = shared.value.smaller
    assert sizes is not None, "`_run_smaller` is called only if there are smaller drives"
    return replace(run(sizes.plan, sizes.drive(blocks)), plan=sizes.plan.without_requests())


class Probes:
    """Drives that were run for one target WA, by their blocks per plane."""

    def __init__(self, runs: ProbeRuns, target_wa: float, progress: Progress | None) -> None:
        """Begin without any finished runs.

        Args:
            runs: runs drives.
            target_wa: target write amplification.
            progress: called with the work done and expected, in thousandths of a run.
        """
        self.sizes = runs.sizes.value
        self._run_all = runs.run
        self.target_wa = target_wa
        self.tried: dict[int, Probe] = {}
        self.error = 0.0
        """Scaling error of WA, measured at the drive found; 0 before that."""
        self._progress = progress
        self._runs = 0
        self._coarse = _coarse(self.sizes)

    def at(self, blocks: int) -> Probe:
        """Run a drive: coarsely at first, and precisely if its WA is near the target.

        Raises:
            RefusedError: the manager does not support a drive of that size.
        """
        if blocks not in self.tried:
            self._add([blocks], self._coarse)
        probe = self.tried[blocks]
        is_near = not (probe.is_above(self.target_wa) or probe.is_below(self.target_wa))
        return self.precisely(blocks) if is_near else probe

    def precisely(self, blocks: int) -> Probe:
        """Run a drive with the requested precision and replicas, if that was not done yet."""
        if blocks not in self.tried or self.tried[blocks].is_coarse:
            self._add([blocks], self.sizes.plan)
        return self.tried[blocks]

    def all_at(self, block_counts: Sequence[int]) -> None:
        """Run several drives, several at the same time; run those near the target precisely.

        Drives that the manager does not support are left out.
        """
        new = [blocks for blocks in block_counts if blocks not in self.tried]
        with suppress(RefusedError):
            self._add(new, self._coarse)
        for blocks in block_counts:
            with suppress(RefusedError):
                self.at(blocks)

    def in_order(self) -> list[Probe]:
        """Return the drives that were run, the smallest first."""
        return [self.tried[blocks] for blocks in sorted(self.tried)]

    def _add(self, block_counts: Sequence[int], plan: Plan) -> None:
        is_coarse = plan.run != self.sizes.plan.run
        on_progress = self._inner() if len(block_counts) == 1 else None
        if not block_counts:
            return
        for blocks, result in zip(
            block_counts, self._run_all(plan, block_counts, on_progress), strict=True
        ):
            self.tried[blocks] = Probe(blocks, result, is_coarse)
        self._runs += len(block_counts)
        nearest = min(self.tried.values(), key=lambda probe: abs(probe.wa - self.target_wa))
        report_wa(nearest.wa, nearest.half_width)
        self._report(0)

    def _inner(self) -> Progress:
        return lambda done, expected: self._report(min(_PARTS, _PARTS * done // max(expected, 1)))

    def _report(self, parts: int) -> None:
        if self._progress:
            done = _PARTS * self._runs + parts
            self._progress(done, max(_PARTS * _EXPECTED_DRIVES, done + _PARTS))


def _coarse(sizes: DriveSizes) -> Plan:
    """Return a plan with lower precision and one replica; for a trace, the same plan."""
    plan = sizes.plan
    if not sizes.has_draws:
        return plan
    precision = max(plan.run.precision, _COARSE_PRECISION)
    return replace(plan, run=replace(plan.run, replicas=1, precision=precision))


def is_known(probe: Probe) -> bool:
    """Return whether the WA of a drive has an interval and is steady.

    If the loop over a trace determines its WA, WA counts as steady if all passes give the same WA.
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
