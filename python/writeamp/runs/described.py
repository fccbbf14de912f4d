"""Models that describe a run: declarations matched to its load and policies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from writeamp.devices.device import Device
from writeamp.meanfield.described import HOT_COLD_MODELS
from writeamp.models._describes import Describes
from writeamp.models._model import AnalyticModel, ModelInputs
from writeamp.models._registry import MODELS
from writeamp.registry.declarations import declared
from writeamp.registry.specs import Spec
from writeamp.runs.plan import Plan


@dataclass(frozen=True)
class DescribedRun:
    """A model, one of its declarations, and the plan of the run that it is shown for."""

    model: AnalyticModel
    describes: Describes
    plan: Plan

    @property
    def label(self) -> str:
        """Name of the model in `simulate` and `compare`."""
        return self._in_words(self.describes.label)

    @property
    def way(self) -> str:
        """Name of the row of `answer`."""
        return f"{self.describes.kind} {self._in_words(self.describes.row)}"

    @property
    def is_of_load(self) -> bool:
        """True if the model is of this very load, not of uniform random writes."""
        return self.describes.manager is not None

    @property
    def victims(self) -> str:
        """Spec of the victim policy that the model describes, that of the run if it is the same."""
        own = self.plan.policy.victims
        return own if _victims(self.plan).name == self.describes.victims else self.describes.victims

    def inputs(self, drive: ModelInputs) -> ModelInputs:
        """Return the drive with the arguments that the declaration takes from the specs.

        Raises:
            WriteampError: an argument outside its domain.
        """
        specs = {
            "load": self.plan.load,
            "manager": _manager(self.plan),
            "victims": _victims(self.plan),
        }
        arguments = {
            name: _number(value, specs) for name, value in self.describes.arguments.items()
        }
        return replace(drive, **arguments)

    def _in_words(self, text: str) -> str:
        policy = self.plan.policy
        return text.format(victims=policy.victims, manager=policy.manager)


def _number(value: float | str, specs: Mapping[str, object]) -> float:
    """Return a number, or the parameter that "victims.d" and the like refer to."""
    if not isinstance(value, str):
        return value
    kind, _, name = value.partition(".")
    spec = specs[kind]
    assert isinstance(spec, Spec)
    return float(spec.params[name])


def all_described(plan: Plan) -> list[DescribedRun]:
    """Return every declaration of every model, those for comparison last."""
    found = [
        DescribedRun(model, describes, plan)
        for model in (*MODELS.values(), *HOT_COLD_MODELS)
        for describes in model.describes
    ]
    return sorted(found, key=lambda one: one.describes.is_comparison)


def describing(plan: Plan, device: Device, held_pages: int) -> list[DescribedRun]:
    """Return the models that describe a run, and after them those for comparison.

    Args:
        plan: of the run.
        device: its drive.
        held_pages: logical pages that hold data.
    """
    is_plain = (
        held_pages == device.logical_pages
        and device.layout == "flat"
        and plan.policy.wear_leveling is None
    )
    return [
        one
        for one in all_described(plan)
        if one.describes.is_comparison
        or (_is_of(one.describes, plan) and (is_plain or not one.is_of_load))
    ]


def references(plan: Plan) -> list[list[DescribedRun]]:
    """Return the references of uniform writes, those of one victim policy in a list."""
    found: dict[str, list[DescribedRun]] = {}
    for one in all_described(plan):
        if one.describes.is_reference:
            found.setdefault(one.describes.victims, []).append(one)
    return list(found.values())


def nearest(plan: Plan, kind: str) -> list[DescribedRun]:
    """Return the models of uniform writes, of one kind, that are nearest to a run's victims."""
    of_kind = [
        one for one in all_described(plan) if one.describes.kind == kind and not one.is_of_load
    ]
    own = [one for one in of_kind if one.describes.victims == _victims(plan).name]
    return own or [one for one in of_kind if one.describes.is_nearest]


def is_plain(load: object, name: str) -> bool:
    """Return whether a load is the workload of that name without TRIM."""
    return isinstance(load, Spec) and load.name == name and "trim" not in load.params


def _is_of(describes: Describes, plan: Plan) -> bool:
    """Return whether load and policies are those that a declaration names."""
    if not is_plain(plan.load, describes.load) or _victims(plan).name != describes.victims:
        return False
    if describes.manager is None:
        return bool(declared(plan.policy.manager)["hears"] != "invalidation_times")
    manager = _manager(plan)
    is_detected = manager.params.get("detector") == describes.detector
    return manager.name == describes.manager and is_detected


def _manager(plan: Plan) -> Spec:
    return Spec.of("managers", plan.policy.manager)


def _victims(plan: Plan) -> Spec:
    return Spec.of("victims", plan.policy.victims)
