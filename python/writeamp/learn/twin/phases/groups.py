"""Groups of phases: a known state of the drive, and the phases that follow it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from writeamp.learn.twin.phases.counted import CountedPhase, CountedWindow

# A phase whose span differs by more than this share from that of its fill, or is larger than the
# drive by more than this share, has another state than the simulated one.
_OF_SPAN = 0.01

# Function that returns the windows of a phase in which WA is compared.
WindowsOf = Callable[[CountedPhase], Iterable[CountedWindow | None]]


@dataclass(frozen=True)
class ServedPhase:
    """A phase with a known load, and its windows in which WA is compared."""

    phase: CountedPhase
    windows: tuple[CountedWindow, ...]


@dataclass(frozen=True)
class PhaseGroup:
    """A fill or a sanitized drive, and the phases after it up to the next fill.

    Each phase with zones is a group of its own, on a full drive: SSD-iq's script fills the drive
    before each, without readings.

    Attributes:
        span: written part of the drive, as a share of its size; all else is trimmed.
        fill: the fill among the phases; None without one.
        filled_by: workload that filled the span before the phases; None for a sanitized drive.
        members: the phases in order.
    """

    span: float
    fill: CountedPhase | None
    filled_by: str | None
    members: tuple[ServedPhase, ...]

    @property
    def has_zones(self) -> bool:
        """True if the host writes in order inside zones."""
        return any(member.phase.load.zones is not None for member in self.members)

    @property
    def windows(self) -> int:
        """Number of windows of all phases."""
        return sum(len(member.windows) for member in self.members)


@dataclass
class Grouped:
    """Groups of phases with windows to compare, and the reason of each phase that is in none.

    `reasons` is by name of the phase; fills have none.
    """

    groups: tuple[PhaseGroup, ...] = ()
    reasons: dict[str, str] = field(default_factory=dict)


def grouped(
    phases: Iterable[CountedPhase],
    capacity_bytes: float,
    windows_of: WindowsOf,
    fault_of: Callable[[PhaseGroup], str | None],
) -> Grouped:
    """Divide the phases of a drive into groups.

    Phases after one without a model, or after one that the table lacks, are left out up to the next
    fill, because the state of the drive is unknown.

    Args:
        phases: phases of the drive, in the order of each run.
        capacity_bytes: size of the drive.
        windows_of: returns the windows of a phase in which WA is compared.
        fault_of: returns why a group cannot be simulated, or None.
    """
    divided = Grouped()
    groups: list[_Open] = []
    previous: CountedPhase | None = None
    for phase in phases:
        follows = previous is not None and phase.follows(previous)
        group = _group_of(phase, groups[-1] if groups and follows else None)
        previous = phase
        if not groups or group is not groups[-1]:
            groups.append(group)
        if phase.load.is_fill:
            continue
        windows = tuple(window for window in windows_of(phase) if window is not None)
        more = group.closed(capacity_bytes, ServedPhase(phase, windows))
        reason = group.reason or _reason(phase, group, capacity_bytes) or fault_of(more)
        if reason is None:
            group.members.append(ServedPhase(phase, windows))
        else:
            divided.reasons[phase.name] = reason
        if reason is not None or phase.load.zones is not None:
            group.reason = "the state that the phase before it left is unknown"
    closed = (group.closed(capacity_bytes) for group in groups)
    divided.groups = tuple(group for group in closed if group.windows)
    return divided


def _group_of(phase: CountedPhase, last: _Open | None) -> _Open:
    """Return the group of a phase; `last` is that of the phase before it in the run, if any."""
    if phase.load.is_fill:
        return _Open(phase, phase.load.workload, phase.span_bytes)
    if phase.load.zones is not None:
        fill = None if last is None or last.members or last.reason else last.fill
        filled_by = "sequential" if fill is None else fill.load.workload
        return _Open(fill, filled_by, phase.span_bytes)
    if last is not None:
        return last
    group = _Open(None, None, phase.span_bytes)
    if phase.number:
        group.reason = "the table lacks the phase before it, so the state is unknown"
    return group


@dataclass
class _Open:
    """A group while its phases are added; `reason` is why the next one cannot be."""

    fill: CountedPhase | None
    filled_by: str | None
    span_bytes: float
    members: list[ServedPhase] = field(default_factory=list)
    reason: str | None = None

    def closed(self, capacity_bytes: float, *more: ServedPhase) -> PhaseGroup:
        span = self.span_bytes / capacity_bytes
        return PhaseGroup(span, self.fill, self.filled_by, (*self.members, *more))


def _reason(phase: CountedPhase, group: _Open, capacity_bytes: float) -> str | None:
    """Return why a phase cannot follow the others of its group, or None."""
    if phase.load.reason is not None:
        return phase.load.reason
    if phase.span_bytes > (1 + _OF_SPAN) * capacity_bytes:
        return "its span is larger than the drive"
    if abs(phase.span_bytes / group.span_bytes - 1) > _OF_SPAN:
        return "its span differs from that of the phase before it"
    return None
