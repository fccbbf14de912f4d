"""Plan of a simulation, independent of the drive: load, policy, length, and trace passes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from writeamp import traces
from writeamp.devices.device import Device
from writeamp.devices.policy import Policy
from writeamp.registry.declarations import declared
from writeamp.registry.specs import Spec
from writeamp.settings.compared import PoliciesSettings
from writeamp.settings.precondition import Precondition
from writeamp.settings.settings import LoadSettings, PolicySettings, SimulationSettings
from writeamp.statistics.passes import FEWEST_PASSES
from writeamp.traces.recorded import CountingWindow

# Length at which an automatic run is first judged, as a multiple of the drive's physical pages.
FIRST_DRIVE_WRITES = 8


@dataclass(frozen=True)
class Plan:
    """Plan of a simulation, ready to run on any drive that its load fits.

    `earlier` is the trace that ages the drive before the run, if any. If the trace of the run was
    recorded on a virtual drive, `uncounted` has the requests from before that drive's counters
    started; they are replayed just before the run. In a timed run of a recorded trace, `load` has
    all requests instead, and `window` is the time span in which the drive counted.
    """

    load: Spec | traces.PageTrace
    load_name: str = field(compare=False)
    host: LoadSettings
    policy: Policy
    run: SimulationSettings
    notes: tuple[str, ...] = ()
    earlier: traces.PageTrace | None = None
    uncounted: traces.PageTrace | None = None
    window: CountingWindow | None = None
    warnings: tuple[str, ...] = ()

    @property
    def seed(self) -> int:
        """Seed of every random draw."""
        return self.run.seed

    @property
    def repeat(self) -> int:
        """Minimum number of times that a trace is replayed."""
        return 1 if self.host.repeat == "auto" else self.host.repeat

    @property
    def tag_names(self) -> tuple[str, ...] | None:
        """Names of the tags of the trace, for counters by tag, or None."""
        if isinstance(self.load, Spec) or self.load.are_tags_hints:
            return None
        return self.load.tag_names

    @property
    def counts_handles(self) -> bool:
        """Whether an untimed run counts by the placement handles of the block manager."""
        return self.tag_names is None and declared(self.policy.manager)["handles"] > 0

    @property
    def hint_names(self) -> tuple[str, ...]:
        """Names of the hints that the block manager places writes by; empty without such hints.

        The name of a number that the trace does not have is empty.
        """
        if isinstance(self.load, Spec) or not self.load.are_tags_hints:
            return ()
        uses_hints = declared(self.policy.manager)["required_hints"] == "handles"
        return self.load.tag_names or () if uses_hints else ()

    @property
    def tag_count(self) -> int | None:
        """Number of the tags of the trace, or None."""
        return None if self.tag_names is None else len(self.tag_names)

    def expected_writes(self, drive: Device) -> int:
        """Return the expected number of host page writes, as far as it is known in advance."""
        if self.run.writes is not None:
            return self.run.writes
        if isinstance(self.load, Spec):
            return FIRST_DRIVE_WRITES * drive.physical_pages
        return self.load.host_pages * self.repeat

    def used_pages(self, drive: Device) -> int:
        """Return the number of logical pages that the host uses."""
        return used_pages(self.load, self.host, drive)

    def without_requests(self) -> Plan:
        """Return the plan with empty traces, since traces take most of its memory."""
        return replace(
            self,
            load=self.load if isinstance(self.load, Spec) else self.load.without_requests(),
            earlier=self.earlier and self.earlier.without_requests(),
            uncounted=self.uncounted and self.uncounted.without_requests(),
        )


def policy_of(settings: PolicySettings) -> Policy:
    """Return the policy that settings describe."""
    return Policy.of(settings.manager, settings.victims, settings.wear_leveling)


def policies_of(settings: PolicySettings | PoliciesSettings) -> list[Policy]:
    """Return the policies that settings describe: one, or for a comparison one per row."""
    if isinstance(settings, PolicySettings):
        return [policy_of(settings)]
    pairs = settings.combinations().pairs
    return [Policy.of(manager, victims, settings.wear_leveling) for manager, victims in pairs]


def used_pages(load: Spec | traces.PageTrace, host: LoadSettings, drive: Device) -> int:
    """Return the number of logical pages that the host uses.

    For a trace, these are the pages of the smallest drive that fits its addresses.
    """
    if isinstance(load, Spec):
        return max(1, round(host.utilization * drive.logical_pages))
    return load.logical_pages


def stated_load(host: LoadSettings, load: Spec | traces.PageTrace) -> LoadSettings:
    """Return the host's settings with the workload named, even if it is the default.

    Results are then equal whether the default was named or not.
    """
    return replace(host, workload=load) if isinstance(load, Spec) else host


# Number of times that the whole flash must be programmed until the initial fill has no more effect.
# If one pass of a trace programs as much, the trace is not repeated.
MEMORY_TIMES = 64
# If the passes over a looped trace do not agree, the run ends at the first of two limits: a number
# of passes, and a number of host pages. The latter is this multiple of the physical pages, but at
# least `_MOST_PAGES`.
_MOST_DRIVE_WRITES = 200
_MOST_PAGES = 10_000_000
_MOST_PASSES = 200
# A block manager that stores a history of pages adapts slowly. If its run seems steady, a run that
# is longer by this factor checks that.
LOOK_AHEAD = 3


def is_as_needed(plan: Plan) -> bool:
    """Return whether a run may repeat its trace as often as its verdict needs.

    It may not if writes, warm-up or a number of repeats are given, if the drive is aged, or if the
    trace was recorded on a virtual drive that was used before. False for a synthetic workload.
    """
    return (
        not isinstance(plan.load, Spec)
        and plan.host.repeat == "auto"
        and plan.run.writes is None
        and plan.run.warmup == "auto"
        and plan.uncounted is None
        and not Precondition.of(plan.host.precondition).ages
    )


def most_passes(plan: Plan, drive: Device) -> int:
    """Return the maximum number of passes over the trace."""
    if not is_as_needed(plan):
        return plan.repeat
    assert not isinstance(plan.load, Spec)
    most_pages = max(_MOST_DRIVE_WRITES * drive.physical_pages, _MOST_PAGES)
    passes = min(most_pages // plan.load.host_pages, _MOST_PASSES)
    return passes if passes >= FEWEST_PASSES else 1


def loaded_passes(plan: Plan, drive: Device) -> int:
    """Return the number of passes to load into the engine, enough for a look-ahead run, too."""
    most = most_passes(plan, drive)
    return LOOK_AHEAD * most if is_as_needed(plan) and most > 1 else most
