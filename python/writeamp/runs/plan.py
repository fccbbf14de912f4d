"""Plan of a simulation, whatever the drive: load, policy, length, and passes over a trace."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from writeamp import traces
from writeamp.devices.device import Device
from writeamp.devices.policy import Policy
from writeamp.registry.specs import Spec
from writeamp.settings.compared import PoliciesSettings
from writeamp.settings.precondition import Precondition
from writeamp.settings.settings import LoadSettings, PolicySettings, SimulationSettings
from writeamp.statistics.passes import FEWEST_PASSES
from writeamp.traces.recorded import CountingWindow

# An automatic run begins with so many times the flash's size.
FIRST_DRIVE_WRITES = 8


@dataclass(frozen=True)
class Plan:
    """Plan of a simulation, ready to run on any drive that its load fits.

    A drive that a trace is to age before the run has that trace as `earlier`. What a recorded drive
    served before its requests counted is `before`, the last that comes before the run; where time
    passes, all that it served is the load instead, and `window` says when it counted.
    """

    load: Spec | traces.PageTrace
    load_name: str = field(compare=False)
    host: LoadSettings
    policy: Policy
    run: SimulationSettings
    notes: tuple[str, ...] = ()
    earlier: traces.PageTrace | None = None
    before: traces.PageTrace | None = None
    window: CountingWindow | None = None

    @property
    def seed(self) -> int:
        """Seed of every random draw."""
        return self.run.seed

    @property
    def repeat(self) -> int:
        """Least number of times that a trace is replayed."""
        return 1 if self.host.repeat == "auto" else self.host.repeat

    def expected_writes(self, drive: Device) -> int:
        """Return how many pages the host will write, as far as that is known beforehand."""
        if self.run.writes is not None:
            return self.run.writes
        if isinstance(self.load, Spec):
            return FIRST_DRIVE_WRITES * drive.physical_pages
        return self.load.host_pages * self.repeat

    def used_pages(self, drive: Device) -> int:
        """Return how many logical pages the host uses at all."""
        return used_pages(self.load, self.host, drive)

    def without_requests(self) -> Plan:
        """Return the plan with traces of no requests, which are large beside all the rest."""
        return replace(
            self,
            load=self.load if isinstance(self.load, Spec) else self.load.without_requests(),
            earlier=self.earlier and self.earlier.without_requests(),
            before=self.before and self.before.without_requests(),
        )


def policy_of(settings: PolicySettings) -> Policy:
    """Return the policy of settings."""
    return Policy.of(settings.manager, settings.victims, settings.wear_leveling)


def policies_of(settings: PolicySettings | PoliciesSettings) -> list[Policy]:
    """Return the policies of settings: of a comparison, those of its rows."""
    if isinstance(settings, PolicySettings):
        return [policy_of(settings)]
    pairs = settings.combinations().pairs
    return [Policy.of(manager, victims, settings.wear_leveling) for manager, victims in pairs]


def used_pages(load: Spec | traces.PageTrace, host: LoadSettings, drive: Device) -> int:
    """Return how many logical pages the host uses at all."""
    if isinstance(load, Spec):
        return max(1, round(host.utilization * drive.logical_pages))
    return load.logical_pages


def stated_load(host: LoadSettings, load: Spec | traces.PageTrace) -> LoadSettings:
    """Return the load of the host, with the workload that stands where none was asked for.

    So results are equal whether the default was asked for by its name or not.
    """
    return replace(host, workload=load) if isinstance(load, Spec) else host


# A drive remembers how it was filled until its flash was programmed about so many times. A trace
# that does that in one pass needs no other.
MEMORY_TIMES = 64
# Where a loop ends whose passes do not agree: times that it writes the flash, or on a small drive
# so many pages, and passes.
_MOST_DRIVE_WRITES = 200
_MOST_PAGES = 10_000_000
_MOST_PASSES = 200
# A scheme that remembers pages is watched for so many times as long.
LOOK_AHEAD = 3


def is_as_needed(plan: Plan) -> bool:
    """Return whether a run may repeat its trace as often as its verdict needs.

    Where its writes or its warm-up are given, or its drive is aged, what it plays is what was asked
    for.
    """
    return (
        not isinstance(plan.load, Spec)
        and plan.host.repeat == "auto"
        and plan.run.writes is None
        and plan.run.warmup == "auto"
        and plan.before is None
        and not Precondition.of(plan.host.precondition).ages
    )


def most_passes(plan: Plan, drive: Device) -> int:
    """Return how often a run may replay its trace."""
    if not is_as_needed(plan):
        return plan.repeat
    assert not isinstance(plan.load, Spec)
    most_pages = max(_MOST_DRIVE_WRITES * drive.physical_pages, _MOST_PAGES)
    passes = min(most_pages // plan.load.host_pages, _MOST_PASSES)
    return passes if passes >= FEWEST_PASSES else 1


def loaded_passes(plan: Plan, drive: Device) -> int:
    """Return how many passes a load holds; a run that goes ahead has more."""
    most = most_passes(plan, drive)
    return LOOK_AHEAD * most if is_as_needed(plan) and most > 1 else most
