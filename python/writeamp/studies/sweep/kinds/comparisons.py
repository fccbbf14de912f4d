"""Points that are rows of comparisons: one manager, its victims and one load, run once."""

from __future__ import annotations

from typing import Any

from writeamp.errors import WriteampError
from writeamp.results.numbers import json_number
from writeamp.settings.compared import LoadsSettings, PoliciesSettings
from writeamp.settings.experiment import Experiment
from writeamp.settings.settings import ComparisonSettings
from writeamp.studies.compare.comparison import run_comparison
from writeamp.studies.sweep.kinds.kind import PointFound, scalars_of

VERB = "compare"


def check_one_row(experiment: Experiment) -> None:
    """Refuse a comparison of several rows or runs, of which a sweep has one at a point.

    Raises:
        WriteampError: so it is; the sentence says what to make an axis.
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
    listed = [name for name, one in of_settings.items() if isinstance(one, tuple) and len(one) > 1]
    if listed:
        raise WriteampError(
            f"this would be {rows} rows of a comparison, and a point of a sweep is one: make "
            f"{' and '.join(listed)} {'an axis' if len(listed) == 1 else 'axes'}"
        )
    if rows > 1:
        raise WriteampError(
            f"this would be {rows} rows of a comparison, of a workload and of a trace, and a point "
            "of a sweep is one; give only one of the two"
        )
    if run.replicas > 1:
        raise WriteampError(
            f"replicas in [run] is {run.replicas}; a point is one run of a row, so give replicas "
            "in [sweep], whose runs have the same seeds"
        )


def found_of_row(experiment: Experiment, without: tuple[str, ...]) -> PointFound:
    """Run a comparison of one row, and return what it found.

    Args:
        experiment: one that `check_one_row` takes.
        without: names that are no measures.
    """
    comparison = run_comparison(experiment)
    (row,) = comparison.rows
    low, high = row.error_bar
    return PointFound(
        wa=json_number(row.wa),
        wa_low=json_number(low),
        wa_high=json_number(high),
        steady=row.steady,
        causes=row.causes,
        measures=scalars_of(row.to_dict(), without=without),
        warnings=tuple(comparison.warnings),
    )


def alone(value: Any) -> Any:
    """Return the only item of a list, as settings hold what may be several; else the value."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value
