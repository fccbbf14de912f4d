"""Training of models on a table of measurements, and their predictions."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from sklearn.base import clone

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
# Told how many targets are done, and of how many.

_FEWEST_ROWS = 20
# Rows between the levels of a table must be so many, that their errors say something.
_FEWEST_BETWEEN = 20
# Of the cross-validation of a model on top of a prior, which has no out-of-bag predictions.
_FOLDS = 5


@dataclass(frozen=True, eq=False)
class BlackBox(Drawn):
    """A trained model of a drive.

    Attributes:
        drive: name of the drive; empty if the measurements did not say.
        features: name of the feature set.
        model: name of the kind of model.
        level: of the prediction intervals.
        is_joint: whether latency, bandwidth and throughput are predicted together, by Little's law.
        ranges: of each characteristic that the features are computed from, over the training rows.
        unseen_mre: mean relative error of each target on training rows, each predicted by a model
            that had not seen it.
        between_mre: the same of the rows between the levels of the others alone; NaN if there are
            too few of them to say.
        prior: what the models began with, as `train` takes it.
        across: sizes of which some training row lay across pages of 4 KiB; None if the file of the
            model does not say.
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

        A workload that does not write has no WA: that of its rows is NaN.

        Returns:
            `Forecast`: `Predictions` by target, each with `value`, `low` and `high`; `level`.

        Raises:
            WriteampError: a characteristic that the features need is missing.
        """
        vectors = _vectors(characteristics, self.features)
        # Far outside the training range numbers overflow.
        with np.errstate(over="ignore"):
            values = {target: one.predict(vectors) for target, one in self.estimators.items()}
            if self.is_joint:
                values |= littles_law.joined(values, characteristics)
            said = {
                target: np.array([values[target], *one.interval_around(values[target])])
                for target, one in self.estimators.items()
            }
        is_known = {target: np.isfinite(one).all(axis=0) for target, one in said.items()}
        said = {target: np.where(is_known[target], one, np.nan) for target, one in said.items()}
        if "wa" in said:
            is_written = characteristics["write_ratio"].to_numpy() > 0
            said["wa"] = np.where(is_written, said["wa"], np.nan)
        # A range of sizes leaves out the 0 of rows that have none, which the features hold, too.
        unlike = [*beyond(self.ranges, characteristics).values()]
        unlike += self.unlike_pages(characteristics).values()
        beyond_ranges = np.any([np.zeros(len(vectors), bool), *unlike], axis=0)
        found = {}
        for target, one in self.estimators.items():
            value, low, high = said[target]
            outside = one.outside(vectors) | beyond_ranges | ~is_known[target]
            found[target] = Predictions(value, low, high, outside, target, self.level)
        return Forecast(found, self.level)

    def _records(self) -> list[dict[str, Any]]:
        names = ("drive", "features", "model", "level")
        about = {name: getattr(self, name) for name in names} | {"joint": self.is_joint}
        return [about | {"target": one, "unseen_mre": mre} for one, mre in self.unseen_mre.items()]

    def card(self) -> Card:
        """Return the error to expect of each target."""
        rows = [
            (
                target,
                str(len(self.trained_on[target])),
                *map(percent_in_words, (unseen, self.between_mre[target])),
            )
            for target, unseen in self.unseen_mre.items()
        ]
        columns = ("target", ">rows", ">MRE on unseen", ">between levels")
        notes = ["MRE is the mean relative error, on rows that the model has not seen"]
        return Card(self._name(), rows, columns, notes=notes)

    def figure(self) -> BarChart:
        """Describe the error to expect of each target."""
        return errors_by_target(self.unseen_mre, subtitle=self._name())

    def _compared(self) -> dict[str, Any]:
        # Of a fitted estimator, what its file has: all that it predicts follows from that.
        documents = {name: to_document(one) for name, one in self.estimators.items()}
        return super()._compared() | {"estimators": documents}

    def _name(self) -> str:
        return f"{self.model} on the {self.features} features of {self.drive or 'a drive'}"

    def beyond(self, characteristics: pl.DataFrame) -> list[str]:
        """Return the characteristics that some row has outside the range of the training rows."""
        return list(beyond(self.ranges, characteristics))

    def unlike_pages(self, characteristics: pl.DataFrame) -> dict[str, npt.NDArray[np.bool_]]:
        """Return the sizes that some row writes or reads across pages, as no training row did.

        What a page costs that is touched in part shows in no request that fills its pages.
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
            WriteampError: one of the rows was a training row, or as of `predict`.
        """
        found = []
        for target in self._targets_in(measurements):
            rows = observed(measurements, target)
            seen = sum(mark in self.trained_on[target] for mark in fingerprints(rows, target))
            if seen:
                raise WriteampError(
                    f"{seen} of the {rows.height} rows were trained on, and say nothing of the "
                    "error on others; cross-validate (--cv 5), or give rows that were held out"
                )
            said = self.predict(rows)[target]
            values = rows[TARGETS[target]].to_numpy()
            between = between_levels(rows)
            found.append(HeldOut(target, values, said.value, said.low, said.high, between))
        return found

    def cross_held_out(
        self, measurements: pl.DataFrame, folds: int = 5, progress: Progress | None = None
    ) -> list[HeldOut]:
        """Return measured values and predictions by models refitted without each fold.

        All repeats of a workload are in one fold, so that none of them is predicted by the others.
        The interval of a row is as wide as the errors in the other folds make it.

        Returns:
            `HeldOut` of each target: `observed`, `value`, `low`, `high`, `score`.

        Raises:
            WriteampError: there are too few rows or workloads, or as of `predict`.
        """
        Whole(2, 1000).check("folds", folds)
        tables, refitted = {}, {}
        targets = self._targets_in(measurements)
        for target in targets:
            tables[target] = _training_table(measurements, target, self.features)
            one = clone(self.estimators[target]).set_params(folds=folds)
            refitted[target] = tables[target].fitted(one)
            if progress:
                progress(len(refitted), len(targets))
        if self.is_joint and littles_law.follow(measurements):
            _join(refitted, tables)
        return [_by_other_folds(one, refitted[one], tables[one]) for one in targets]

    def evaluate(self, measurements: pl.DataFrame) -> list[Score]:
        """Return the score of each target on measurements that the model has not seen.

        Raises:
            WriteampError: as of `held_out`.
        """
        return [one.score for one in self.held_out(measurements)]

    def cross_validate(self, measurements: pl.DataFrame, folds: int = 5) -> list[Score]:
        """Return the score of each target by models of this kind, refitted without each fold.

        Raises:
            WriteampError: as of `cross_held_out`.
        """
        return [one.score for one in self.cross_held_out(measurements, folds)]

    def _targets_in(self, measurements: pl.DataFrame) -> list[str]:
        """Return the targets of the model that a table has."""
        found = [one for one in targets_in(measurements) if one in self.estimators]
        if not found:
            raise WriteampError(
                f"the measurements have none of the model's targets: {', '.join(self.estimators)}"
            )
        return found


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
    """Return a model of the drive that was measured.

    Each target has a model of its own. Where measurements of latency, bandwidth and throughput
    follow Little's law, each is predicted by the median of what the three models say of it.

    Args:
        measurements: as `writeamp.learn.blackbox.measurements` says, of one drive.
        features: name of the feature set.
        model: name of the kind of model.
        targets: names of targets; None for all that the table has enough rows of.
        level: share of unseen workloads that lie within their prediction interval.
        prior: what the models of latency, bandwidth and throughput begin with: "none"; "auto", a
            drive formula with the costs of the library's profiles, without the drive that was
            measured; names of profiles, and .toml files of others, which are simulated first; or
            several of these with commas between.
        log_target: fit logarithms of the targets, as paper 2 does.
        progress: called with the number of targets that are done, and of all.

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
            f"the measurements are of {len(drives)} drives, {', '.join(drives)}; a model is of one"
        )
    chosen = find_feature_set(features)
    begun_with = chosen_formulas(prior, drives)
    if begun_with is not None:
        check_prior(chosen.names, features, log_target=log_target)
    asked = trainable(measurements) if targets is None else targets
    if not asked:
        raise WriteampError("targets names none; name at least one")
    tables, fitted = {}, {}
    for target in asked:
        tables[target] = _training_table(measurements, target, features)
        inner = make_model(model, log_target=log_target, names=chosen.names)
        folds = MODELS[model].folds_for(len(tables[target].values))
        if begun_with is not None and target in PRIOR_TARGETS:
            inner = prior_regressor(inner, target, chosen.names, begun_with)
            folds = _FOLDS
        one = ConformalRegressor(inner, level=level, folds=folds, relative=log_target)
        fitted[target] = tables[target].fitted(one)
        if progress:
            progress(len(fitted), len(asked))
    is_joint = (
        log_target and set(littles_law.RELATED) <= set(asked) and littles_law.follow(measurements)
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
        unseen_mre={one: _unseen_mre(one, fitted[one], tables[one]) for one in asked},
        between_mre={
            one: _unseen_mre(one, fitted[one], tables[one], tables[one].between) for one in asked
        },
        prior=prior,
        across=tuple(name for name, rows in across_pages(measured).items() if rows.any()),
        estimators=fitted,
        trained_on={one: frozenset(fingerprints(tables[one].rows, one)) for one in asked},
    )


def trainable(measurements: pl.DataFrame) -> list[str]:
    """Return the targets of which a table has rows enough for a model; if of none, all it has."""
    found = targets_in(measurements)
    enough = [one for one in found if observed(measurements, one).height >= _FEWEST_ROWS]
    return enough or found


@dataclass(frozen=True)
class _Table:
    """The rows in which a target was measured, their vectors, values and workloads."""

    rows: pl.DataFrame
    vectors: F64
    values: F64
    groups: npt.NDArray[np.int64]
    between: npt.NDArray[np.bool_]

    def fitted(self, model: ConformalRegressor) -> ConformalRegressor:
        """Return the model fitted to these rows, and its intervals set."""
        model.fit(self.vectors, self.values, groups=self.groups)
        self.calibrate(model)
        return model

    def calibrate(
        self, model: ConformalRegressor, rows: npt.NDArray[np.bool_] | None = None
    ) -> None:
        """Set a model's intervals by its errors on unseen rows, by default all.

        They are those of rows between the levels of the others, if there are enough: on a grid
        neighbours with the same values make errors small that are large elsewhere.
        """
        chosen = np.ones(len(self.values), dtype=bool) if rows is None else rows
        if (chosen & self.between).sum() >= _FEWEST_BETWEEN:
            chosen = chosen & self.between
        model.calibrate(model.unseen_prediction_[chosen], self.values[chosen])


def _training_table(measurements: pl.DataFrame, target: str, features: str) -> _Table:
    rows = observed(measurements, target)
    if rows.height < _FEWEST_ROWS:
        raise WriteampError(
            f"the measurements have {rows.height} rows with the target {target}; a model needs "
            f"{_FEWEST_ROWS} at least"
        )
    values = rows[TARGETS[target]].cast(pl.Float64).to_numpy()
    return _Table(rows, _vectors(rows, features), values, workloads(rows), between_levels(rows))


def _join(models: dict[str, ConformalRegressor], tables: dict[str, _Table]) -> None:
    """Let the unseen predictions of the related models together decide their intervals."""
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
    known = np.isfinite(model.unseen_prediction_)
    if among is not None:
        known &= among
        if known.sum() < _FEWEST_BETWEEN:
            return np.nan
    return score(target, table.values[known], model.unseen_prediction_[known]).mre


def _by_other_folds(target: str, model: ConformalRegressor, table: _Table) -> HeldOut:
    """Return the predictions of each row, in intervals that the other folds' errors decide."""
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
