"""Mixture of the runs of all drives that a learnt profile may be, by their probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import brentq  # type: ignore[import-untyped]
from scipy.special import ndtr  # type: ignore[import-untyped]

from writeamp.devices.candidates import Candidate, Candidates
from writeamp.devices.device import device
from writeamp.errors import RefusedError
from writeamp.plots.spec import BarChart, Layer
from writeamp.plots.style import SERIES_COLORS, WA_LABEL
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.results.numbers import json_number
from writeamp.runners import gather_whole, local_runner
from writeamp.runs.one_run import Progress
from writeamp.runs.runner import drives_that_fit
from writeamp.runs.simulation_result import Result
from writeamp.settings.experiment import Experiment
from writeamp.settings.precondition import Precondition
from writeamp.settings.settings import SimulationSettings

if TYPE_CHECKING:
    import polars as pl

# A run of one candidate need not be known better than the candidates are.
_PRECISION = 0.004
# A larger drive is simulated by a smaller one, as any capacity is.
_MOST_PAGES = 2**22
_NORMAL_95 = 1.959964


@dataclass(frozen=True)
class CandidateRun:
    """One drive that the profile may be, and what the workload comes to on it."""

    candidate: Candidate
    wa: float
    half_width: float
    steady: bool

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON types."""
        return self.candidate.to_dict() | {"wa": json_number(self.wa), "steady": self.steady}


@dataclass(frozen=True, eq=False)
class Mixture(Drawn):
    """Write amplification of a drive that is known by its candidates only.

    `error` is the relative error of predictions beside that of the candidates.
    """

    profile: str
    load_name: str
    runs: tuple[CandidateRun, ...]
    error: float
    drive_notes: tuple[str, ...] = ()
    elapsed_s: float = field(default=0.0, compare=False)

    @property
    def wa(self) -> float:
        """Median of the mixture."""
        return self._quantile(0.5)

    @property
    def ci(self) -> tuple[float, float]:
        """The 95% interval of `wa`."""
        return self._quantile(0.025), self._quantile(0.975)

    @property
    def ci90(self) -> tuple[float, float]:
        """The 90% interval of `wa`."""
        return self._quantile(0.05), self._quantile(0.95)

    def _quantile(self, share: float) -> float:
        middle, width, weight = self._parts
        if middle.size == 0:
            return math.nan
        low, high = (middle - 8 * width).min(), (middle + 8 * width).max()
        return float(
            np.exp(brentq(lambda at: weight @ ndtr((at - middle) / width) - share, low, high))
        )

    @cached_property
    def _parts(self) -> tuple[Any, Any, Any]:
        """Return the logarithm of WA, its error, and the weight of each candidate."""
        known = [one for one in self.runs if one.wa > 0]
        weight = np.array([one.candidate.weight for one in known])
        of_runs = np.array([one.half_width / one.wa / _NORMAL_95 for one in known])
        return (
            np.log([one.wa for one in known]),
            np.hypot(np.nan_to_num(of_runs, nan=0.02), max(self.error, 1e-4)),
            weight / weight.sum(),
        )

    @property
    def warnings(self) -> list[str]:
        """Sentences that a reader of `wa` should know."""
        drifting = sum(one.candidate.weight for one in self.runs if not one.steady)
        if drifting < 0.05:
            return []
        return [f"not steady on candidates of {drifting:.0%} of the weight: this WA may not last"]

    @property
    def notes(self) -> list[str]:
        """Sentences on what was assumed."""
        return [
            f"{self.profile} was learnt from a drive: WA is that of its {len(self.runs)} most "
            "probable candidates",
            *self.drive_notes,
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the mixture as JSON types, with the keys of `writeamp simulate --json`."""
        return {
            "wa": self.wa,
            "wa_ci95": list(self.ci),
            "wa_ci90": list(self.ci90),
            "workload": self.load_name,
            "device": self.profile,
            "steady": not self.warnings,
            "error": self.error,
            "candidates": [one.to_dict() for one in self.runs],
            "warnings": self.warnings,
            "notes": self.notes,
        }

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each candidate."""
        import polars as pl  # noqa: PLC0415 (slow)

        return pl.DataFrame([one.to_dict() for one in self.runs])

    def figure(self) -> BarChart:
        """Describe WA of each candidate."""
        values = tuple(one.wa for one in self.runs)
        return BarChart(
            title=f"Write amplification of {self.profile}: {self.load_name}",
            subtitle=str(self),
            x_label=WA_LABEL,
            bars=tuple(
                f"{one.candidate.manager}, {one.candidate.victims}, op {one.candidate.op:.4f}, "
                f"{one.candidate.erase_unit_pages} pages"
                for one in self.runs
            ),
            layers=(Layer(WA_LABEL, SERIES_COLORS[0], values),),
            low=(math.nan,) * len(values),
            high=(math.nan,) * len(values),
            texts=tuple(f"{one.wa:.3f} ({one.candidate.weight:.0%})" for one in self.runs),
        )

    def card(self) -> Card:
        """Return the main facts in words."""
        rows = [
            ("write amplification", f"{self.wa:.4f}"),
            ("90% interval", "{:.4f} to {:.4f}".format(*self.ci90)),
            ("95% interval", "{:.4f} to {:.4f}".format(*self.ci)),
            ("workload", self.load_name),
            ("learnt drive", self.profile),
            *(
                (
                    f"{one.candidate.manager}, {one.candidate.victims}",
                    f"weight {one.candidate.weight:.1%}, op {one.candidate.op:.4f}, erase unit "
                    f"{one.candidate.erase_unit_pages} pages: WA {one.wa:.4f}",
                )
                for one in self.runs
            ),
        ]
        return Card("Prediction", rows, warnings=self.warnings, notes=self.notes)

    def __str__(self) -> str:
        """Return the result in a line."""
        low, high = self.ci90
        return f"WA {self.wa:.4f} (90%: {low:.4f} to {high:.4f}) of {self.load_name}"

    def __repr__(self) -> str:
        """Return the line in brackets."""
        return f"<Mixture: {self}>"


def run_mixture(
    experiment: Experiment,
    simulate: Any,
    progress: Progress | None = None,
) -> Mixture:
    """Run the candidates of an experiment that carry its weight, and mix what they come to.

    Args:
        experiment: what to do, on a drive that is known by candidates.
        simulate: runs an experiment on one drive.
        progress: called with the candidates that are done, and how many there are.
    """
    candidates = experiment.candidates
    assert candidates is not None
    carrying = candidates.carrying
    jobs = [_alone(experiment, candidates, one) for one in carrying]
    runner = local_runner(len(jobs), most=_most_at_once(jobs[0]))
    found: dict[int, Result | RefusedError] = {}
    if progress is None:
        found = dict(enumerate(gather_whole(runner, partial(_run, simulate), jobs)))
    else:
        for at, result in runner.results(partial(_run, simulate), jobs):
            found[at] = result
            progress(len(found), len(jobs))
    runs, names, elapsed_s = [], [], 0.0
    for at, one in enumerate(carrying):
        result = found[at]
        if isinstance(result, RefusedError):
            continue
        half_width = (result.ci[1] - result.ci[0]) / 2
        runs.append(CandidateRun(one, result.wa, half_width, result.steady))
        names.append(result.plan.load_name)
        elapsed_s += result.elapsed_s
    if not runs:
        refusal = found[0]
        assert isinstance(refusal, RefusedError)
        raise refusal
    left_out = len(carrying) - len(runs)
    return Mixture(
        profile=str(experiment.device.profile),
        load_name=names[0],
        runs=tuple(runs),
        error=candidates.error,
        drive_notes=(f"{left_out} candidates cannot be drives of this size",) if left_out else (),
        elapsed_s=elapsed_s,
    )


def _alone(experiment: Experiment, candidates: Candidates, one: Candidate) -> Experiment:
    """Return the experiment on one candidate alone."""
    sized = experiment.device
    blocks = None
    if sized.size is sized.capacity is sized.logical_blocks is sized.logical_pages is None:
        blocks = candidates.blocks_of(one)
    settings: dict[str, Any] = {
        "op": one.op,
        "pages_per_block": one.erase_unit_pages,
        "manager": one.manager,
        "victims": one.victims or None,
    }
    if blocks is not None and candidates.logical_pages > _MOST_PAGES and _scales(experiment):
        page_bytes = device(experiment.device.profile or "generic").page_bytes
        settings["capacity"] = candidates.logical_pages * page_bytes
    elif blocks is not None:
        settings["blocks"] = blocks
    run = experiment.run
    assert isinstance(run, SimulationSettings)
    if run.writes is None:
        settings["precision"] = max(run.precision, _PRECISION)
    settings["replicas"] = 1
    return replace(replace(experiment, candidates=None).with_settings(**settings), candidates=None)


def _scales(experiment: Experiment) -> bool:
    """Return whether a smaller drive may stand for the one that is meant."""
    load = experiment.load
    has_trace = load.trace is not None or Precondition.of(load.precondition).trace is not None
    return not has_trace and not experiment.is_timed and not experiment.device.changes_times


def _run(simulate: Any, experiment: Experiment) -> Result | RefusedError:
    """Return the run of one candidate, or why there can be no such drive of this size."""
    try:
        found: Result = simulate(experiment)
    except RefusedError as refusal:
        return refusal
    return found


def _most_at_once(experiment: Experiment) -> int:
    from writeamp.runs.inputs import prepare  # noqa: PLC0415

    return drives_that_fit(prepare(experiment).drive)
