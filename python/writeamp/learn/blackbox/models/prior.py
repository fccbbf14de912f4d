"""Model with a drive formula as prior; it learns how the drive differs from the formula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.linear_model import LinearRegression
from sklearn.utils.validation import check_is_fitted

from writeamp.errors import WriteampError
from writeamp.fields.domains import Whole
from writeamp.learn.blackbox.formulas.drive_formula import COSTS, NEEDS, DriveFormula
from writeamp.learn.blackbox.formulas.fit import fitted_formulas
from writeamp.learn.blackbox.formulas.of_profiles import profile_formulas
from writeamp.learn.blackbox.models import checks
from writeamp.learn.blackbox.models.checks import fitted
from writeamp.learn.blackbox.models.learner import ModelDocument, Saved, check_names, numbers
from writeamp.learn.blackbox.models.terms import to_model

F64 = npt.NDArray[np.float64]

# Targets that follow from the time between two completed requests: latency is this time multiplied
# by the queue depth. WA does not follow from it.
PRIOR_TARGETS = ("latency", "bandwidth", "throughput")

_PER_SECOND = 1e6
# All formulas are dropped if they leave more than this share of the variance of the target's
# logarithm unexplained. The model then learns the target itself.
_MOST_LEFT = 0.5
# Log ratios of target to formula are clipped to this number of deviations from their median. Near a
# threshold, a drive can behave in either of two ways, and an outlier would spoil the predictions of
# similar workloads.
_FARTHEST = 3.0
# Ratio of standard deviation to median absolute deviation, for a normal distribution.
_DEVIATION_OF_MEDIAN = 1.4826


class PriorRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A drive formula fitted to the rows, and a model of the ratio of target to formula.

    The search for the formula's costs starts at the costs of simulated drives (`profiles`). The
    measurements decide which of the resulting formulas are used, with which weights
    (`fitted_formulas`). If their weighted mean explains less than half of the variance of the
    target's logarithm, as for a hard disk, the model learns the target itself.

    Args:
        estimator: the model of the ratio; None for a linear one.
        target: one of `PRIOR_TARGETS`.
        names: names of the features, including `drive_formula.NEEDS`.
        profiles: names of the library's profiles at whose costs the search begins.
        others: other drives at whose costs the search begins. Each is a name and a formula's
            `page_bytes`, `merges` and `logs`.

    Attributes:
        estimator_: the fitted model of the ratio.
        formulas_: weights and formulas of the weighted mean; empty if they explain too little.
        origins_: the profile at whose costs the search for each formula began; "" for default
            costs.
    """

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        target: str = "throughput",
        names: Sequence[str] = (),
        profiles: Sequence[str] = (),
        others: Sequence[tuple[str, int, bool, Sequence[float]]] = (),
    ) -> None:
        """Store the parameters."""
        self.estimator = estimator
        self.target = target
        self.names = names
        self.profiles = profiles
        self.others = others

    def fit(self, X: Any, y: Any, groups: Any = None) -> PriorRegressor:  # noqa: N803
        """Fit the formula to all rows, and the model to the remaining ratio.

        Args:
            X: features; shape (rows, features).
            y: target, above 0; shape (rows,).
            groups: rows of the same group stay in one fold of the model; shape (rows,).

        Raises:
            WriteampError: a missing value, or a target without a logarithm.
        """
        features, target = checks.training_rows(self, X, y)
        logs = to_model(target, is_log=True)
        library = profile_formulas()
        others = {
            name: DriveFormula(page_bytes, merges, tuple(logs))
            for name, page_bytes, merges, logs in self.others
        }
        sign, shift = self._by_time(features)
        formulas = fitted_formulas(
            features,
            self.names,
            sign * (logs - shift),
            {name: library[name] for name in self.profiles if name in library} | others,
        )
        self.formulas_ = tuple((weight, formula) for weight, _, formula in formulas)
        self.origins_ = tuple(name for _, name, _ in formulas)
        if np.var(logs - self._base(features)) > _MOST_LEFT * np.var(logs):
            self.formulas_, self.origins_ = (), ()
        model = LinearRegression() if self.estimator is None else self.estimator
        ratio = logs - self._base(features)
        if self.formulas_:
            ratio = _without_outliers(ratio)
        self.estimator_ = fitted(clone(model), features, np.exp(ratio), groups)
        return self

    def predict(self, X: Any) -> F64:  # noqa: N803
        """Return the predictions; shape (rows,).

        Raises:
            WriteampError: a missing value.
        """
        check_is_fitted(self)
        features = checks.rows_to_predict(self, X)
        predictions: F64 = np.exp(self._base(features)) * self.estimator_.predict(features)
        return predictions

    def _base(self, features: F64) -> F64:
        """Return the target's logarithm as the formulas predict it; 0 without formulas."""
        if not self.formulas_:
            return np.zeros(len(features))
        sign, shift = self._by_time(features)
        times = [
            weight * formula.log_time(features, self.names) for weight, formula in self.formulas_
        ]
        logs: F64 = shift + sign * np.sum(times, axis=0)
        return logs

    def _by_time(self, features: F64) -> tuple[int, F64]:
        """Return the sign and shift that convert a log time to the log target.

        The time is that between two completed requests. Latency is this time multiplied by the
        queue depth (Little 1961).
        """
        column = {name: features[:, at] for at, name in enumerate(self.names)}
        if self.target == "latency":
            return 1, np.log(np.maximum(column["queue_depth"], 1.0))
        if self.target == "throughput":
            return -1, np.full(len(features), np.log(_PER_SECOND))
        writes = column["write_ratio"]
        mean = writes * column["write_size_bytes"] + (1 - writes) * column["read_size_bytes"]
        return -1, np.log(np.maximum(mean, 1.0))


def prior_regressor(
    estimator: BaseEstimator,
    target: str,
    names: Sequence[str],
    begun_with: Mapping[str, DriveFormula],
) -> PriorRegressor:
    """Return a model with formulas as prior; it stores formulas of the library by name only."""
    library = profile_formulas()
    others = [
        (name, formula.page_bytes, formula.merges, list(formula.logs))
        for name, formula in begun_with.items()
        if name not in library
    ]
    profiles = tuple(name for name in begun_with if name in library)
    return PriorRegressor(estimator, target=target, names=names, profiles=profiles, others=others)


def check_prior(names: Sequence[str], features: str, *, log_target: bool) -> None:
    """Reject features that lack inputs of the drive formula, and targets without logarithm.

    Raises:
        WriteampError: a needed feature is missing, or `log_target` is False.
    """
    lacking = [name for name in NEEDS if name not in names]
    if lacking:
        raise WriteampError(
            f"a prior needs {lacking[0]}, which is not among the features {features!r}; use "
            "the feature set extended or modern"
        )
    if not log_target:
        raise WriteampError(
            "a prior needs log_target=True, since the model learns the ratio of target to prior"
        )


def _without_outliers(ratio: F64) -> F64:
    """Return the log ratios, clipped to `_FARTHEST` deviations from their median."""
    median = np.median(ratio)
    farthest = _FARTHEST * _DEVIATION_OF_MEDIAN * np.median(np.abs(ratio - median))
    clipped: F64 = np.clip(ratio, median - farthest, median + farthest)
    return clipped


def _write(model: PriorRegressor, write: Any) -> ModelDocument:
    return {
        "model": write(model.estimator_),
        "origins": list(model.origins_),
        "formulas": [
            {
                "weight": weight,
                "page_bytes": formula.page_bytes,
                "merges": formula.merges,
                "logs": list(formula.logs),
            }
            for weight, formula in model.formulas_
        ],
    }


def _read(model: PriorRegressor, document: Mapping[str, Any], read: Any) -> None:
    model.estimator_ = read(document["model"])
    model.origins_ = tuple(map(str, document["origins"]))
    model.formulas_ = tuple(
        (
            numbers([entry["weight"]], 1).item(),
            _formula(entry["page_bytes"], entry["merges"], entry["logs"]),
        )
        for entry in document["formulas"]
    )
    for _, page_bytes, merges, logs in model.others:
        _formula(page_bytes, merges, logs)
    check_names(model.names, int(document["features"]))
    is_complete = set(NEEDS) <= set(model.names)
    is_known = model.target in PRIOR_TARGETS and len(model.formulas_) == len(model.origins_)
    if not is_complete or not is_known:
        raise WriteampError(
            "the saved drive formula is damaged: its features, target or formulas are wrong"
        )


def _formula(page_bytes: Any, merges: Any, logs: Any) -> DriveFormula:
    pages = Whole(512, 2**40).check("page_bytes", page_bytes)
    if pages & (pages - 1) or not isinstance(merges, bool):
        raise WriteampError("the saved drive formula is damaged: page_bytes or merges is not valid")
    return DriveFormula(pages, merges, tuple(numbers(logs, len(COSTS)).tolist()))


SAVED_PRIOR = Saved(PriorRegressor, _write, _read)
