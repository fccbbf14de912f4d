"""Settings of comparisons that differ from those of one run: several loads and policies.

What is given once stands in them as it does for one run, so that such experiments mean, and are
written, as they always were.
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


@dataclass(frozen=True)
class _Specs:
    """Specs of one kind: several of them, or texts of one or of a list."""

    kind: EngineKind
    one: str
    several: str

    def check(self, name: str, value: Any) -> tuple[Spec, ...]:
        """Return the specs."""
        given = [value] if isinstance(value, str | Spec | type) else value
        if not isinstance(given, list | tuple):
            raise WriteampError(f"{name} is {shown(value)}; it must be a list of {self.several}")
        found = [spec for one in given for spec in self._in(one)]
        if not found:
            raise WriteampError(f"there is no {self.one} to compare; name at least one")
        return tuple(found)

    def _in(self, one: Any) -> list[Spec]:
        texts = split_specs(self.kind, one) if isinstance(one, str) else [one]
        return [Spec.of(self.kind, text) for text in texts]


@dataclass(frozen=True)
class _OneOrMany:
    """Domain of one spec or several, each of them once; one stands alone."""

    takes: ClassVar[str] = "Sequence[SpecLike] | SpecLike"

    specs: _Specs

    def check(self, name: str, value: Any) -> Spec | tuple[Spec, ...]:
        """Return the one spec, or all of them."""
        return _one_or_many(name, self.specs.check(name, value))


@dataclass(frozen=True)
class _EachOnce:
    """Domain of specs, each of them once, as many as there are."""

    takes: ClassVar[str] = "Sequence[SpecLike] | SpecLike"

    specs: _Specs

    def check(self, name: str, value: Any) -> tuple[Spec, ...]:
        """Return the specs."""
        found = self.specs.check(name, value)
        _refuse_twice(name, found)
        return found


@dataclass(frozen=True)
class LoadsSettings(LoadSettings):
    """Loads of a comparison: synthetic workloads, traces, or both; each load is one comparison.

    A field that two loads share (`utilization` of workloads, `repeat` of traces) holds for those
    that it is for.
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
        "replay a block trace, instead of a workload or beside those that are given; several by "
        "giving it several times",
        number="paths",
        panel="trace",
        takes="Sequence[TraceLike] | TraceLike",
    )

    def __post_init__(self) -> None:
        """Check every field, and each load by itself."""
        Settings.__post_init__(self)
        given: Any = self.trace
        # A list of numbers is a trace in memory: the pages that are written.
        if isinstance(given, list | tuple) and not any(isinstance(one, Integral) for one in given):
            if not given:
                raise WriteampError("trace is an empty list; name at least one, or leave it out")
            object.__setattr__(self, "trace", tuple(given))
        elif isinstance(given, tuple):
            object.__setattr__(self, "trace", list(given))
        traces = [part.trace for part in self.alone() if part.trace is not None]
        if traces:
            object.__setattr__(self, "trace", _one_or_many("trace", traces))

    @property
    def workloads(self) -> tuple[Spec, ...]:
        """The workloads that are asked for, each a load of its own."""
        return _all_of(self.workload)

    @property
    def traces(self) -> tuple[str | HeldTrace, ...]:
        """The traces that it replays, each a load of its own."""
        traces: tuple[Any, ...] = _all_of(self.trace)
        return traces

    def alone(self) -> tuple[LoadSettings, ...]:
        """Return the settings of each load, workloads first."""
        workloads, traces = _all_of(self.workload), _all_of(self.trace)
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        if not workloads or not traces:
            alone = [{"workload": one} for one in workloads] + [{"trace": one} for one in traces]
            return tuple(LoadSettings(**(given | one)) for one in alone or [{}])
        of_workloads = given | {"trace": None} | self._defaults(self._of_traces_only())
        of_traces = given | {"workload": None} | self._defaults(("utilization",))
        return (
            *(LoadSettings(**(of_workloads | {"workload": one})) for one in workloads),
            *(LoadSettings(**(of_traces | {"trace": one})) for one in traces),
        )

    def _of_traces_only(self) -> tuple[str, ...]:
        if Precondition.of(self.precondition).trace is not None:
            # The others say how to read and map the trace that ages the drive.
            return ("repeat",)
        return self.OF_TRACES

    def _defaults(self, names: Sequence[str]) -> dict[str, Any]:
        return {one.name: one.default for one in fields(self) if one.name in names}


@dataclass(frozen=True)
class PoliciesSettings(Settings):
    """Policies of the drives that are compared: managers, victims and a wear leveller."""

    title: ClassVar[str] = "policy"

    managers: tuple[Spec, ...] | None = setting(
        None,
        _EachOnce(_Specs("managers", "manager", "block managers")),
        "block managers, separated by commas or given several times, such as single,hcwf:d=5,sepgc",
        required=True,
        number="texts",
        metavar="SPEC,SPEC,…",
    )
    victims: Spec | tuple[Spec, ...] | None = setting(
        None,
        _OneOrMany(_Specs("victims", "victim policy", "victim policies")),
        "victim policies, separated by commas or given several times, each for every manager "
        "(default: each manager's)",
        kind="victims",
        number="texts",
        metavar="SPEC,SPEC,…",
    )
    wear_leveling: SpecLike | None = setting(
        None, SpecOf("wear_levelers"), "wear leveller (default none)", kind="wear_levelers"
    )

    def __post_init__(self) -> None:
        """Check every field, and that every victim policy goes with some manager."""
        super().__post_init__()
        named = (*(self.managers or ()), *_all_of(self.victims))
        if all(one.checked is not None for one in named):
            self.combinations()

    def combinations(self) -> Combinations:
        """Return which managers are compared with which victim policies."""
        assert self.managers is not None
        return combined(self.managers, _all_of(self.victims))


def _all_of(value: _T | tuple[_T, ...] | None) -> tuple[_T, ...]:
    if value is None:
        return ()
    return value if isinstance(value, tuple) else (value,)


def _one_or_many(name: str, found: Sequence[_T]) -> _T | tuple[_T, ...]:
    """Return one, or all of them, each once."""
    _refuse_twice(name, found)
    return found[0] if len(found) == 1 else tuple(found)


def _refuse_twice(name: str, found: Sequence[object]) -> None:
    """Refuse a spec that is given twice, however it is spelled: nothing would tell them apart."""
    for at, one in enumerate(found):
        # Two traces in memory may well be equal, which only their digests could tell.
        if not isinstance(one, HeldTrace) and one in found[:at]:
            earlier = str(found[found.index(one)])
            again = "" if earlier == str(one) else f" ({earlier!r} means the same)"
            raise WriteampError(f"{name} has {str(one)!r} twice{again}; give each once")


@dataclass(frozen=True)
class Combinations:
    """Pairs of a manager and the victim policy asked for, None for its own; notes on others.

    `with_victims` says that managers alone do not tell the pairs apart.
    """

    pairs: tuple[tuple[Spec, Spec | None], ...]
    notes: tuple[str, ...] = ()
    with_victims: bool = False


def combined(managers: Sequence[Spec], victims: Sequence[Spec]) -> Combinations:
    """Return every manager with every victim policy that it takes.

    One that takes none of several has its own; a single policy is for all of them, and a manager
    that does not take it says so when it is built.

    Raises:
        WriteampError: a victim policy of several that no manager takes.
    """
    if len(victims) < 2:
        asked = victims[0] if victims else None
        return Combinations(tuple((manager, asked) for manager in managers))
    pairs: list[tuple[Spec, Spec | None]] = []
    notes: list[str] = []
    refusals: dict[Spec, str] = {}
    for manager in managers:
        reasons = {one: reason for one in victims if (reason := _refusal(manager, one))}
        taken = [one for one in victims if one not in reasons]
        pairs += [(manager, one) for one in taken] or [(manager, None)]
        refusals = reasons | refusals
        if reasons:
            notes.append(_note(manager, taken, next(iter(reasons.values()))))
    for one in victims:
        if not any(one == taken for _, taken in pairs):
            raise WriteampError(f"no manager takes victims by {one}: {refusals[one]}")
    return Combinations(tuple(pairs), tuple(notes), with_victims=True)


def _refusal(manager: Spec, victims: Spec) -> str:
    """Return why a manager does not take such victims, whatever the drive; "" if it does."""
    layouts = declared(str(manager))["layouts"]
    try:
        declared(str(manager), victims=str(victims), layout=layouts[0])
    except WriteampError as error:
        return str(error)
    return ""


def _note(manager: Spec, taken: Sequence[Spec], reason: str) -> str:
    what = f"{', '.join(map(str, taken))} only" if taken else "its own victim policy only"
    return f"{manager} is compared with {what}: {reason}"
