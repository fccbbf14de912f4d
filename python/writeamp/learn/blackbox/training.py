"""Training of models on a table of measurements, and their predictions."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.errors import WriteampError
from writeamp.fields.domains import Whole
from writeamp.learn.blackbox import littles_law
from writeamp.learn.blackbox.features.feature_sets import find_feature_set
from writeamp.learn.blackbox.formulas.of_profiles import chosen_formulas
from writeamp.learn.blackbox.measurement_file import drives_of
from writeamp.learn.blackbox.measurements import (
    TARGETS,
    fingerprints,
    observed,
    targets_in,
    workloads,
)
from writeamp.learn.blackbox.models.conformal import ConformalRegressor
from writeamp.learn.blackbox.models.documents import to_document
from writeamp.learn.blackbox.models.learners import MODELS, make_model
from writeamp.learn.blackbox.models.prior import PRIOR_TARGETS, check_prior, prior_regressor
from writeamp.learn.blackbox.predictions import Forecast, HeldOut, Predictions, Score, score
from writeamp.learn.blackbox.ranges import Range, across_pages, between_levels, beyond, ranges_of
from writeamp.learn.blackbox.settings import TrainingSettings
from writeamp.plots.figures.blackbox import errors_by_target
from writeamp.plots.spec import BarChart
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.results.numbers import percent_in_words
from writeamp.runners import Progress

F64 = npt.NDArray[np.float64]

_FEWEST_ROWS = 20
# Least number of rows between grid levels (`between_levels`) for a reliable mean of their errors.
_FEWEST_BETWEEN = 20
# Number of folds of the cross-validation of a model with a prior; it has no out-of-bag predictions.
_FOLDS = 5


@dataclass(frozen=True, eq=False)
class BlackBox(Drawn):
    """A trained model of a drive.

    Attributes:
        drive: name of the drive; empty if the measurements did not have it.
        features: name of the feature set.
        model: name of the kind of model.
        level: probability of the prediction intervals.
        is_joint: whether latency, bandwidth and throughput are predicted together, by Little's law.
        ranges: training range of each characteristic that the features need.
        unseen_mre: mean relative error of each target on training rows, each predicted by a model
            fitted without it.
        between_mre: the same error, only over rows with a queue depth or size that few other rows
            have (`between_levels`); NaN with fewer than 20 of these rows.
        prior: the prior of the models, in the notation of `train`.
        across: names of the sizes that are unaligned to pages of 4 KiB in some training row; None
            if the model's file does not have this entry.
        estimators: the fitted model of each target.
        trained_on: fingerprints of the training rows of each target.
    """

    drive: str
    features: str
    model: str
    level: float
    is_joint: bool
    ranges: dict[str, Range]
    unseen_mre: dict[str, float]
    between_mre: dict[str, float]
    prior: str
    across: tuple[str, ...] | None
    estimators: dict[str, ConformalRegressor]
    trained_on: dict[str, frozenset[str]] = field(repr=False)

    def predict(self, characteristics: pl.DataFrame) -> Forecast:
        """Return the predictions of each target for rows of characteristics.

        WA is NaN in rows without writes.

        Returns:
            `Forecast`: `Predictions` by target, each with `value`, `low` and `high`; `level`.

        Raises:
            WriteampError: a characteristic that the features need is missing.
        """
        vectors = _vectors(characteristics, self.features)
        # Far outside the training range, numbers may overflow, so warnings about this are off.
        with np.errstate(over="ignore"):
            values = {
                target: estimator.predict(vectors) for target, estimator in self.estimators.items()
            }
            if self.is_joint:
                values |= littles_law.joined(values, characteristics)
            intervals = {
                target: np.array([values[target], *estimator.interval_around(values[target])])
                for target, estimator in self.estimators.items()
            }
        is_known = {
            target: np.isfinite(estimator).all(axis=0) for target, estimator in intervals.items()
        }
        intervals = {
            target: np.where(is_known[target], estimator, np.nan)
            for target, estimator in intervals.items()
        }
        if "wa" in intervals:
            is_written = characteristics["write_ratio"].to_numpy() > 0
            intervals["wa"] = np.where(is_written, intervals["wa"], np.nan)
        # `ranges` leaves out sizes of 0, which rows without requests have. The estimators' ranges
        # include these, so a row outside of either counts as outside.
        unlike = [*beyond(self.ranges, characteristics).values()]
        unlike += self.unlike_pages(characteristics).values()
        beyond_ranges = np.any([np.zeros(len(vectors), bool), *unlike], axis=0)
        predictions = {}
        for target, estimator in self.estimators.items():
            value, low, high = intervals[target]
            outside = estimator.outside(vectors) | beyond_ranges | ~is_known[target]
            predictions[target] = Predictions(value, low, high, outside, target, self.level)
        return Forecast(predictions, self.level)

    def _records(self) -> list[dict[str, Any]]:
        names = ("drive", "features", "model", "level")
        about = {name: getattr(self, name) for name in names} | {"joint": self.is_joint}
        return [
            about | {"target": target, "unseen_mre": mre} for target, mre in self.unseen_mre.items()
        ]

    def card(self) -> Card:
        """Return the expected error of each target."""
        rows = [
            (
                target,
                str(len(self.trained_on[target])),
                *map(percent_in_words, (unseen, self.between_mre[target])),
            )
            for target, unseen in self.unseen_mre.items()
        ]
        columns = ("target", ">rows", ">MRE on unseen", ">MRE between levels")
        notes = [
            "MRE: mean relative error on rows that the model has not seen; between levels: only on "
            "rows with a size or depth that few other rows have"
        ]
        return Card(self._name(), rows, columns, notes=notes)

    def figure(self) -> BarChart:
        """Return bars of the expected relative error of each target."""
        return errors_by_target(self.unseen_mre, subtitle=self._name())

    def _compared(self) -> dict[str, Any]:
        # Models are equal if their saved documents are, as these determine all predictions.
        documents = {name: to_document(estimator) for name, estimator in self.estimators.items()}
        return super()._compared() | {"estimators": documents}

    def _name(self) -> str:
        return f"{self.model} on the {self.features} features of {self.drive or 'a drive'}"

    def beyond(self, characteristics: pl.DataFrame) -> list[str]:
        """Return the characteristics that some row has outside the training range."""
        return list(beyond(self.ranges, characteristics))

    def unlike_pages(self, characteristics: pl.DataFrame) -> dict[str, npt.NDArray[np.bool_]]:
        """Return the sizes that are unaligned to pages in some row, but in no training row.

        Predictions for these rows are uncertain: training rows that fill their pages do not show
        the cost of a partly touched page.

        Returns:
            A mask of these rows for each size, by the size's name.
        """
        if self.across is None:
            return {}
        needed = find_feature_set(self.features).needs
        return {
            name: rows
            for name, rows in across_pages(characteristics).items()
            if name in needed and name not in self.across and rows.any()
        }

    def held_out(self, measurements: pl.DataFrame) -> list[HeldOut]:
        """Return measured and predicted values of each target that the table has.

        Returns:
            `HeldOut` of each target: `observed`, `value`, `low`, `high`, `score`.

        Raises:
            WriteampError: a row was used for training, or as in `predict`.
        """
        samples = []
        for target in self._targets_in(measurements):
            rows = observed(measurements, target)
            seen = sum(mark in self.trained_on[target] for mark in fingerprints(rows, target))
            if seen:
                raise WriteampError(
                    f"{seen} of the {rows.height} rows were used in training, so they do not "
                    "measure the error on new rows; cross-validate (--cv 5), or give other rows"
                )
            forecast = self.predict(rows)[target]
            values = rows[TARGETS[target]].to_numpy()
            between = between_levels(rows)
            samples.append(
                HeldOut(target, values, forecast.value, forecast.low, forecast.high, between)
            )
        return samples

    def cross_held_out(
        self, measurements: pl.DataFrame, folds: int = 5, progress: Progress | None = None
    ) -> list[HeldOut]:
        """Return measured values and predictions by models refitted without each fold.

        All repeats of a workload are in one fold, so that they do not predict each other. The
        width of a row's interval follows from the errors in the other folds.

        Returns:
            `HeldOut` of each target: `observed`, `value`, `low`, `high`, `score`.

        Raises:
            WriteampError: there are too few rows or workloads, or as in `predict`.
        """
        from sklearn.base import clone  # noqa: PLC0415 (`models` reports if it is missing)

        Whole(2, 1000).check("folds", folds)
        tables, refitted = {}, {}
        targets = self._targets_in(measurements)
        for target in targets:
            tables[target] = _training_table(measurements, target, self.features)
            model = clone(self.estimators[target]).set_params(folds=folds)
            refitted[target] = tables[target].fitted(model)
            if progress:
                progress(len(refitted), len(targets))
        if self.is_joint and littles_law.follow(measurements):
            _join(refitted, tables)
        return [_by_other_folds(model, refitted[model], tables[model]) for model in targets]

    def evaluate(self, measurements: pl.DataFrame) -> list[Score]:
        """Return the score of each target on measurements that the model has not seen.

        Raises:
            WriteampError: as in `held_out`.
        """
        return [sample.score for sample in self.held_out(measurements)]

    def cross_validate(self, measurements: pl.DataFrame, folds: int = 5) -> list[Score]:
        """Return the score of each target, predicted by models that are refitted without each fold.

        Raises:
            WriteampError: as in `cross_held_out`.
        """
        return [sample.score for sample in self.cross_held_out(measurements, folds)]

    def _targets_in(self, measurements: pl.DataFrame) -> list[str]:
        """Return the targets of the model that a table has."""
        targets = [target for target in targets_in(measurements) if target in self.estimators]
        if not targets:
            raise WriteampError(
                f"the measurements lack all targets of the model: {', '.join(self.estimators)}"
            )
        return targets


def train(
    measurements: pl.DataFrame,
    *,
    features: str = TrainingSettings.features,
    model: str = TrainingSettings.model,
    targets: Sequence[str] | None = None,
    level: float = TrainingSettings.level,
    prior: str = TrainingSettings.prior,
    log_target: bool = True,
    progress: Progress | None = None,
) -> BlackBox:
    """Return a model of the measured drive.

    Each target has a model of its own. If measurements of latency, bandwidth and throughput follow
    Little's law, each of the three is predicted by the median of its values from the three models.

    Args:
        measurements: of one drive, with the columns of `writeamp.learn.blackbox.measurements`.
        features: name of the feature set.
        model: name of the kind of model.
        targets: names of targets; None for all with enough rows in the table.
        level: share of unseen workloads within their prediction interval.
        prior: prior of the models of latency, bandwidth and throughput. "none"; "auto" for a drive
            formula with the costs of the library's profiles, except the measured drive; names of
            profiles, and .toml files of others, which are simulated first; or several of these with
            commas between them.
        log_target: fit logarithms of the targets, as in paper 2.
        progress: called with the number of finished targets, and of all.

    Returns:
        `BlackBox`: `predict(rows)`, `held_out`, `unseen_mre` by target, `card()`; see `save` and
        `load`.

    Raises:
        WriteampError: an unknown name, a missing column, a value that is missing or not above 0,
            too few rows, or rows of several drives.
    """
    drives = drives_of(measurements)
    if len(drives) > 1:
        raise WriteampError(
            f"the measurements are of {len(drives)} drives, {', '.join(drives)}; a model needs "
            "those of one drive"
        )
    chosen = find_feature_set(features)
    begun_with = chosen_formulas(prior, drives)
    if begun_with is not None:
        check_prior(chosen.names, features, log_target=log_target)
    wanted = trainable(measurements) if targets is None else targets
    if not wanted:
        raise WriteampError("targets is empty; name at least one")
    tables, fitted = {}, {}
    for target in wanted:
        tables[target] = _training_table(measurements, target, features)
        inner = make_model(model, log_target=log_target, names=chosen.names)
        folds = MODELS[model].folds_for(len(tables[target].values))
        if begun_with is not None and target in PRIOR_TARGETS:
            inner = prior_regressor(inner, target, chosen.names, begun_with)
            folds = _FOLDS
        estimator = ConformalRegressor(inner, level=level, folds=folds, relative=log_target)
        fitted[target] = tables[target].fitted(estimator)
        if progress:
            progress(len(fitted), len(wanted))
    is_joint = (
        log_target and set(littles_law.RELATED) <= set(wanted) and littles_law.follow(measurements)
    )
    if is_joint:
        _join(fitted, tables)
    measured = pl.concat([table.rows for table in tables.values()])
    return BlackBox(
        drive=drives[0] if drives else "",
        features=features,
        model=model,
        level=level,
        is_joint=is_joint,
        ranges=ranges_of(measured, chosen.needs),
        unseen_mre={
            target: _unseen_mre(target, fitted[target], tables[target]) for target in wanted
        },
        between_mre={
            target: _unseen_mre(target, fitted[target], tables[target], tables[target].between)
            for target in wanted
        },
        prior=prior,
        across=tuple(name for name, rows in across_pages(measured).items() if rows.any()),
        estimators=fitted,
        trained_on={
            target: frozenset(fingerprints(tables[target].rows, target)) for target in wanted
        },
    )


def trainable(measurements: pl.DataFrame) -> list[str]:
    """Return the targets with enough rows for a model; if none has, all targets in the table."""
    measured = targets_in(measurements)
    enough = [
        target for target in measured if observed(measurements, target).height >= _FEWEST_ROWS
    ]
    return enough or measured


@dataclass(frozen=True)
class _Table:
    """Training rows of one target, with their feature vectors, values and workload numbers."""

    rows: pl.DataFrame
    vectors: F64
    values: F64
    groups: npt.NDArray[np.int64]
    between: npt.NDArray[np.bool_]

    def fitted(self, model: ConformalRegressor) -> ConformalRegressor:
        """Fit the model to these rows, set its intervals, and return it."""
        model.fit(self.vectors, self.values, groups=self.groups)
        self.calibrate(model)
        return model

    def calibrate(
        self, model: ConformalRegressor, rows: npt.NDArray[np.bool_] | None = None
    ) -> None:
        """Set the widths of a model's intervals from its errors on unseen rows.

        `rows` is a mask of the rows to use; None for all.

        If enough rows lie between grid levels (`between_levels`), only these are used. A row on
        grid levels has a smaller error than usual, because other rows have the same values.
        """
        chosen = np.ones(len(self.values), dtype=bool) if rows is None else rows
        if (chosen & self.between).sum() >= _FEWEST_BETWEEN:
            chosen = chosen & self.between
        model.calibrate(model.unseen_prediction_[chosen], self.values[chosen])


def _training_table(measurements: pl.DataFrame, target: str, features: str) -> _Table:
    rows = observed(measurements, target)
    if rows.height < _FEWEST_ROWS:
        raise WriteampError(
            f"the measurements have {rows.height} rows with the target {target}; a model needs at "
            f"least {_FEWEST_ROWS}"
        )
    values = rows[TARGETS[target]].cast(pl.Float64).to_numpy()
    return _Table(rows, _vectors(rows, features), values, workloads(rows), between_levels(rows))


def _join(models: dict[str, ConformalRegressor], tables: dict[str, _Table]) -> None:
    """Set the intervals of the models of `RELATED` targets from their joint unseen predictions."""
    unseen = {target: models[target].unseen_prediction_ for target in littles_law.RELATED}
    for target, values in littles_law.joined(unseen, tables[littles_law.RELATED[0]].rows).items():
        models[target].unseen_prediction_ = values
        tables[target].calibrate(models[target])


def _unseen_mre(
    target: str,
    model: ConformalRegressor,
    table: _Table,
    among: npt.NDArray[np.bool_] | None = None,
) -> float:
    used = np.isfinite(model.unseen_prediction_)
    if among is not None:
        used &= among
        if used.sum() < _FEWEST_BETWEEN:
            return np.nan
    return score(target, table.values[used], model.unseen_prediction_[used]).mre


def _by_other_folds(target: str, model: ConformalRegressor, table: _Table) -> HeldOut:
    """Return the predictions of each row, with intervals from the errors of the other folds."""
    value = model.unseen_prediction_
    low, high = np.empty(len(value)), np.empty(len(value))
    for fold in np.unique(model.unseen_fold_):
        held_out = model.unseen_fold_ == fold
        others = copy(model)
        table.calibrate(others, ~held_out)
        low[held_out], high[held_out] = others.interval_around(value[held_out])
    return HeldOut(target, table.values, value, low, high, table.between)


def _vectors(characteristics: pl.DataFrame, features: str) -> F64:
    return find_feature_set(features).of(characteristics).to_numpy()
