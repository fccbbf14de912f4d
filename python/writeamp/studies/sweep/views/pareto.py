"""Pareto front: the combinations of settings that no other combination dominates.

A combination dominates another if it is as good in all objectives, and better in one. It is called
a choice here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from writeamp.errors import WriteampError, unknown
from writeamp.plots.figures.pareto import DOMINATED, FRONT, NEAR, ParetoPoint, pareto_front
from writeamp.plots.labels import axis_label, upright_label
from writeamp.plots.spec import PanelChart
from writeamp.results.card import Card
from writeamp.studies.sweep.summary import Group, groups_of
from writeamp.studies.sweep.tidy import ORIGINS, Tidy, word_of
from writeamp.studies.sweep.views.roles import MOST_HUES, is_log
from writeamp.studies.sweep.views.view import (
    View,
    column_title,
    heading,
    interval_in_words,
    number_in_words,
    subtitle_of,
)

_Costs: TypeAlias = npt.NDArray[np.float64]

_STANDINGS = {FRONT: "front", NEAR: "near", DOMINATED: "dominated"}


@dataclass(frozen=True)
class Choice:
    """Combination of settings: its objectives, and if it is on the front, near or dominated."""

    groups: tuple[Group, ...]
    standing: str

    def to_dict(self) -> dict[str, Any]:
        """Return the choice as JSON types, with "front", "near" or "dominated" as `standing`."""
        merged = {name: value for group in self.groups for name, value in group.to_dict().items()}
        return merged | {"standing": _STANDINGS[self.standing]}


@dataclass(frozen=True, eq=False)
class Pareto(View):
    """All choices that have every objective: the front first, then by the first objective.

    A choice is dominated by another that is as good in all objectives and better in one, by the
    means of replicas. A choice is near the front if noise may explain that it is dominated. It is
    then undominated with its own values at the better ends of their 95% intervals, and the values
    of the others at the worse ends. `left_out` is the number of choices that lack an objective.
    """

    tidy: Tidy
    objectives: tuple[Objective, ...]
    choices: tuple[Choice, ...]
    left_out: int
    hue: str | None

    @staticmethod
    def of(tidy: Tidy, objectives: Sequence[str], *, hue: str | None = None) -> Pareto:
        """Return the front; `SweepResults.pareto` describes the arguments."""
        requested = tuple(Objective.of(text) for text in objectives)
        names = [objective.column for objective in requested]
        if len(requested) not in (2, 3) or len(set(names)) < len(names):
            raise WriteampError(
                f"objectives are {','.join(objectives) or 'missing'}; give two or three different "
                "ones, such as wa,op"
            )
        if hue is not None and hue not in (*tidy.settings, *ORIGINS):
            raise unknown("axis", hue, tidy.varying or tidy.settings)
        columns = [groups_of(tidy, name, [hue] if hue else []) for name in names]
        rows = [row for row in zip(*columns, strict=True) if all(g.mean is not None for g in row)]
        if not rows:
            raise WriteampError(f"no result has all of {', '.join(names)}; give other objectives")
        signs = np.array([-1.0 if objective.maximizes else 1.0 for objective in requested])
        standings = _standings(rows, signs)
        order = sorted(
            range(len(rows)),
            key=lambda index: (list(_STANDINGS).index(standings[index]), rows[index][0].mean),
        )
        return Pareto(
            tidy=tidy,
            objectives=requested,
            choices=tuple(Choice(rows[index], standings[index]) for index in order),
            left_out=len(columns[0]) - len(rows),
            hue=hue or _hue(tidy, names),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the objectives and all choices as JSON types, the front first."""
        return {
            "objectives": [
                {"column": objective.column, "better": "more" if objective.maximizes else "less"}
                for objective in self.objectives
            ],
            "left_out": self.left_out,
            "choices": [choice.to_dict() for choice in self.choices],
        }

    def _records(self) -> list[dict[str, Any]]:
        return [choice.to_dict() for choice in self.choices]

    def card(self) -> Card:
        """Return the choices that are on the front or near it."""
        columns = [objective.column for objective in self.objectives]
        names = [name for name in self.tidy.varying if name not in columns]
        best = [choice for choice in self.choices if choice.standing != DOMINATED]
        headings = [
            heading(name, [choice.groups[0].value(name) for choice in best]) for name in names
        ]
        rows = []
        for choice in best:
            row = [word_of(choice.groups[0].value(name)) for name in names]
            for group in choice.groups:
                row += [number_in_words(group.mean), interval_in_words(group.low, group.high)]
            rows.append([*row, _STANDINGS[choice.standing]])
        pairs = [text for name in columns for text in (f">{column_title(name)}", ">95% CI")]
        title = f"{len(best)} of {len(self.choices)} choices are on the Pareto front, or near it"
        left_out = f"{self.left_out} choices lack one of {', '.join(columns)} and are left out"
        notes = [left_out] if self.left_out else []
        return Card(title, rows, [*headings, *pairs, "standing"], notes=notes)

    def _hues(self) -> list[Any]:
        """Return the values of the hue axis in their order, with None last."""
        assert self.hue is not None
        missing = [None] if self.tidy.frame[self.hue].null_count() else []
        return [*self.tidy.values(self.hue), *missing]

    def figure(self) -> PanelChart:
        """Return a chart of all choices and the front, with a panel per pair of objectives."""
        candidates = [
            ParetoPoint(
                "" if self.hue is None else word_of(choice.groups[0].value(self.hue)),
                tuple(group.mean for group in choice.groups if group.mean is not None),
                choice.standing,
            )
            for choice in self.choices
        ]
        count = sum(choice.standing == FRONT for choice in self.choices)
        names = [objective.column for objective in self.objectives]
        groups = [choice.groups[0] for choice in self.choices]
        return pareto_front(
            candidates,
            labels=[(axis_label(name), upright_label(name)) for name in names],
            kinds=[""] if self.hue is None else [word_of(value) for value in self._hues()],
            maximizes=[objective.maximizes for objective in self.objectives],
            log=[name in self.tidy.settings and is_log(self.tidy.values(name)) for name in names],
            title=f"Pareto front of {', '.join(names)}: {count} of {len(candidates)} choices",
            subtitle=subtitle_of(self.tidy, groups, names),
        )


def _hue(tidy: Tidy, objectives: Sequence[str]) -> str | None:
    """Return the first axis of texts that has few enough values for colours, or None."""
    for name in tidy.varying:
        is_words = not tidy.frame[name].dtype.is_numeric()
        if is_words and name not in objectives and len(tidy.values(name)) <= MOST_HUES:
            return name
    return None


def _standings(rows: Sequence[tuple[Group, ...]], signs: _Costs) -> list[str]:
    def costs(end: str) -> _Costs:
        ends = [[getattr(group, end) for group in row] for row in rows]
        means = [[group.mean for group in row] for row in rows]
        values = np.array(ends, np.float64)
        return signs * np.where(np.isnan(values), np.array(means, np.float64), values)

    mean, low, high = costs("mean"), costs("low"), costs("high")
    best, worst = np.minimum(low, high), np.maximum(low, high)
    front, surely_reached = _undominated(mean), _undominated(worst)
    on_front = set(front.tolist())
    return [
        FRONT
        if index in on_front
        else DOMINATED
        if _is_dominated(best[index], worst[surely_reached])
        else NEAR
        for index in range(len(rows))
    ]


def _undominated(costs: _Costs) -> npt.NDArray[np.intp]:
    """Return the indices of the rows that no other row dominates.

    If rows are sorted lexically, only earlier rows can dominate a row. If any earlier row does, a
    row of the front does, too, so that only the front is compared.
    """
    front: list[int] = []
    for index in np.lexsort(costs.T[::-1]).tolist():
        if not _is_dominated(costs[index], costs[front]):
            front.append(index)
    return np.array(front, np.intp)


def _is_dominated(cost: _Costs, others: _Costs) -> bool:
    """Return whether another row is nowhere worse and somewhere better."""
    nowhere_worse = np.all(others <= cost, axis=1)
    return bool(np.any(nowhere_worse & np.any(others < cost, axis=1)))


_SIGNS = {"min:": False, "max:": True, "-": False, "+": True}
_SHORT = {"endurance": "endurance_full_drive_writes", "fairness": "pe_fairness"}
_MORE = ("endurance", "pe_fairness", "fill", "iops", "bandwidth", "host_pages_per_s")
_LESS = ("wa", "op", "spare_factor", "latency_us", "erases", "spare_blocks", "flash_pages")


@dataclass(frozen=True)
class Objective:
    """Objective: a column, and whether larger values are better."""

    column: str
    maximizes: bool

    @staticmethod
    def of(text: str) -> Objective:
        """Parse the name of a column, with an optional prefix "min:", "max:", "-" or "+".

        Smaller values are better with "min:" or "-", larger values with "max:" or "+".

        Raises:
            WriteampError: it is not known whether larger values of the column are better.

        >>> Objective.of("endurance")
        Objective(column='endurance_full_drive_writes', maximizes=True)
        >>> Objective.of("max:virtual_time_s").maximizes
        True
        """
        sign = next((prefix for prefix in _SIGNS if text.startswith(prefix)), "")
        name = text.removeprefix(sign).strip()
        column = _SHORT.get(name, name)
        if sign:
            return Objective(column, _SIGNS[sign])
        if _begins(column, _MORE):
            return Objective(column, True)
        if _begins(column, _LESS) or column.endswith("_programs"):
            return Objective(column, False)
        raise WriteampError(
            f"the better direction of {name} is not known; give min:{name} or max:{name} (known: "
            f"{', '.join((*_LESS, *_MORE))})"
        )


def _begins(column: str, names: tuple[str, ...]) -> bool:
    return any(column == name or column.startswith((f"{name}.", f"{name}_")) for name in names)
