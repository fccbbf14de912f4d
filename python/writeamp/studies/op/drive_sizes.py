"""Drives of one logical size that differ in spare space, and the plan that runs on them."""

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

# Four times as much spare space as data: nobody builds such a drive.
MOST_OP = 4.0

# Draws of a victim for each block that the host sees, after which hardly any is left undrawn; and
# how many of them take no time worth a word. More would make a search of many runs take minutes.
_MOST_DRAWS_A_BLOCK = 20
_FEW_DRAWS = 1000


@dataclass(frozen=True)
class DriveSizes:
    """Drives of one logical size, by their blocks in each plane, and the plan that runs on them.

    One more block in each plane is the least by which their op can differ.
    """

    plan: Plan
    base: Device
    scaled: ScaledExperiment | None = None
    """The experiment that these are of, where another was requested."""
    smaller: DriveSizes | None = None
    """Drives that tell the error of that, if there is one."""

    @cached_property
    def target_plan(self) -> Plan:
        """Plan as results report it."""
        return self.plan if self.scaled is None else self.scaled.target_plan(self.plan)

    @property
    def logical_pages(self) -> int:
        """Logical pages of each of the drives."""
        return self.base.logical_pages

    @property
    def pages_of_step(self) -> int:
        """Pages of one block in each plane."""
        return self.base.planes * self.base.pages_per_block

    @property
    def step_op(self) -> float:
        """Difference of op between a drive and the next."""
        return self.pages_of_step / self.logical_pages

    @property
    def fewest(self) -> int:
        """Blocks a plane of the smallest drive with any spare space."""
        return self.logical_pages // self.pages_of_step + 1

    @cached_property
    def most(self) -> int:
        """Blocks a plane of the largest drive of at most `MOST_OP` that the engine can count."""
        counted = int(2**COUNT_BITS - 1) // self.pages_of_step
        return max(self.fewest, min(int(self.blocks_at(MOST_OP)), counted))

    def blocks_at(self, op: float) -> float:
        """Return the blocks a plane that would make exactly this op."""
        return physical_of(self.logical_pages, op) / self.pages_of_step

    def blocks_for(self, op: float) -> int:
        """Return the blocks a plane of the smallest drive with at least this op."""
        return whole_units(needed_pages(self.logical_pages, op), self.pages_of_step)

    def with_spare(self, blocks: int, factor: float) -> int:
        """Return the blocks a plane that make so many times the spare space, at least one more.

        With a factor below 1, at least one fewer.
        """
        spare = blocks - self.logical_pages / self.pages_of_step
        found = round(blocks + (factor - 1) * spare)
        return max(found, blocks + 1) if factor > 1 else min(found, blocks - 1)

    def drive(self, blocks: int) -> Device:
        """Return the drive with so many blocks in each plane."""
        return replace(self.base, blocks_per_plane=blocks)

    def op(self, blocks: float) -> float:
        """Return the op of the drive with so many blocks in each plane; also between two drives."""
        return (blocks * self.pages_of_step - self.logical_pages) / self.logical_pages

    def with_error(self, result: Result) -> Result:
        """Return a result on one of the drives as that of the requested one, with its error.

        That is measured on a drive of the same op.
        """
        other = None
        if self.smaller is not None:
            blocks = self.smaller.blocks_for(result.device.op)
            with suppress(RefusedError):  # one so small can be too small for its manager
                other = run(self.smaller.plan, self.smaller.drive(blocks))
        return self.restated(result, other)

    def restated(self, result: Result, other: Result | None) -> Result:
        """Return a result as that of the requested drive, where these stand for it.

        Args:
            result: on one of the drives.
            other: on that of `smaller` with the same op; None if there is none.
        """
        return result if self.scaled is None else self.scaled.target_result(result, other)

    @property
    def has_draws(self) -> bool:
        """True if the host draws at random, so that other seeds find another WA."""
        return isinstance(self.plan.load, Spec)

    @property
    def expected_held_pages(self) -> int:
        """Logical pages that hold data, as far as that is known before a run."""
        return used_pages(self.plan.load, self.plan.host, self.base)


class KeepDrives(DocumentCodec[int, Result]):
    """Keeping of a curve's or a search's runs: each means its drive, load, policy and length."""

    verb = "simulate"

    def __init__(self, sizes: DriveSizes, plan: Plan | None = None, *, is_restated: bool) -> None:
        """Take the drives.

        Args:
            sizes: the drives, and what runs on them.
            plan: what runs on them in place of that.
            is_restated: whether results are said of the requested drive, with their error.
        """
        self._sizes = sizes
        self._plan = plan or sizes.plan
        self._is_restated = is_restated

    def meaning(self, blocks: int) -> dict[str, Any]:
        """Return the meaning of the run on a drive, and of the one that tells its error."""
        sizes, drive = self._sizes, self._sizes.drive(blocks)
        found = meaning_of_run(self._plan, drive)
        if not self._is_restated or sizes.scaled is None:
            return found
        found["scale"] = to_document(sizes.scaled.scale)
        if sizes.smaller is not None:
            smaller = sizes.smaller.drive(sizes.smaller.blocks_for(drive.op))
            found["smaller"] = meaning_of_run(sizes.smaller.plan, smaller)
        return found

    def facts(self, blocks: int, result: Result) -> RunFacts:
        """Return the op of the drive, the seed and WA."""
        op = self._sizes.op(blocks)
        return RunFacts(f"{self._plan.policy} at op {op:.6g}", self._plan.seed, result.wa)

    def document(self, blocks: int, result: Result) -> Any:
        """Return the result as JSON types, without what all drives have in common."""
        return to_document(result, without=("plan", "device"))

    def result(self, blocks: int, document: Any) -> Result:
        """Return the result of a drive from its document."""
        plan = (self._sizes.target_plan if self._is_restated else self._plan).without_requests()
        drive = self._sizes.drive(blocks)
        return from_document(Result, document, plan=plan, device=drive)


def drive_sizes(experiment: Experiment, asks: str) -> DriveSizes:
    """Return the drives that have the logical size of an experiment's, and its plan.

    The drive's size is that of the experiment without a ratio: of a profile or the default, or that
    which the trace's written pages just fill. The trace is read here, once for all of them.

    Args:
        experiment: what to simulate, without a ratio of over-provisioning.
        asks: the setting that makes op vary, for errors.

    Raises:
        WriteampError: the experiment says the op, or the physical size, or is timed.
    """
    if not isinstance(experiment.run, SimulationSettings):
        raise WriteampError(f"{asks} is for simulate, not for {experiment.verb}")
    _check(experiment, asks)
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
    run_as = replace(in_pages(settings, prepared.drive), spread=False)
    works_by = policy_of(policy)
    _check_draws(works_by.victims, prepared.drive)
    return DriveSizes(plan_of(prepared, experiment, works_by, run_as), prepared.drive)


def _check(experiment: Experiment, asks: str) -> None:
    device = experiment.device
    for name in ("op", "fill", "spare_factor"):
        if getattr(device, name) is not None:
            raise WriteampError(f"{name} and {asks} exclude each other: {asks} varies the op")
    if device.blocks is not None:
        raise WriteampError(
            f"blocks and {asks} exclude each other: {asks} keeps what the host sees and varies the "
            "blocks; give the logical size by logical_pages, logical_blocks or size"
        )
    if experiment.is_timed:
        raise WriteampError(
            f"{asks} is for untimed runs, whose WA is steady and has an interval; leave out time, "
            "timed and rb_capture, and take a workload without a pace (docs/timing.md)"
        )


def _check_draws(victims: str, device: Device) -> None:
    """Refuse a policy that draws every block many times over, at each collection of each run."""
    spec = Spec.of("victims", victims)
    if spec.name != "d-choices":
        return
    blocks = device.logical_pages // device.pages_per_block
    most = max(_FEW_DRAWS, _MOST_DRAWS_A_BLOCK * blocks)
    if int(spec.params["d"]) > most:
        raise WriteampError(
            f"{victims} draws {spec.params['d']} blocks for each collection, and the host sees "
            f"{blocks}: a search takes at most {most}; give those, or greedy, which looks at all"
        )
