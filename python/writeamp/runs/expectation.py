"""WA that theory predicts for a simulation, by a model of the run or else of uniform writes."""

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
# Two op whose ratio differs from 1 by less than this count as equal.
_SAME_OP = 1e-3


@dataclass(frozen=True)
class Expectation:
    """WA that a model predicts at `op`, which counts pages without data as spare space.

    `outside` has the assumptions of the model that the drive does not meet, or None. If
    `is_comparison`, the model does not describe the run and is only shown for comparison.
    """

    wa: float
    model: str
    op: float
    outside: str | None = None
    is_comparison: bool = False

    @property
    def describes_run(self) -> bool:
        """True if the model describes this run and the drive meets the model's assumptions."""
        return self.outside is None and not self.is_comparison

    def __str__(self) -> str:
        """Return WA and model in one line, with the assumptions that the drive does not meet."""
        mark = f"; OUTSIDE ITS ASSUMPTIONS: {self.outside}" if self.outside else ""
        return f"{self.wa:.4f} {self.model}{mark}"


def expectation(plan: Plan, device: Device, held_pages: int) -> Expectation:
    """Return the WA that theory predicts if `held_pages` of the drive's logical pages hold data.

    Space without data counts as spare space.
    """
    return _best(describing(plan, device, held_pages), model_inputs(device, held_pages))


def references(plan: Plan, device: Device, held_pages: int) -> list[Expectation]:
    """Return the predictions to show in a plot of the run; that of `expectation` comes first.

    For a uniform workload, all of `uniform_writes` are shown if `expectation` is one of them, or if
    it does not describe the run. Predictions outside the assumptions of their model are left out.
    """
    own = expectation(plan, device, held_pages)
    if is_plain(plan.load, "uniform"):
        expectations = uniform_writes(plan, device, held_pages)
        if own in expectations or not own.describes_run:
            return sorted(expectations, key=lambda expected: expected != own)
    return [] if own.outside else [own]


def uniform_writes(plan: Plan, device: Device, held_pages: int) -> list[Expectation]:
    """Return the predicted WA of uniform random writes, one for each reference victim policy.

    The drive holds `held_pages` pages of data, as in `expectation`. Predictions are left out if the
    drive does not meet the assumptions of the model.
    """
    drive = model_inputs(device, held_pages)
    comparisons = [run for run in described.all_described(plan) if run.describes.is_comparison]
    expectations = [_best([*models, *comparisons], drive) for models in described.references(plan)]
    return [expected for expected in expectations if expected.outside is None]


def held_in_words(device: Device, held_pages: int) -> str:
    """Return the effective op in words: pages without data count as spare space.

    >>> import writeamp as wa
    >>> held_in_words(wa.simulate(op=0.25, utilization=0.5, writes=1, warmup=0).device, 419_430)
    'effective op 1.5 (50.0% of the logical pages hold data)'
    """
    op = _op_of_data(device, held_pages)
    if abs(op / device.op - 1) < _SAME_OP:
        return f"op {device.op:.4g}"
    held_share = held_pages / device.logical_pages
    return f"effective op {op:.4g} ({held_share:.1%} of the logical pages hold data)"


def _op_of_data(device: Device, held_pages: int) -> float:
    # If TRIM has emptied the drive, one page counts as holding data, so that op stays finite.
    share = max(1, held_pages) / device.logical_pages
    return float(effective_op(device.op, share, share))


def model_inputs(device: Device, held_pages: int) -> ModelInputs:
    """Return a drive as model inputs, with pages that hold no data counted as spare space."""
    pages_per_block = device.geometry.pages_per_block
    return ModelInputs(
        op=_op_of_data(device, held_pages),
        pages_per_block=pages_per_block,
        logical_blocks=max(_LEAST_BLOCKS, held_pages / pages_per_block),
    )


def _best(candidates: Sequence[DescribedRun], drive: ModelInputs) -> Expectation:
    """Return the prediction of the first model with the fewest unmet assumptions."""
    candidates_found = []
    for candidate in candidates:
        try:
            inputs = candidate.inputs(drive)
            wa, warnings = candidate.model.wa(inputs), candidate.model.warnings(inputs)
        except WriteampError:  # the model cannot compute a WA for this drive
            continue
        outside, is_comparison = "; ".join(warnings) or None, candidate.describes.is_comparison
        expected = Expectation(wa, candidate.label, drive.op, outside, is_comparison)
        candidates_found.append((len(warnings), expected))
    return min(candidates_found, key=lambda counted: counted[0])[1]
