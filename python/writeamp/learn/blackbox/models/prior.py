"""Model that begins with a drive formula, and learns how the drive differs from it."""

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
from writeamp.learn.blackbox.models.learner import Document, Saved, check_names, numbers
from writeamp.learn.blackbox.models.terms import to_model

F64 = npt.NDArray[np.float64]

# What follows from the time between two answers.
PRIOR_TARGETS = ("latency", "bandwidth", "throughput")

_PER_SECOND = 1e6
# A formula that leaves more of the variance of the target's logarithm than this is no help.
_MOST_LEFT = 0.5
# Ratios further from the median than so many deviations are taken to be that far: a drive that
# stands at a threshold falls to either side of it, and its neighbours learn nothing from that.
_FARTHEST = 3.0
_DEVIATION_OF_MEDIAN = 1.4826  # a normal deviation over the median distance from the median


class PriorRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A drive formula fitted to the rows, and a model of the ratio of the target to it.

    The costs in the formula start from those of drives that were simulated (`profiles`), and the
    data choose and weigh them (`fitted_formulas`). Where no formula explains half of the variance
    of the target's logarithm, a disk for instance, the model learns the target alone.

    Args:
        estimator: the model of the ratio; None for a linear one.
        target: one of `PRIOR_TARGETS`.
        names: of the features, `drive_formula.NEEDS` among them.
        profiles: names of the library's profiles at whose costs the search may begin.
        others: other drives at whose costs it may, each a name and a formula's `page_bytes`,
            `merges` and `logs`.

    Attributes:
        estimator_: the fitted model of the ratio.
        formulas_: weights, and the formulas that are mixed; none if they are no help.
        origins_: the profile at whose costs the search for each began; empty for ordinary ones.
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
        """Keep the parameters."""
        self.estimator = estimator
        self.target = target
        self.names = names
        self.profiles = profiles
        self.others = others

    def fit(self, X: Any, y: Any, groups: Any = None) -> PriorRegressor:  # noqa: N803
        """Fit the formula to all rows, and the model to what it leaves.

        Args:
            X: features; shape (rows, features).
            y: target, above 0; shape (rows,).
            groups: what no fold of the model may divide; shape (rows,).

        Raises:
            WriteampError: a missing value, or a target that has no logarithm.
        """
        features, target = checks.training_rows(self, X, y)
        logs = to_model(target, is_log=True)
        known = profile_formulas()
        others = {
            name: DriveFormula(page_bytes, merges, tuple(logs))
            for name, page_bytes, merges, logs in self.others
        }
        sign, shift = self._by_time(features)
        found = fitted_formulas(
            features,
            self.names,
            sign * (logs - shift),
            {name: known[name] for name in self.profiles if name in known} | others,
        )
        self.formulas_ = tuple((weight, formula) for weight, _, formula in found)
        self.origins_ = tuple(name for _, name, _ in found)
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
        found: F64 = np.exp(self._base(features)) * self.estimator_.predict(features)
        return found

    def _base(self, features: F64) -> F64:
        """Return the logarithm of the target by the formulas; 0 without any."""
        if not self.formulas_:
            return np.zeros(len(features))
        sign, shift = self._by_time(features)
        times = [weight * one.log_time(features, self.names) for weight, one in self.formulas_]
        found: F64 = shift + sign * np.sum(times, axis=0)
        return found

    def _by_time(self, features: F64) -> tuple[int, F64]:
        """Return how the target's logarithm follows from that of the time between two answers.

        Outstanding requests are throughput times latency (Little 1961).
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
    """Return the model that begins with some formulas, those of the library by name alone."""
    known = profile_formulas()
    others = [
        (name, one.page_bytes, one.merges, list(one.logs))
        for name, one in begun_with.items()
        if name not in known
    ]
    profiles = tuple(name for name in begun_with if name in known)
    return PriorRegressor(estimator, target=target, names=names, profiles=profiles, others=others)


def check_prior(names: Sequence[str], features: str, *, log_target: bool) -> None:
    """Refuse features that say too little for a drive formula, and targets without logarithms.

    Raises:
        WriteampError: they are such.
    """
    lacking = [name for name in NEEDS if name not in names]
    if lacking:
        raise WriteampError(
            f"a prior needs {lacking[0]}, which the features {features!r} leave out; extended and "
            "modern have it"
        )
    if not log_target:
        raise WriteampError("a prior is a factor of the target, and needs log_target")


def _without_outliers(ratio: F64) -> F64:
    """Return ratios none of which is far from the median, beside their usual distance from it."""
    median = np.median(ratio)
    farthest = _FARTHEST * _DEVIATION_OF_MEDIAN * np.median(np.abs(ratio - median))
    found: F64 = np.clip(ratio, median - farthest, median + farthest)
    return found


def _write(model: PriorRegressor, write: Any) -> Document:
    return {
        "model": write(model.estimator_),
        "origins": list(model.origins_),
        "formulas": [
            {
                "weight": weight,
                "page_bytes": one.page_bytes,
                "merges": one.merges,
                "logs": list(one.logs),
            }
            for weight, one in model.formulas_
        ],
    }


def _read(model: PriorRegressor, document: Mapping[str, Any], read: Any) -> None:
    model.estimator_ = read(document["model"])
    model.origins_ = tuple(map(str, document["origins"]))
    model.formulas_ = tuple(
        (
            numbers([one["weight"]], 1).item(),
            _formula(one["page_bytes"], one["merges"], one["logs"]),
        )
        for one in document["formulas"]
    )
    for _, page_bytes, merges, logs in model.others:
        _formula(page_bytes, merges, logs)
    check_names(model.names, int(document["features"]))
    is_complete = set(NEEDS) <= set(model.names)
    is_known = model.target in PRIOR_TARGETS and len(model.formulas_) == len(model.origins_)
    if not is_complete or not is_known:
        raise WriteampError("its drive formula does not hold together")


def _formula(page_bytes: Any, merges: Any, logs: Any) -> DriveFormula:
    pages = Whole(512, 2**40).check("page_bytes", page_bytes)
    if pages & (pages - 1) or not isinstance(merges, bool):
        raise WriteampError("its drive formula does not hold together")
    return DriveFormula(pages, merges, tuple(numbers(logs, len(COSTS)).tolist()))


SAVED_PRIOR = Saved(PriorRegressor, _write, _read)
