"""Search by Optuna, which chooses each trial by the results of earlier trials.

The order in which results arrive has no effect. A search that is started again chooses the same
points, so that it finds their stored results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from statistics import fmean
from typing import Any, TypeAlias

from writeamp.errors import WriteampError, how_to_install, unknown
from writeamp.fields.domains import POSITIVE_COUNT, Whole, shown
from writeamp.studies.sweep.axes import Axis, ListedAxis
from writeamp.studies.sweep.designs import MOST_POINTS, SEARCH, Choice
from writeamp.studies.sweep.kinds.kind import PointResult
from writeamp.studies.sweep.points import Point

_GOALS = ("minimize", "maximize")
# Keys of the table [sweep] that only a search has.
SEARCH_KEYS = (*_GOALS, "batch")

GoalOf: TypeAlias = Callable[[Point], float | None]


@dataclass(frozen=True)
class Search:
    """Search for the settings that minimize or maximize a result.

    Attributes:
        axes: axes that vary.
        trials: number of combinations of values to try.
        goal: name of the result to optimize: "wa", or another number in the points' results.
        maximizes: whether to maximize the goal instead of minimizing it.
        batch: number of trials chosen at a time, which can run in parallel.
        seed: seed of Optuna's sampler.
        points_of: returns the points (one for each replica) with given values of the axes.
    """

    axes: tuple[Axis, ...]
    trials: int
    goal: str
    maximizes: bool
    batch: int
    seed: int
    points_of: Callable[[Choice], Sequence[Point]]

    @staticmethod
    def of(
        table: Mapping[str, Any],
        axes: Sequence[Axis],
        points_of: Callable[[Choice], Sequence[Point]],
        where: str,
    ) -> Search:
        """Return the search that a table [sweep] states; the ends of its axes are checked.

        Raises:
            WriteampError: the search is invalid, or Optuna is not installed.
        """
        goals = [name for name in _GOALS if name in table]
        if len(goals) != 1 or not isinstance(table[goals[0]], str):
            raise WriteampError(
                f'{where}: design search needs a goal; give minimize = "wa", or minimize or '
                "maximize with another number of the points"
            )
        if "zip" in table or not axes:
            raise WriteampError(f"{where}: design search needs at least one axis, and no zip")
        for axis in axes:
            if isinstance(axis, ListedAxis) and any(
                isinstance(value, list) for value in axis.values
            ):
                raise WriteampError(
                    f"{where}.axes.{axis.name} has lists as values; a search needs numbers or texts"
                )
        if "samples" not in table:
            raise WriteampError(f"{where}: samples is missing; give the number of choices to try")
        _optuna()
        for corner in _corners(axes):
            points_of(corner)
        return Search(
            axes=tuple(axes),
            trials=Whole(1, MOST_POINTS).check(f"{where}.samples", table["samples"]),
            goal=table[goals[0]],
            maximizes=goals[0] == "maximize",
            batch=POSITIVE_COUNT.check(f"{where}.batch", table.get("batch", 1)),
            # NumPy's generators, which Optuna uses, accept seeds in this range only.
            seed=Whole(0, 2**32 - 1).check(f"{where}.design_seed", table.get("design_seed", 0)),
            points_of=points_of,
        )

    def value(self, result: PointResult) -> float | None:
        """Return the value of the goal in a point's result, or None if it is not a number.

        Raises:
            WriteampError: the result has no value with the goal's name.
        """
        numbers = {"wa": result.wa} | dict(result.measures)
        if self.goal not in numbers:
            numeric_names = [
                name for name, number in numbers.items() if _number(number) is not None
            ]
            raise unknown("goal of the search", self.goal, numeric_names)
        return _number(numbers[self.goal])

    def rounds(self, goal_of: GoalOf) -> Iterator[Sequence[Point]]:
        """Yield the points of each batch of trials; run them before the next batch is requested.

        Args:
            goal_of: returns the goal's value at a point, or None if it failed.
        """
        optuna = _optuna()
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        study = optuna.create_study(
            direction="maximize" if self.maximizes else "minimize",
            sampler=optuna.samplers.TPESampler(seed=self.seed),
        )
        remaining_trials = self.trials
        while remaining_trials:
            trials = [study.ask() for _ in range(min(self.batch, remaining_trials))]
            points = [self.points_of(_choice(trial, self.axes)) for trial in trials]
            yield [point for of_trial in points for point in of_trial]
            for trial, of_trial in zip(trials, points, strict=True):
                goals = [goal_of(point) for point in of_trial]
                values = [goal for goal in goals if goal is not None]
                if len(values) < len(goals):
                    study.tell(trial, state=optuna.trial.TrialState.FAIL)
                else:
                    study.tell(trial, fmean(values))
            remaining_trials -= len(trials)


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None  # type: ignore[arg-type]


def lowest(axes: Sequence[Axis]) -> Choice:
    """Return the first value of each axis with a list, and the lower bound of each other axis."""
    return {
        axis.name: axis.values[0] if isinstance(axis, ListedAxis) else axis.low for axis in axes
    }


def _choice(trial: Any, axes: Sequence[Axis]) -> Choice:
    choice: Choice = {}
    for axis in axes:
        if isinstance(axis, ListedAxis):
            choice[axis.name] = trial.suggest_categorical(axis.name, list(axis.values))
        elif axis.is_integer:
            ends = (int(axis.low), int(axis.high))
            choice[axis.name] = trial.suggest_int(axis.name, *ends, log=axis.scale == "log")
        else:
            log = axis.scale == "log"
            choice[axis.name] = trial.suggest_float(axis.name, axis.low, axis.high, log=log)
    return choice


def _corners(axes: Sequence[Axis]) -> list[Choice]:
    """Return choices that test every listed value, and the lower and upper ends of all ranges."""
    low = lowest(axes)
    high = {
        axis.name: axis.values[-1] if isinstance(axis, ListedAxis) else axis.high for axis in axes
    }
    others = [
        low | {axis.name: value}
        for axis in axes
        if isinstance(axis, ListedAxis)
        for value in axis.values
    ]
    return [low, high, *others]


def _optuna() -> Any:
    try:
        return import_module("optuna")
    except ImportError:
        raise WriteampError(
            f"design {shown(SEARCH)} needs Optuna, which is not installed; run: "
            f"{how_to_install('search')}"
        ) from None
