"""Domains of the models' parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator

from writeamp.fields.domains import BELOW_ONE, POSITIVE_COUNT, Domain, Flag, Number, Whole
from writeamp.learn.blackbox.models.growing import Growth


@dataclass(frozen=True)
class OrNone:
    """Domain of None and the values of another domain."""

    domain: Domain

    def check(self, name: str, value: Any) -> Any:
        """Return the value."""
        return value if value is None else self.domain.check(name, value)


@dataclass(frozen=True)
class Folds:
    """Domain of the number of folds of a cross-validation; 0 for none."""

    def check(self, name: str, value: Any) -> int:
        """Return the number of folds."""
        return 0 if value == 0 else Whole(2, 1000).check(name, value)


_NOT_NEGATIVE = Number("be 0 or more", lambda value: value >= 0)

GROWTH: Mapping[str, Domain] = {
    "min_samples_leaf": POSITIVE_COUNT,
    "max_depth": Whole(0, 1000),
    "max_terms": OrNone(Whole(0)),
    "f_to_enter": _NOT_NEGATIVE,
    "split_candidates": POSITIVE_COUNT,
    "log_target": Flag(),
    "log_terms": Flag(),
    "smoothing": _NOT_NEGATIVE,
    "margin": _NOT_NEGATIVE,
    "random_state": Whole(0, 2**32 - 1),
}
TREE: Mapping[str, Domain] = {
    **GROWTH,
    "quantile": OrNone(BELOW_ONE),
    "folds": Folds(),
    "standard_errors": _NOT_NEGATIVE,
}
FOREST: Mapping[str, Domain] = {
    **GROWTH,
    "n_estimators": Whole(2, 100_000),
    "sample_share": BELOW_ONE,
}

PROCESS: Mapping[str, Domain] = {
    "log_target": Flag(),
    "most_tuned": Whole(2),
    "most_rows": Whole(2),
    "most_steps": POSITIVE_COUNT,
    "random_state": Whole(0, 2**32 - 1),
}

CONFORMAL: Mapping[str, Domain] = {
    "level": BELOW_ONE,
    "folds": OrNone(Whole(2, 1000)),
    "classes": POSITIVE_COUNT,
    "relative": Flag(),
    "random_state": Whole(0, 2**32 - 1),
}


def checked(estimator: BaseEstimator, domains: Mapping[str, Domain]) -> None:
    """Refuse a parameter outside its domain with a `WriteampError` that names it."""
    for name, domain in domains.items():
        domain.check(name, getattr(estimator, name))


def growth_of(estimator: BaseEstimator) -> Growth:
    """Return the limits to the growth of an estimator's trees."""
    return Growth(
        fewest_rows=estimator.min_samples_leaf,
        most_depth=estimator.max_depth,
        most_terms=2**31 if estimator.max_terms is None else estimator.max_terms,
        f_to_enter=estimator.f_to_enter,
        tried=estimator.split_candidates,
    )
