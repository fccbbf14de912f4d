"""Theory's WA for a simulation: of this very run if it can, or else of uniform writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from writeamp.devices.device import Device
from writeamp.errors import WriteampError
from writeamp.models._effective_op import effective_op
from writeamp.models._model import ModelInputs
from writeamp.runs import described
from writeamp.runs.described import DescribedRun, describing, is_plain
from writeamp.runs.plan import Plan

_LEAST_BLOCKS = 2.0
# Ratios of two op this near 1 are of the same space.
_SAME_OP = 1e-3


@dataclass(frozen=True)
class Expectation:
    """WA that a model expects at `op`, which is that of the pages that hold data.

    `outside` says why the run lies outside the model's domain, if it does. A model that
    `is_comparison` stands beside the run, and does not describe it.
    """

    wa: float
    model: str
    op: float
    outside: str | None = None
    is_comparison: bool = False

    @property
    def describes_run(self) -> bool:
        """True if the model is of this very run and its domain has the drive."""
        return self.outside is None and not self.is_comparison

    def __str__(self) -> str:
        """Return WA and op in a line, marked if the model is outside its domain."""
        mark = f"; OUTSIDE ITS DOMAIN: {self.outside}" if self.outside else ""
        return f"{self.wa:.4f} {self.model}{mark}"


def expectation(plan: Plan, device: Device, held_pages: int) -> Expectation:
    """Return the WA that theory expects if `held_pages` logical pages of the drive hold data.

    What holds no data is spare space, whatever it was meant for.
    """
    return _best(describing(plan, device, held_pages), model_inputs(device, held_pages))


def references(plan: Plan, device: Device, held_pages: int) -> list[Expectation]:
    """Return theory's WA for a picture of the run, that of `expectation` first.

    `uniform_writes` stand beside it where it is one of them, and for it where uniform writes have
    no model of their own. All are in the domain of their model.
    """
    own = expectation(plan, device, held_pages)
    if is_plain(plan.load, "uniform"):
        known = uniform_writes(plan, device, held_pages)
        if own in known or not own.describes_run:
            return sorted(known, key=lambda one: one != own)
    return [] if own.outside else [own]


def uniform_writes(plan: Plan, device: Device, held_pages: int) -> list[Expectation]:
    """Return theory's WA of uniform writes, under each policy that is a reference.

    Of a drive as full as in `expectation`, and only of models whose domain has it.
    """
    drive = model_inputs(device, held_pages)
    comparisons = [one for one in described.all_described(plan) if one.describes.is_comparison]
    found = [_best([*models, *comparisons], drive) for models in described.references(plan)]
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


def _best(candidates: Sequence[DescribedRun], drive: ModelInputs) -> Expectation:
    """Return the answer of the first model whose domain has the drive, or of the nearest."""
    found = []
    for one in candidates:
        try:
            inputs = one.inputs(drive)
            wa, warnings = one.model.wa(inputs), one.model.warnings(inputs)
        except WriteampError:  # a drive that it cannot compute
            continue
        outside, is_comparison = "; ".join(warnings) or None, one.describes.is_comparison
        expected = Expectation(wa, one.label, drive.op, outside, is_comparison)
        found.append((len(warnings), expected))
    return min(found, key=lambda each: each[0])[1]
