"""Analytic models that hold for a run.

Each model declares for which workload and policies it holds. These declarations are compared with
the run's load and policies.
"""

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
    """Model with one of its declarations, and the plan of a run with which it is compared."""

    model: AnalyticModel
    describes: Describes
    plan: Plan

    @property
    def label(self) -> str:
        """Name of the model in `simulate` and `compare`."""
        return self._in_words(self.describes.label)

    @property
    def way(self) -> str:
        """Name of the model in the rows of `writeamp answer`."""
        return f"{self.describes.kind} {self._in_words(self.describes.row)}"

    @property
    def is_of_load(self) -> bool:
        """True if the model is for one block manager and its load, not only for uniform writes."""
        return self.describes.manager is not None

    @property
    def victims(self) -> str:
        """Spec of the victim policy that the model describes, with the parameters of the run."""
        own = self.plan.policy.victims
        return own if _victims(self.plan).name == self.describes.victims else self.describes.victims

    def inputs(self, drive: ModelInputs) -> ModelInputs:
        """Return the model's inputs: the drive's, with arguments taken from the run's specs.

        Raises:
            WriteampError: an argument is outside its domain.
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
    """Return a number unchanged, and for text such as "victims.d" the value of this parameter."""
    if not isinstance(value, str):
        return value
    kind, _, name = value.partition(".")
    spec = specs[kind]
    assert isinstance(spec, Spec)
    return float(spec.params[name])


def all_described(plan: Plan) -> list[DescribedRun]:
    """Return every declaration of every model; those that are only for comparison come last."""
    runs = [
        DescribedRun(model, describes, plan)
        for model in (*MODELS.values(), *HOT_COLD_MODELS)
        for describes in model.describes
    ]
    return sorted(runs, key=lambda run: run.describes.is_comparison)


def describing(plan: Plan, device: Device, held_pages: int) -> list[DescribedRun]:
    """Return the models that hold for a run, then the models that are shown only for comparison.

    Args:
        plan: plan of the run.
        device: drive of the run.
        held_pages: number of logical pages that hold data.
    """
    is_plain = (
        held_pages == device.logical_pages
        and device.layout == "flat"
        and plan.policy.wear_leveling is None
    )
    return [
        run
        for run in all_described(plan)
        if run.describes.is_comparison
        or (_is_of(run.describes, plan) and (is_plain or not run.is_of_load))
    ]


def references(plan: Plan) -> list[list[DescribedRun]]:
    """Return the reference models of uniform writes, as one list for each victim policy."""
    by_victims: dict[str, list[DescribedRun]] = {}
    for run in all_described(plan):
        if run.describes.is_reference:
            by_victims.setdefault(run.describes.victims, []).append(run)
    return list(by_victims.values())


def nearest(plan: Plan, kind: str) -> list[DescribedRun]:
    """Return models of one kind for uniform writes: those of the run's victim policy, if any.

    If there are none, returns the models that declare themselves nearest to other policies.
    """
    runs_of_kind = [
        run for run in all_described(plan) if run.describes.kind == kind and not run.is_of_load
    ]
    same_victims = [run for run in runs_of_kind if run.describes.victims == _victims(plan).name]
    return same_victims or [run for run in runs_of_kind if run.describes.is_nearest]


def is_plain(load: object, name: str) -> bool:
    """Return whether a load is the named workload, without TRIM requests."""
    return isinstance(load, Spec) and load.name == name and "trim" not in load.params


def _is_of(describes: Describes, plan: Plan) -> bool:
    """Return whether a declaration matches the load and the policies of a plan."""
    if not is_plain(plan.load, describes.load) or _victims(plan).name != describes.victims:
        return False
    if describes.manager is None:
        return bool(declared(plan.policy.manager)["required_hints"] != "invalidation_times")
    manager = _manager(plan)
    is_detected = manager.params.get("detector") == describes.detector
    return manager.name == describes.manager and is_detected


def _manager(plan: Plan) -> Spec:
    return Spec.of("managers", plan.policy.manager)


def _victims(plan: Plan) -> Spec:
    return Spec.of("victims", plan.policy.victims)
