"""Settings of comparisons: several loads and several policies.

A single load or policy is stored without a list, as in a simulation, so that files and hashes from
before lists were possible stay valid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from writeamp.errors import WriteampError
from writeamp.fields.domains import shown
from writeamp.fields.setting import Settings, setting
from writeamp.registry.declarations import declared
from writeamp.registry.entries import EngineKind
from writeamp.registry.specs import Spec, SpecLike, SpecOf, split_specs
from writeamp.settings.precondition import Precondition
from writeamp.settings.settings import HeldTrace, LoadSettings

_T = TypeVar("_T")
_MANAGERS = (
    "block managers, separated by commas or given several times, such as single,hcwf:d=5,sepgc"
)


@dataclass(frozen=True)
class _Specs:
    """Domain of specs of one kind: a list of specs, or text with one or several specs."""

    kind: EngineKind
    singular: str
    plural: str

    def check(self, name: str, value: Any) -> tuple[Spec, ...]:
        """Return the specs."""
        items = [value] if isinstance(value, str | Spec | type) else value
        if not isinstance(items, list | tuple):
            raise WriteampError(f"{name} is {shown(value)}; it must be a list of {self.plural}")
        specs = [spec for item in items for spec in self._in(item)]
        if not specs:
            raise WriteampError(f"{name} is empty; give at least one {self.singular}")
        return tuple(specs)

    def _in(self, item: Any) -> list[Spec]:
        texts = split_specs(self.kind, item) if isinstance(item, str) else [item]
        return [Spec.of(self.kind, text) for text in texts]


@dataclass(frozen=True)
class _OneOrMany:
    """Domain of one or several distinct specs; a single spec is stored without a list."""

    takes: ClassVar[str] = "Sequence[SpecLike] | SpecLike"

    specs: _Specs

    def check(self, name: str, value: Any) -> Spec | tuple[Spec, ...]:
        """Return the spec, or a tuple of several."""
        return _one_or_many(name, self.specs.check(name, value))


@dataclass(frozen=True)
class _EachOnce:
    """Domain of distinct specs, always stored as a tuple."""

    takes: ClassVar[str] = "Sequence[SpecLike] | SpecLike"

    specs: _Specs

    def check(self, name: str, value: Any) -> tuple[Spec, ...]:
        """Return the specs."""
        specs = self.specs.check(name, value)
        _reject_duplicates(name, specs)
        return specs


@dataclass(frozen=True)
class LoadsSettings(LoadSettings):
    """Loads of a comparison: synthetic workloads, traces, or both; each is compared separately.

    `utilization` applies to all workloads, and `repeat` to all traces.
    """

    title: ClassVar[str] = "load"

    workload: Spec | tuple[Spec, ...] | None = setting(  # type: ignore[assignment]
        None,
        _OneOrMany(_Specs("workloads", "workload", "workloads")),
        "synthetic workloads, separated by commas or given several times (default uniform)",
        kind="workloads",
        number="texts",
        metavar="SPEC,SPEC,…",
    )
    trace: str | Path | HeldTrace | tuple[str | HeldTrace, ...] | None = setting(  # type: ignore[assignment]
        None,
        None,
        "replay a block trace, instead of or in addition to workloads; may be given several times",
        number="paths",
        panel="trace",
        takes="Sequence[TraceLike] | TraceLike",
    )

    def __post_init__(self) -> None:
        """Check every field, and the settings of each load."""
        Settings.__post_init__(self)
        trace: Any = self.trace
        # A list of numbers is one trace in memory: the numbers of the written pages.
        if isinstance(trace, list | tuple) and not any(
            isinstance(item, Integral) for item in trace
        ):
            if not trace:
                raise WriteampError(
                    "trace is an empty list; give at least one trace, or leave it out"
                )
            object.__setattr__(self, "trace", tuple(trace))
        elif isinstance(trace, tuple):
            object.__setattr__(self, "trace", list(trace))
        traces = [load.trace for load in self.alone() if load.trace is not None]
        if traces:
            object.__setattr__(self, "trace", _one_or_many("trace", traces))

    @property
    def workloads(self) -> tuple[Spec, ...]:
        """All workloads; each is run as a separate load."""
        return _all_of(self.workload)

    @property
    def traces(self) -> tuple[str | HeldTrace, ...]:
        """All traces; each is run as a separate load."""
        traces: tuple[Any, ...] = _all_of(self.trace)
        return traces

    def alone(self) -> tuple[LoadSettings, ...]:
        """Return separate settings for each load, workloads first."""
        workloads, traces = _all_of(self.workload), _all_of(self.trace)
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        if not workloads or not traces:
            alone = [{"workload": load} for load in workloads] + [
                {"trace": load} for load in traces
            ]
            return tuple(LoadSettings(**(values | load)) for load in alone or [{}])
        of_workloads = values | {"trace": None} | self._defaults(self._of_traces_only())
        of_traces = values | {"workload": None} | self._defaults(("utilization",))
        return (
            *(LoadSettings(**(of_workloads | {"workload": spec})) for spec in workloads),
            *(LoadSettings(**(of_traces | {"trace": trace})) for trace in traces),
        )

    def _of_traces_only(self) -> tuple[str, ...]:
        if Precondition.of(self.precondition).trace is not None:
            # The other settings of traces apply to the trace that ages the drive, so only `repeat`
            # is reset.
            return ("repeat",)
        return self.OF_TRACES

    def _defaults(self, names: Sequence[str]) -> dict[str, Any]:
        return {field.name: field.default for field in fields(self) if field.name in names}


@dataclass(frozen=True)
class PoliciesSettings(Settings):
    """Policies of a comparison: block managers, victim policies and a wear leveller."""

    title: ClassVar[str] = "policy"

    managers: tuple[Spec, ...] | None = setting(
        None,
        _EachOnce(_Specs("managers", "manager", "block managers")),
        _MANAGERS,
        required=True,
        number="texts",
        metavar="SPEC,SPEC,…",
    )
    victims: Spec | tuple[Spec, ...] | None = setting(
        None,
        _OneOrMany(_Specs("victims", "victim policy", "victim policies")),
        "victim policies, separated by commas or given several times, each for every manager "
        "(default: the default of each manager)",
        kind="victims",
        number="texts",
        metavar="SPEC,SPEC,…",
    )
    wear_leveling: SpecLike | None = setting(
        None, SpecOf("wear_levelers"), "wear leveller (default none)", kind="wear_levelers"
    )

    def __post_init__(self) -> None:
        """Check every field, and that some manager accepts each victim policy."""
        super().__post_init__()
        named = (*(self.managers or ()), *_all_of(self.victims))
        if all(spec.checked is not None for spec in named):
            self.combinations()

    def combinations(self) -> Combinations:
        """Return the pairs of a manager and a victim policy to compare."""
        assert self.managers is not None
        return combined(self.managers, _all_of(self.victims))


@dataclass(frozen=True)
class ShownPoliciesSettings(PoliciesSettings):
    """Policies of drives that are shown side by side: a pair that differs, unless given."""

    managers: tuple[Spec, ...] = setting(
        "single,sepbit",
        _EachOnce(_Specs("managers", "manager", "block managers")),
        _MANAGERS,
        number="texts",
        metavar="SPEC,SPEC,…",
    )


def _all_of(value: _T | tuple[_T, ...] | None) -> tuple[_T, ...]:
    if value is None:
        return ()
    return value if isinstance(value, tuple) else (value,)


def _one_or_many(name: str, items: Sequence[_T]) -> _T | tuple[_T, ...]:
    """Return a single item as it is, or several distinct items as a tuple."""
    _reject_duplicates(name, items)
    return items[0] if len(items) == 1 else tuple(items)


def _reject_duplicates(name: str, items: Sequence[object]) -> None:
    """Reject a spec that is given twice, in any spelling."""
    for at, item in enumerate(items):
        # Traces in memory are not checked, because computing their digests takes long.
        if not isinstance(item, HeldTrace) and item in items[:at]:
            earlier = str(items[items.index(item)])
            again = "" if earlier == str(item) else f" ({earlier!r} means the same)"
            raise WriteampError(f"{name} has {str(item)!r} twice{again}; give each once")


@dataclass(frozen=True)
class Combinations:
    """Pairs of a manager and a victim policy, and notes on combinations that are left out.

    If the victim policy of a pair is None, the manager's default is used. `with_victims` is True if
    several victim policies are given; names of rows then include the victim policy.
    """

    pairs: tuple[tuple[Spec, Spec | None], ...]
    notes: tuple[str, ...] = ()
    with_victims: bool = False


def combined(managers: Sequence[Spec], victims: Sequence[Spec]) -> Combinations:
    """Return every manager with every victim policy that it accepts.

    If several victim policies are given and a manager rejects all of them, it uses its default. A
    single victim policy applies to all managers; a manager that does not accept it raises an error
    when it is built.

    Raises:
        WriteampError: no manager accepts one of several victim policies.
    """
    if len(victims) < 2:
        policy = victims[0] if victims else None
        return Combinations(tuple((manager, policy) for manager in managers))
    pairs: list[tuple[Spec, Spec | None]] = []
    notes: list[str] = []
    refusals: dict[Spec, str] = {}
    for manager in managers:
        reasons = {spec: reason for spec in victims if (reason := _refusal(manager, spec))}
        taken = [spec for spec in victims if spec not in reasons]
        pairs += [(manager, spec) for spec in taken] or [(manager, None)]
        refusals = reasons | refusals
        if reasons:
            notes.append(_note(manager, taken, next(iter(reasons.values()))))
    for spec in victims:
        if not any(spec == taken for _, taken in pairs):
            raise WriteampError(f"no manager accepts the victim policy {spec}: {refusals[spec]}")
    return Combinations(tuple(pairs), tuple(notes), with_victims=True)


def _refusal(manager: Spec, victims: Spec) -> str:
    """Return why a manager rejects a victim policy on every drive, or "" if it accepts it."""
    layouts = declared(str(manager))["layouts"]
    try:
        declared(str(manager), victims=str(victims), layout=layouts[0])
    except WriteampError as error:
        return str(error)
    return ""


def _note(manager: Spec, taken: Sequence[Spec], reason: str) -> str:
    policies = ", ".join(map(str, taken)) if taken else "its default victim policy"
    return f"{manager} is run with {policies} only: {reason}"
