"""One row of a comparison: a block manager under a victim policy, on one load."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from writeamp.fields.old_names import with_old_names
from writeamp.registry.specs import Spec
from writeamp.results.any_result import AnyResult
from writeamp.results.handles import mean_rows
from writeamp.results.numbers import interval_name, json_number
from writeamp.runs.expectation import Expectation
from writeamp.runs.series import flash_pages
from writeamp.runs.simulation_result import ROUGH, Result
from writeamp.runs.substitute import Substitute
from writeamp.runs.words import wa_in_words
from writeamp.statistics.replicas import student_interval
from writeamp.statistics.steady import analyse


@dataclass(frozen=True, repr=False)
class Row(AnyResult):
    """Row of a comparison: one manager's replicas, which have different seeds.

    `with_victims` and `with_load` are true if other rows have the same manager with another victim
    policy or on another load. The row's name then includes them. `place` is the row's index in the
    requested order.
    """

    manager: str
    results: tuple[Result, ...]
    substitutes: tuple[Substitute, ...] = ()
    """Relations of `results` to the requested drive (scaling, candidates), in the order applied."""
    with_victims: bool = False
    with_load: bool = False
    place: int = 0

    @property
    def workload(self) -> str:
        """Load: a workload, or the name of a trace."""
        return self.results[0].plan.load_name

    @property
    def policy(self) -> str:
        """Name of the manager, with its victim policy if other rows have a different one."""
        return row_name(self.manager, self.victims if self.with_victims else None)

    @property
    def name(self) -> str:
        """Unique name of the row."""
        return row_name(self.policy, None, self.workload if self.with_load else None)

    @property
    def wa(self) -> float:
        """Mean write amplification of the replicas, or WA of the candidates' mixture."""
        mean = float(np.mean([result.wa for result in self.results]))
        for substitute in self.substitutes:
            mean = substitute.wa_of(mean)
        return mean

    @property
    def ci(self) -> tuple[float, float] | None:
        """The 95% confidence interval of `wa`; None for a learnt profile.

        Student's t interval over replicas. If all replicas are equal, it is the interval of one
        run. For a trace, it also covers the mean of the runs' intervals. It includes the scaling
        error of a smaller drive.
        """
        return self.error_bar if self.level is None else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Interval of `wa` over the candidates of a learnt profile; None for one drive."""
        return None if self.level is None else self.error_bar

    @property
    def level(self) -> float | None:
        """Probability that `interval` contains the WA, or None without an interval."""
        return next(
            (substitute.level for substitute in self.substitutes if substitute.level is not None),
            None,
        )

    @property
    def error_bar(self) -> tuple[float, float]:
        """Ends of the error bar in figures and tables: `ci` or `interval`."""
        interval = self._own_ci
        for substitute in self.substitutes:
            interval = substitute.widened(interval)
        return interval

    @property
    def interval_name(self) -> str:
        """Name of the error bar's interval, as text."""
        return interval_name(of_profile=self.level is not None)

    @property
    def wa_in_words(self) -> str:
        """Write amplification with its interval, if there is one, as text."""
        return wa_in_words(self.wa, self.error_bar, self.interval_name)

    @property
    def _own_ci(self) -> tuple[float, float]:
        values = np.array([result.wa for result in self.results])
        over_replicas = student_interval(values)
        # Replicas of a load without random draws are equal, so they do not show the noise of a
        # run.
        if np.all(values == values[0]):
            return self.results[0].ci
        if not self.is_of_trace:
            return self._bounded(*over_replicas)
        # All replicas replay the same trace in the same phases, so the spread of replicas alone is
        # too small; the interval also covers the intervals of the runs.
        low, high = np.mean([result.ci for result in self.results], axis=0)
        if math.isnan(low):
            return math.nan, math.nan
        return self._bounded(min(float(low), over_replicas[0]), max(float(high), over_replicas[1]))

    def _bounded(self, low: float, high: float) -> tuple[float, float]:
        """Return an interval bounded at 1; NaN if it reaches below 1 and the row is unsteady."""
        if low >= 1:
            return low, high
        return (1.0, high) if self.steady else (math.nan, math.nan)

    @property
    def is_of_trace(self) -> bool:
        """True if a trace was replayed, which has no random draws."""
        return not isinstance(self.results[0].plan.load, Spec)

    @property
    def rough_warning(self) -> str | None:
        """Warning that WA of a steady row is uncertain, or None."""
        low, high = self._own_ci
        share = (high - low) / 2 / self.wa
        if self.level is not None or not self.steady or not share > ROUGH:
            return None
        if not self.is_of_trace:
            options = "--writes or --replicas"
        elif self.results[0].plan.run.writes is None:
            options = "--repeat"
        else:
            options = "--writes"
        return f"WA is uncertain by ±{share:.2%}; increase {options}"

    @property
    def wa_bytes(self) -> float:
        """Flash bytes programmed per byte of the host's writes; NaN if unknown."""
        return self.wa * self.partial_page_factor

    @property
    def partial_page_factor(self) -> float:
        """Bytes of the pages that the host wrote, divided by the bytes requested, or NaN."""
        return float(np.mean([result.partial_page_factor for result in self.results]))

    @property
    def steady(self) -> bool:
        """True if the replicas together reached a steady state; `steady_reason` gives the reason.

        This holds if at least half of the replicas are steady. For a workload, it also holds if
        some are and the mean series of all replicas is steady. On a learnt profile, it fails if
        candidates with at least 5% of the probability are not steady.
        """
        return self._judged[0]

    @property
    def steady_reason(self) -> str:
        """Reason why the replicas together reached a steady state, or did not."""
        return self._judged[1]

    @cached_property
    def _judged(self) -> tuple[bool, str]:
        verdict = self._judged_by_runs()
        for substitute in self.substitutes:
            verdict = substitute.judged(*verdict)
        return verdict

    def _judged_by_runs(self) -> tuple[bool, str]:
        runs = len(self.results)
        unsteady = [result.steady_state for result in self.results if not result.steady]
        # If all runs are unsteady, the cause is the load, not the random draws of one run.
        if len(unsteady) == runs:
            return False, unsteady[0].reason
        if 2 * len(unsteady) <= runs:
            steady = next(result.steady_state for result in self.results if result.steady)
            counts = f"{runs - len(unsteady)} of {runs} runs are steady: " if runs > 1 else ""
            return True, f"{counts}{steady.reason}"
        # Each run of a trace is judged by whole passes. The mean over runs has no passes to judge
        # by, so the verdict of most runs counts.
        if self.is_of_trace:
            return False, f"{unsteady[0].reason}, in {len(unsteady)} of {runs} runs"
        warmup_pages = self.results[0].warmup_pages
        mean = analyse(*_mean_intervals(self.results), warmup=warmup_pages)
        return mean.steady, f"{mean.reason}, in the mean of {runs} runs"

    @property
    def victims(self) -> str:
        """Victim policy: the requested one, or the manager's own."""
        return self.results[0].plan.policy.victims

    @property
    def theory(self) -> Expectation | None:
        """WA predicted by a model of these runs, as in `simulate`, or None."""
        expected = self.results[0].theory
        return expected if expected.describes_run else None

    @property
    def hints(self) -> str | None:
        """Hints that the manager gets: "groups", "handles", "invalidation_times", or None."""
        return self.results[0].hints

    @property
    def causes(self) -> dict[str, float]:
        """Pages programmed in the measured interval by cause, mean of the replicas."""
        return {
            cause: float(np.mean([result.causes[cause] for result in self.results]))
            for cause in self.results[0].causes
        }

    @property
    def handles(self) -> list[dict[str, Any]] | None:
        """Counts by placement handle, as of `simulate`, mean of the replicas.

        None if the manager has no handles, and for a learnt profile, whose candidates differ in
        size.
        """
        of_runs = [result.handles for result in self.results]
        counted = [rows for rows in of_runs if rows is not None]
        if self.level is not None or len(counted) < len(of_runs):
            return None
        return mean_rows(counted)

    @property
    def pe_fairness(self) -> float:
        """Mean erases of a block divided by those of the most erased block, over the whole run."""
        counts = [result.erases_of_block for result in self.results]
        return float(np.mean([c.mean() / c.max() if c.max() else math.nan for c in counts]))

    @property
    def bytes_per_page(self) -> float:
        """Memory of the policies in bytes per logical page, without the usual mapping table."""
        first = self.results[0]
        return first.scheme_bytes / first.device.logical_pages

    @property
    def host_pages_per_s(self) -> float:
        """Host page writes simulated per second by one thread, median of the replicas."""
        return float(np.median([result.host_pages_per_s for result in self.results]))

    @property
    def label(self) -> str:
        """Policy with remarks, as the label of its bar in the figure."""
        hints = self.hints and f"hints: {self.hints.replace('_', ' ')}"
        notes = [note for note in (hints, "" if self.steady else "not steady") if note]
        return self.policy + (f" ({', '.join(notes)})" if notes else "")

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON types."""
        theory = self.theory
        row = {
            "workload": self.workload,
            "manager": self.manager,
            "victims": self.victims,
            "wa": self.wa,
            "wa_ci95": [json_number(bound) for bound in self.error_bar],
            "wa_of_replicas": [json_number(result.wa) for result in self.results],
            "wa_bytes": json_number(self.wa_bytes),
            **self.facts_of_wa,
            "theory_wa": theory and theory.wa,
            "theory_model": theory and theory.model,
            "hint": "deaths" if self.hints == "invalidation_times" else self.hints,
            "hints": self.hints,
            "steady": self.steady,
            "steady_reason": self.steady_reason,
            "causes": self.causes,
            **({} if self.handles is None else {"handles": self.handles}),
            "pe_fairness": json_number(self.pe_fairness),
            "bytes_per_page": self.bytes_per_page,
            "host_pages_per_s": self.host_pages_per_s,
            "reason": None,
            "working_op": None,
        }
        return with_old_names(row)

    @property
    def facts_of_wa(self) -> dict[str, Any]:
        """Facts on this WA from the scaling or the candidates, as JSON types."""
        return dict(
            fact for substitute in self.substitutes for fact in substitute.facts_of_wa().items()
        )

    @property
    def facts_of_drive(self) -> dict[str, Any]:
        """Facts on the drive of all rows from the scaling or the candidates, as JSON types."""
        return dict(
            fact for substitute in self.substitutes for fact in substitute.facts_of_drive().items()
        )


def row_name(manager: str, victims: str | None, load: str | None = None) -> str:
    """Return the name of a row, from the components that vary between rows.

    >>> row_name("single", "greedy", "zipf")
    'single with greedy on zipf'
    """
    with_victims = f" with {victims}" if victims else ""
    return f"{manager}{with_victims}{f' on {load}' if load else ''}"


def _mean_intervals(
    results: tuple[Result, ...],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return host pages, and flash pages (mean of the runs), in each sampling interval."""
    host = np.diff(results[0].samples["host_pages"]).astype(np.float64)
    flash = [np.diff(flash_pages(result.samples)) for result in results]
    return host, np.mean(flash, axis=0, dtype=np.float64)
