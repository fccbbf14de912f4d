"""Theory's WA for a simulation: of this very run if it can, or else of uniform writes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from writeamp.devices.device import Device
from writeamp.errors import WriteampError
from writeamp.meanfield.fixed_point import hot_cold, hot_cold_swap
from writeamp.models._effective_op import effective_op
from writeamp.models._model import ModelInputs
from writeamp.models._registry import find_model
from writeamp.registry.declarations import declared
from writeamp.registry.specs import Spec
from writeamp.runs.plan import Plan

_LEAST_BLOCKS = 2.0
# Ratios of two op this near 1 are of the same space.
_SAME_OP = 1e-3


@dataclass(frozen=True)
class Expectation:
    """WA that a model expects at `op`, which is that of the pages that hold data.

    `outside` says why the run lies outside the model's domain, if it does.
    """

    wa: float
    model: str
    op: float
    outside: str | None = None

    @property
    def describes_run(self) -> bool:
        """True if the model is of this very run and its domain has the drive.

        False of one that stands beside the run for comparison only.
        """
        return self.outside is None and self.model != _FOR_COMPARISON.label

    def __str__(self) -> str:
        """Return WA and op in a line, marked if the model is outside its domain."""
        mark = f"; OUTSIDE ITS DOMAIN: {self.outside}" if self.outside else ""
        return f"{self.wa:.4f} {self.model}{mark}"


@dataclass(frozen=True)
class _Candidate:
    model: str
    label: str
    d: float = 1


_FIFO = _Candidate("fifo", "Expected Value (FIFO, uniform writes)")
_RANDOM = _Candidate("d-choices", "= 1/spare_factor (random victims, uniform writes)")
_GREEDY = (
    _Candidate("markov", "Markov (greedy, uniform writes)"),
    _Candidate("d-choices", "mean field (greedy, uniform writes)", math.inf),
)
_FOR_COMPARISON = _Candidate(
    "expected-value", "Expected Value (for comparison: FIFO and uniform writes)"
)


def expectation(plan: Plan, device: Device, held_pages: int) -> Expectation:
    """Return the WA that theory expects if `held_pages` logical pages of the drive hold data.

    What holds no data is spare space, whatever it was meant for.
    """
    return mean_field(plan, device, held_pages) or _best(
        _candidates(plan), model_inputs(device, held_pages)
    )


def references(plan: Plan, device: Device, held_pages: int) -> list[Expectation]:
    """Return theory's WA for a picture of the run, that of `expectation` first.

    `uniform_writes` stand beside it where it is one of them, and for it where uniform writes have
    no model of their own. All are in the domain of their model.
    """
    own = expectation(plan, device, held_pages)
    if _is_plain(plan.load, "uniform"):
        known = uniform_writes(device, held_pages)
        if own in known or not own.describes_run:
            return sorted(known, key=lambda one: one != own)
    return [] if own.outside else [own]


def uniform_writes(device: Device, held_pages: int) -> list[Expectation]:
    """Return theory's WA of uniform writes, under FIFO and under greedy collection.

    These two it knows best. Of a drive as full as in `expectation`, and only of models whose
    domain has it.
    """
    drive = model_inputs(device, held_pages)
    found = [_best((_FIFO,), drive), _best(_GREEDY, drive)]
    return [one for one in found if one.outside is None]


def held_in_words(device: Device, held_pages: int) -> str:
    """Return the op of the pages that hold data, and why it is not the drive's if it is not.

    >>> import writeamp as wa
    >>> held_in_words(wa.simulate(op=0.25, utilization=0.5, writes=1, warmup=0).device, 419_430)
    'op 1.5, as 50.0% of the logical pages hold data'
    """
    op = _op_of_data(device, held_pages)
    if abs(op / device.op - 1) < _SAME_OP:
        return f"op {device.op:.4g}"
    share = held_pages / device.logical_pages
    return f"op {op:.4g}, as {share:.1%} of the logical pages hold data"


def _op_of_data(device: Device, held_pages: int) -> float:
    # Of a drive that TRIMs left empty, theory knows no more than of one that is all but empty.
    share = max(1, held_pages) / device.logical_pages
    return float(effective_op(device.op, share, share))


def model_inputs(device: Device, held_pages: int) -> ModelInputs:
    """Return a drive as models take it, at the op of the pages that hold data."""
    pages_per_block = device.geometry.pages_per_block
    return ModelInputs(
        op=_op_of_data(device, held_pages),
        pages_per_block=pages_per_block,
        logical_blocks=max(_LEAST_BLOCKS, held_pages / pages_per_block),
    )


def _candidates(plan: Plan) -> tuple[_Candidate, ...]:
    """Return the models that describe the run, the best known first."""
    victims = Spec.of("victims", plan.policy.victims)
    if not _is_plain(plan.load, "uniform") or _foresees(plan):
        return (_FOR_COMPARISON,)
    if victims.name == "d-choices":
        label = f"mean field ({plan.policy.victims}, uniform writes)"
        return (_Candidate("d-choices", label, float(victims.params["d"])),)
    known = {"greedy": _GREEDY, "random": (_RANDOM,), "fifo": (_FIFO,)}
    return known.get(victims.name, (_FOR_COMPARISON,))


def _best(candidates: tuple[_Candidate, ...], drive: ModelInputs) -> Expectation:
    """Return the answer of the first model whose domain has the drive, or of the nearest."""
    found = []
    for one in (*candidates, _FOR_COMPARISON):
        model, inputs = find_model(one.model), replace(drive, d=one.d)
        try:
            wa, warnings = model.wa(inputs), model.warnings(inputs)
        except WriteampError:  # a drive that it cannot compute
            continue
        found.append((len(warnings), wa, one.label, "; ".join(warnings) or None))
    _, wa, label, outside = min(found, key=lambda each: each[0])
    return Expectation(wa, label, drive.op, outside)


def mean_field(plan: Plan, device: Device, held_pages: int) -> Expectation | None:
    """Return the mean field's WA of HCWF under hot and cold data with the oracle."""
    policy = plan.policy
    manager, victims = Spec.of("managers", policy.manager), Spec.of("victims", policy.victims)
    hot = _hot_shares(plan.load)
    plain = held_pages == device.logical_pages and device.layout == "flat"
    if (
        manager.name not in ("hcwf", "hcwf-swap")
        or manager.params["detector"] != "oracle"
        or victims.name != "d-choices"
        or hot is None
        or not plain
        or policy.wear_leveling is not None
    ):
        return None
    drive: dict[str, Any] = {
        "pages_per_block": device.geometry.pages_per_block,
        "spare_factor": device.spare_factor,
        "d": int(victims.params["d"]),
        "hot_fraction": hot[0],
        "hot_write_fraction": hot[1],
    }
    try:
        if manager.name == "hcwf-swap":
            point = hot_cold_swap(**drive, d_swap=int(manager.params["d_swap"]))
        else:
            point = hot_cold(**drive)
    except WriteampError:  # parameters that it does not solve
        return None
    return Expectation(point.wa, f"mean field of {policy.manager} (many blocks)", device.op)


def _hot_shares(load: object) -> tuple[float, float] | None:
    """Return the hot share of the pages and of the writes under the workload `hot-cold`."""
    if not (isinstance(load, Spec) and _is_plain(load, "hot-cold")):
        return None
    return float(load.params["hot_fraction"]), float(load.params["hot_write_fraction"])


def _foresees(plan: Plan) -> bool:
    """Return whether the manager knows when pages are invalidated, which no theory covers."""
    return bool(declared(plan.policy.manager)["hears"] == "invalidation_times")


def _is_plain(load: object, name: str) -> bool:
    """Return whether it is the workload of that name without TRIMs, which no theory covers."""
    return isinstance(load, Spec) and load.name == name and "trim" not in load.params
