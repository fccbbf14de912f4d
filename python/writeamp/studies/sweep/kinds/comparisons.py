"""Sweep points that are rows of comparisons: one run of one manager, victim policy and load."""

from __future__ import annotations

from typing import Any

from writeamp.errors import WriteampError
from writeamp.results.numbers import json_number
from writeamp.settings.compared import LoadsSettings, PoliciesSettings
from writeamp.settings.experiment import Experiment
from writeamp.settings.settings import ComparisonSettings
from writeamp.studies.compare.comparison import run_comparison
from writeamp.studies.sweep.kinds.kind import PointResult, scalars_of

VERB = "compare"


def check_one_row(experiment: Experiment) -> None:
    """Reject a comparison of several rows or runs, since a sweep point is a single run.

    Raises:
        WriteampError: there are several rows or runs; the message states which setting to make an
            axis.
    """
    policy, load, run = experiment.policy, experiment.load, experiment.run
    assert isinstance(policy, PoliciesSettings)
    assert isinstance(load, LoadsSettings)
    assert isinstance(run, ComparisonSettings)
    rows = len(policy.combinations().pairs) * len(load.alone())
    of_settings = {
        "managers": policy.managers,
        "victims": policy.victims,
        "workload": load.workload,
        "trace": load.trace,
    }
    listed = [
        name for name, value in of_settings.items() if isinstance(value, tuple) and len(value) > 1
    ]
    if listed:
        raise WriteampError(
            f"these are {rows} rows of a comparison, but a point of a sweep is one row; make "
            f"{' and '.join(listed)} {'an axis' if len(listed) == 1 else 'axes'}"
        )
    if rows > 1:
        raise WriteampError(
            f"these are {rows} rows of a comparison, by a workload and a trace, but a point of a "
            "sweep is one row; give only one of the two"
        )
    if run.replicas > 1:
        raise WriteampError(
            f"replicas in [run] is {run.replicas}, but a point is a single run; give replicas in "
            "[sweep], which has the same seeds"
        )


def result_of_row(experiment: Experiment, without: tuple[str, ...]) -> PointResult:
    """Run a comparison of one row, and return its result.

    Args:
        experiment: experiment that `check_one_row` accepts.
        without: names of results to leave out, because the row of the point has them already.
    """
    comparison = run_comparison(experiment)
    (row,) = comparison.rows
    low, high = row.error_bar
    return PointResult(
        wa=json_number(row.wa),
        wa_low=json_number(low),
        wa_high=json_number(high),
        steady=row.steady,
        causes=row.causes,
        measures=scalars_of(row.to_dict(), without=without),
        warnings=tuple(comparison.warnings),
    )


def alone(value: Any) -> Any:
    """Return the item of a list of length 1; any other value is returned unchanged."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value
