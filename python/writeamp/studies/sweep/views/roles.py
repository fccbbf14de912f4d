"""Roles of axes in a picture: x, hue and facets; nothing is averaged over but replicas."""

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
# A range is logarithmic from so many values on, over so much, at ratios that differ by so little.
_LOG_VALUES, _LOG_SPAN, _LOG_RATIO = 3, 4.0, 1.05


@dataclass(frozen=True)
class Roles:
    """The axes of a picture: what runs along x, what else tells points apart, and the panels."""

    x: str
    other: str | None
    facets: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all axes that have a role."""
        return (self.x, *(() if self.other is None else (self.other,)), *self.facets)


def roles_of(
    tidy: Tidy, x: str | None, other: str | None, facets: Sequence[str] | None, *, part: str
) -> Roles:
    """Return the roles that are asked for; the axes that are left take those left out.

    Args:
        tidy: the results.
        x: what runs along the x axis; by default the first axis that has numbers.
        other: what else tells points apart; by default the first axis left.
        facets: what has panels; by default all axes left.
        part: what `other` is called, for errors.

    Raises:
        WriteampError: there is no such axis, one has two parts, or an axis is left without any.
    """
    varying = tidy.varying
    taken = [one for one in (x, other, *(facets or ())) if one is not None]
    for name in taken:
        if name not in (*tidy.settings, *ORIGINS):
            raise unknown("axis", name, varying or tidy.settings)
    twice = next((name for name in taken if taken.count(name) > 1), None)
    if twice is not None:
        raise WriteampError(f"{twice} is given two parts in the picture; give it only one")
    free = [name for name in varying if name not in taken]
    if x is None:
        x = next((name for name in free if tidy.frame[name].dtype.is_numeric()), None)
        x = x or next(iter([*free, *tidy.parameters]), None)
        if x is None:
            raise WriteampError("nothing varies in these results; name what x is")
        taken.append(x)
    hidden = _hidden(tidy, varying, taken)
    if other is None and hidden:
        other, *_ = hidden
        hidden = _hidden(tidy, varying, [*taken, other])
    if facets is None and len(hidden) <= _MOST_OWN_FACETS:
        facets = tuple(hidden)
        hidden = []
    if hidden:
        raise _hides(tidy, hidden, part)
    roles = Roles(x, other, tuple(facets or ()))
    check_alike(tidy, roles.names)
    _check_sizes(tidy, roles, part)
    return roles


def check_alike(tidy: Tidy, names: Sequence[str]) -> None:
    """Refuse experiments that differ though all of some axes are fixed.

    So do parameters of a spec that are axes of one sweep and no axes of another, and files that
    were changed between two sweeps.

    Raises:
        WriteampError: so they are.
    """
    if _hidden(tidy, (ALIKE,), names):
        hidden = _hidden(tidy, tidy.settings, (*names, _SEED))
        if not hidden:
            raise WriteampError(
                "a trace or a device profile was changed between sweeps, so that results with the "
                "same settings are of different experiments; show those of one sweep by its file "
                "(--of FILE.toml)"
            )
        raise _hides(tidy, hidden, "hue")


def panels_of(tidy: Tidy, facets: Sequence[str]) -> list[dict[str, Any]]:
    """Return the values of the facets in each panel, in order; one panel if there is none."""
    if not facets:
        return [{}]
    found = tidy.frame.select(facets).unique(maintain_order=True)
    order = [{value: at for at, value in enumerate(tidy.values(name))} for name in facets]

    def place(row: tuple[Any, ...]) -> tuple[int, ...]:
        return tuple(known.get(value, -1) for known, value in zip(order, row, strict=True))

    return [dict(zip(facets, row, strict=True)) for row in sorted(found.rows(), key=place)]


def is_log(values: Iterable[Any]) -> bool:
    """Return whether numbers rise at equal ratios, as those of a log range do."""
    found = [value for value in values if isinstance(value, int | float)]
    if len(found) < _LOG_VALUES or found[0] <= 0 or found[-1] < _LOG_SPAN * found[0]:
        return False
    ratios = [math.log(b / a) for a, b in pairwise(found)]
    return max(ratios) <= _LOG_RATIO * min(ratios)


def _hidden(tidy: Tidy, names: Sequence[str], fixed: Sequence[str]) -> list[str]:
    """Return those of some names that still vary where others are fixed."""
    rest = [name for name in names if name not in fixed]
    if not rest or tidy.frame.is_empty():
        return []
    counts = tidy.frame.group_by(fixed).agg(pl.col(name).n_unique() for name in rest)
    most = counts.select(pl.col(rest).max()).row(0)
    return [name for name, count in zip(rest, most, strict=True) if count > 1]


def _hides(tidy: Tidy, hidden: Sequence[str], part: str) -> WriteampError:
    each = "; ".join(f"{name}: {words_of_values(tidy.values(name))}" for name in hidden)
    verb = "varies" if len(hidden) == 1 else "vary"
    return WriteampError(
        f"{', '.join(hidden)} {verb} too, and a mean over different experiments would hide that: "
        f"make each of them x, {part} or a facet, or fix it by where NAME=VALUE ({each})"
    )


def _check_sizes(tidy: Tidy, roles: Roles, part: str) -> None:
    if part == "hue" and roles.other and len(tidy.values(roles.other)) > MOST_HUES:
        raise WriteampError(
            f"{roles.other} has {len(tidy.values(roles.other))} values, and a picture tells "
            f"{MOST_HUES} lines apart; fix some with where NAME=VALUE, or name another hue"
        )
    panels = len(panels_of(tidy, roles.facets))
    if panels > _MOST_PANELS:
        raise WriteampError(
            f"facet {' and '.join(roles.facets)} makes {panels} panels, and a picture has at most "
            f"{_MOST_PANELS}; fix one with where NAME=VALUE"
        )
