"""Drives of one logical size with different spare space, and the plan to run on them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from writeamp.devices.device import Device
from writeamp.devices.geometry import COUNT_BITS
from writeamp.devices.size import needed_pages, whole_units
from writeamp.errors import RefusedError, WriteampError
from writeamp.registry.specs import Spec
from writeamp.results.documents import from_document, to_document
from writeamp.runs.inputs import prepare
from writeamp.runs.meaning import meaning_of_run
from writeamp.runs.plan import Plan, policy_of, used_pages
from writeamp.runs.runner import run
from writeamp.runs.simulation_result import Result
from writeamp.settings.experiment import Experiment
from writeamp.settings.settings import PolicySettings, SimulationSettings
from writeamp.studies.capacity.scaled_experiment import ScaledExperiment
from writeamp.studies.simulation import in_pages, plan_of
from writeamp.studies.study import DocumentCodec, RunFacts
from writeamp.units.ratios import physical_of

# Upper end of op in a search: four times as much spare space as data.
MOST_OP = 4.0

# Two limits of the draws of d-choices at a collection, of which the larger applies. At 20 draws for
# each logical block, almost every block is drawn. Up to 1,000 draws take negligible time. With
# more, a search would take minutes.
_MOST_DRAWS_A_BLOCK = 20
_FEW_DRAWS = 1000


@dataclass(frozen=True)
class DriveSizes:
    """Drives of one logical size, identified by blocks per plane, and the plan to run on them.

    Neighbouring drives differ by one block in each plane.
    """

    plan: Plan
    base: Device
    scaled: ScaledExperiment | None = None
    """Scaled-down experiment of these drives, or None if they have the requested size."""
    smaller: DriveSizes | None = None
    """Even smaller drives, which show the scaling error, or None."""

    @cached_property
    def target_plan(self) -> Plan:
        """Plan of the run on the requested drive, for results."""
        return self.plan if self.scaled is None else self.scaled.target_plan(self.plan)

    @property
    def logical_pages(self) -> int:
        """Number of logical pages of each drive."""
        return self.base.logical_pages

    @property
    def pages_of_step(self) -> int:
        """Step between neighbouring drives in pages: one block in each plane."""
        return self.base.planes * self.base.pages_per_block

    @property
    def step_op(self) -> float:
        """Step between neighbouring drives in op."""
        return self.pages_of_step / self.logical_pages

    @property
    def fewest(self) -> int:
        """Blocks per plane of the smallest drive with any spare space."""
        return self.logical_pages // self.pages_of_step + 1

    @cached_property
    def most(self) -> int:
        """Blocks per plane of the largest drive: at most `MOST_OP`, and countable by the engine."""
        counted = int(2**COUNT_BITS - 1) // self.pages_of_step
        return max(self.fewest, min(int(self.blocks_at(MOST_OP)), counted))

    def blocks_at(self, op: float) -> float:
        """Return the number of blocks per plane that gives exactly this op, not rounded."""
        return physical_of(self.logical_pages, op) / self.pages_of_step

    def blocks_for(self, op: float) -> int:
        """Return the blocks per plane of the smallest drive with at least this op."""
        return whole_units(needed_pages(self.logical_pages, op), self.pages_of_step)

    def with_spare(self, blocks: int, factor: float) -> int:
        """Return the blocks per plane for `factor` times the spare space, at least one block more.

        With a factor below 1, it is at least one block fewer.
        """
        spare = blocks - self.logical_pages / self.pages_of_step
        blocks_found = round(blocks + (factor - 1) * spare)
        return max(blocks_found, blocks + 1) if factor > 1 else min(blocks_found, blocks - 1)

    def drive(self, blocks: int) -> Device:
        """Return the drive with this many blocks in each plane."""
        return replace(self.base, blocks_per_plane=blocks)

    def op(self, blocks: float) -> float:
        """Return the op for a number of blocks per plane, which need not be whole."""
        return (blocks * self.pages_of_step - self.logical_pages) / self.logical_pages

    def with_error(self, result: Result) -> Result:
        """Return a drive's result as one of the requested drive, with its scaling error.

        The scaling error is measured on a smaller drive with the same op.
        """
        other = None
        if self.smaller is not None:
            blocks = self.smaller.blocks_for(result.device.op)
            with suppress(RefusedError):  # the drive can be too small for its manager
                other = run(self.smaller.plan, self.smaller.drive(blocks))
        return self.to_target(result, other)

    def to_target(self, result: Result, other: Result | None) -> Result:
        """Return a result for the requested drive, if these drives are scaled down.

        Args:
            result: result on one of the drives.
            other: result on the drive of `smaller` with the same op, or None.
        """
        return result if self.scaled is None else self.scaled.target_result(result, other)

    @property
    def has_draws(self) -> bool:
        """True for a workload, whose random draws depend on the seed; False for a trace."""
        return isinstance(self.plan.load, Spec)

    @property
    def expected_held_pages(self) -> int:
        """Number of logical pages that should hold data during the run, known before it."""
        return used_pages(self.plan.load, self.plan.host, self.base)


class DriveCodec(DocumentCodec[int, Result]):
    """Storage of the runs of a curve or a search; the key covers drive, load, policy and length."""

    verb = "simulate"

    def __init__(self, sizes: DriveSizes, plan: Plan | None = None, *, is_restated: bool) -> None:
        """Set the drives and the plan of the stored runs.

        Args:
            sizes: the drives, and the default plan.
            plan: plan to use instead of the plan of `sizes`.
            is_restated: whether stored results are converted to the requested drive, with their
                scaling error.
        """
        self._sizes = sizes
        self._plan = plan or sizes.plan
        self._is_restated = is_restated

    def meaning(self, blocks: int) -> dict[str, Any]:
        """Return the inputs of the run on a drive, and of the run for its scaling error."""
        sizes, drive = self._sizes, self._sizes.drive(blocks)
        meaning = meaning_of_run(self._plan, drive)
        if not self._is_restated or sizes.scaled is None:
            return meaning
        meaning["scale"] = to_document(sizes.scaled.scale)
        if sizes.smaller is not None:
            smaller = sizes.smaller.drive(sizes.smaller.blocks_for(drive.op))
            meaning["smaller"] = meaning_of_run(sizes.smaller.plan, smaller)
        return meaning

    def facts(self, blocks: int, result: Result) -> RunFacts:
        """Return the op of the drive, the seed and the WA."""
        op = self._sizes.op(blocks)
        return RunFacts(f"{self._plan.policy} at op {op:.6g}", self._plan.seed, result.wa)

    def document(self, blocks: int, result: Result) -> Any:
        """Return the result as JSON types, without the plan and the device."""
        return to_document(result, without=("plan", "device"))

    def result(self, blocks: int, document: Any) -> Result:
        """Return the result of a drive from its stored document."""
        plan = (self._sizes.target_plan if self._is_restated else self._plan).without_requests()
        drive = self._sizes.drive(blocks)
        return from_document(Result, document, plan=plan, device=drive)


def drive_sizes(experiment: Experiment, option: str) -> DriveSizes:
    """Return the drives with the logical size of an experiment, and its plan.

    The logical size is taken from the profile or the default drive. If a trace runs without a
    device, it is the number of pages that the trace writes. The trace is read here, once for all
    drives.

    Args:
        experiment: drive, load and policy, without a value of op, fill or spare_factor.
        option: name of the setting that varies op, for error messages.

    Raises:
        WriteampError: the experiment states op or the physical size, or is timed.
    """
    if not isinstance(experiment.run, SimulationSettings):
        raise WriteampError(f"{option} is for simulate, not for {experiment.verb}")
    _check(experiment, option)
    scaled = ScaledExperiment.of(experiment)
    if scaled is None:
        return _sizes(experiment)
    smaller = None if scaled.smaller is None else _sizes(scaled.smaller)
    return replace(_sizes(scaled.experiment), scaled=scaled, smaller=smaller)


def _sizes(experiment: Experiment) -> DriveSizes:
    settings, policy = experiment.run, experiment.policy
    assert isinstance(settings, SimulationSettings)
    assert isinstance(policy, PolicySettings)
    prepared = prepare(experiment)
    prepared.drive.check_flash()
    run_settings = replace(in_pages(settings, prepared), spread=False)
    policy_of_runs = policy_of(policy)
    _check_draws(policy_of_runs.victims, prepared.drive)
    return DriveSizes(plan_of(prepared, experiment, policy_of_runs, run_settings), prepared.drive)


def _check(experiment: Experiment, option: str) -> None:
    device = experiment.device
    for name in ("op", "fill", "spare_factor"):
        if getattr(device, name) is not None:
            raise WriteampError(
                f"{name} and {option} exclude each other, because {option} varies op; leave out one"
            )
    if device.blocks is not None:
        raise WriteampError(
            f"blocks and {option} exclude each other, because {option} varies the blocks; give the "
            "logical size by logical_pages, logical_blocks or size"
        )
    if experiment.is_timed:
        raise WriteampError(
            f"{option} is for untimed runs, which have a steady WA with an interval; omit time, "
            "timed and rb_capture, and give a workload without a pace (docs/timing.md)"
        )


def _check_draws(victims: str, device: Device) -> None:
    """Reject d-choices with so many draws that a search would take minutes."""
    spec = Spec.of("victims", victims)
    if spec.name != "d-choices":
        return
    blocks = device.logical_pages // device.pages_per_block
    most = max(_FEW_DRAWS, _MOST_DRAWS_A_BLOCK * blocks)
    if int(spec.params["d"]) > most:
        raise WriteampError(
            f"{victims} draws {spec.params['d']} blocks at each collection, and the drive has "
            f"{blocks} logical blocks; give at most {most} draws, or greedy, which checks all"
        )
