"""Roles of axes in a plot: x, hue (lines) and facets (panels); only replicas are averaged."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import polars as pl

from writeamp.errors import WriteampError, unknown
from writeamp.studies.sweep.tidy import ALIKE, ORIGINS, Tidy, words_of_values

MOST_HUES = 28
_SEED = "seed"
_MOST_PANELS = 12
_MOST_OWN_FACETS = 2
# Values count as logarithmic if there are at least 3, the largest is at least 4 times the smallest,
# and the logarithms of the ratios of neighbours differ by at most 5%.
_LOG_VALUES, _LOG_SPAN, _LOG_RATIO = 3, 4.0, 1.05


@dataclass(frozen=True)
class Roles:
    """Axes of a plot: the x axis, the axis that distinguishes lines, and the axes of panels."""

    x: str
    other: str | None
    facets: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all axes that have a role."""
        return (self.x, *(() if self.other is None else (self.other,)), *self.facets)


def roles_of(
    tidy: Tidy, x: str | None, other: str | None, facets: Sequence[str] | None, *, role: str
) -> Roles:
    """Return the requested roles; assign the remaining roles to the remaining axes.

    Args:
        tidy: the results.
        x: name of the x axis; by default the first numeric axis, or else the first axis.
        other: axis that distinguishes lines or rows; by default the first remaining one.
        facets: axes with a panel for each value; by default the remaining axes, up to two.
        role: name of the role of `other`, for error messages.

    Raises:
        WriteampError: no axis has the name, an axis has two roles, or an axis that varies has none.
    """
    varying = tidy.varying
    taken = [name for name in (x, other, *(facets or ())) if name is not None]
    for name in taken:
        if name not in (*tidy.settings, *ORIGINS):
            raise unknown("axis", name, varying or tidy.settings)
    twice = next((name for name in taken if taken.count(name) > 1), None)
    if twice is not None:
        raise WriteampError(f"{twice} has two roles in the plot; give it only one")
    free = [name for name in varying if name not in taken]
    if x is None:
        x = next((name for name in free if tidy.frame[name].dtype.is_numeric()), None)
        x = x or next(iter([*free, *tidy.parameters]), None)
        if x is None:
            raise WriteampError("nothing varies in these results; give the name of x")
        taken.append(x)
    hidden = _hidden(tidy, varying, taken)
    if other is None and hidden:
        other, *_ = hidden
        hidden = _hidden(tidy, varying, [*taken, other])
    if facets is None and len(hidden) <= _MOST_OWN_FACETS:
        facets = tuple(hidden)
        hidden = []
    if hidden:
        raise _hides(tidy, hidden, role)
    roles = Roles(x, other, tuple(facets or ()))
    check_alike(tidy, roles.names)
    _check_sizes(tidy, roles, role)
    return roles


def check_alike(tidy: Tidy, names: Sequence[str]) -> None:
    """Reject experiments that differ although they have the same values of the given axes.

    This occurs if a parameter of a spec is an axis of one sweep but not of another, or if a file
    was changed between two sweeps.

    Raises:
        WriteampError: experiments with the same values differ.
    """
    if _hidden(tidy, (ALIKE,), names):
        hidden = _hidden(tidy, tidy.settings, (*names, _SEED))
        if not hidden:
            raise WriteampError(
                "a trace or device profile was changed between sweeps, so that results with the "
                "same settings are of different experiments; select one sweep by its file (--of "
                "FILE.toml)"
            )
        raise _hides(tidy, hidden, "hue")


def panels_of(tidy: Tidy, facets: Sequence[str]) -> list[dict[str, Any]]:
    """Return the facet axes' values in each panel, in order; one panel without facets."""
    if not facets:
        return [{}]
    combinations = tidy.frame.select(facets).unique(maintain_order=True)
    order = [{value: index for index, value in enumerate(tidy.values(name))} for name in facets]

    def place(row: tuple[Any, ...]) -> tuple[int, ...]:
        return tuple(
            order_of_value.get(value, -1) for order_of_value, value in zip(order, row, strict=True)
        )

    return [dict(zip(facets, row, strict=True)) for row in sorted(combinations.rows(), key=place)]


def is_log(values: Iterable[Any]) -> bool:
    """Return whether consecutive numbers have equal ratios, as in a log range."""
    numbers = [value for value in values if isinstance(value, int | float)]
    if len(numbers) < _LOG_VALUES or numbers[0] <= 0 or numbers[-1] < _LOG_SPAN * numbers[0]:
        return False
    ratios = [math.log(b / a) for a, b in pairwise(numbers)]
    return max(ratios) <= _LOG_RATIO * min(ratios)


def _hidden(tidy: Tidy, names: Sequence[str], fixed: Sequence[str]) -> list[str]:
    """Return the names that vary among rows with equal values of the `fixed` names."""
    rest = [name for name in names if name not in fixed]
    if not rest or tidy.frame.is_empty():
        return []
    counts = tidy.frame.group_by(fixed).agg(pl.col(name).n_unique() for name in rest)
    most = counts.select(pl.col(rest).max()).row(0)
    return [name for name, count in zip(rest, most, strict=True) if count > 1]


def _hides(tidy: Tidy, hidden: Sequence[str], role: str) -> WriteampError:
    each = "; ".join(f"{name}: {words_of_values(tidy.values(name))}" for name in hidden)
    verb = "varies" if len(hidden) == 1 else "vary"
    return WriteampError(
        f"{', '.join(hidden)} {verb} too, which a mean would hide; make each of them x, {role} or "
        f"a facet, or fix it by where NAME=VALUE ({each})"
    )


def _check_sizes(tidy: Tidy, roles: Roles, role: str) -> None:
    if role == "hue" and roles.other and len(tidy.values(roles.other)) > MOST_HUES:
        raise WriteampError(
            f"{roles.other} has {len(tidy.values(roles.other))} values, but a plot can show at "
            f"most {MOST_HUES} lines; fix some by where NAME=VALUE, or give another hue"
        )
    panels = len(panels_of(tidy, roles.facets))
    if panels > _MOST_PANELS:
        raise WriteampError(
            f"facet {' and '.join(roles.facets)} makes {panels} panels, but at most {_MOST_PANELS} "
            "are possible; fix one by where NAME=VALUE"
        )
