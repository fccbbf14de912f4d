"""Figure of a Pareto front of two or three objectives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from writeamp.plots.spec import Line, Panel, PanelChart
from writeamp.plots.style import FAINT, INK, MUTED, panels_apart, series_color

FRONT, NEAR, DOMINATED = "on the front", "perhaps on it (95% intervals)", "dominated"


@dataclass(frozen=True)
class ParetoPoint:
    """Values of one choice in each objective, and its standing.

    The standing is `FRONT`, `NEAR` or `DOMINATED`.
    """

    label: str
    values: tuple[float, ...]
    standing: str


def pareto_front(
    candidates: Sequence[ParetoPoint],
    *,
    labels: Sequence[tuple[str, str]],
    kinds: Sequence[str],
    maximizes: Sequence[bool],
    log: Sequence[bool],
    title: str,
    subtitle: str,
) -> PanelChart:
    """Describe candidates in a panel for each two objectives.

    With two objectives the front is a line of steps.

    Args:
        candidates: at least one, all with as many values as there are objectives.
        labels: what the objectives are, for an x axis and for a y axis.
        kinds: the labels of candidates, in the order of their colours.
        maximizes: whether more of each is better.
        log: whether the axis of each is logarithmic.
        title: what is shown.
        subtitle: what all candidates have in common.
    """
    pairs = list(combinations(range(len(labels)), 2))
    panels = tuple(
        Panel(
            "",
            (
                *(_steps(candidates, x, y, maximizes) if len(labels) == 2 else ()),
                *_marks(candidates, kinds, x, y),
            ),
            x_label=_worded(*labels[x], maximizes[x], is_upright=len(pairs) > 1),
            y_label=_worded(*labels[y], maximizes[y], is_upright=True),
            x_log=log[x],
            y_log=log[y],
            from_zero=False,
        )
        for x, y in pairs
    )
    return panels_apart(title, subtitle, panels, columns=len(panels))


def _worded(flat: str, upright: str, maximizes: bool, *, is_upright: bool) -> str:
    words = "→ more is better" if maximizes else "← less is better"
    return f"{upright}\n{words}" if is_upright else f"{flat} {words}"


def _marks(candidates: Sequence[ParetoPoint], kinds: Sequence[str], x: int, y: int) -> list[Line]:
    found = []
    for index, kind in enumerate(kinds):
        color = series_color(index)
        of_kind = [one for one in candidates if one.label == kind]
        for is_dominated, opacity in ((True, 0.35), (False, 1.0)):
            places = [one.values for one in of_kind if (one.standing == DOMINATED) == is_dominated]
            if places:
                x_places, y_places = [at[x] for at in places], [at[y] for at in places]
                found.append(
                    Line(
                        x_places, y_places, color, 0.0, opacity, label=kind or None, marker="circle"
                    )
                )
    for standing, color in ((NEAR, FAINT), (FRONT, INK)):
        places = [one.values for one in candidates if one.standing == standing]
        if places:
            x_places, y_places = [at[x] for at in places], [at[y] for at in places]
            found.append(Line(x_places, y_places, color, 0.0, label=standing, marker="ring"))
    return found


def _steps(
    candidates: Sequence[ParetoPoint], x: int, y: int, maximizes: Sequence[bool]
) -> tuple[Line]:
    """Return the edge of what the front dominates: each corner is the worse of both neighbours."""
    worse_x, worse_y = ((min if maximizes[at] else max) for at in (x, y))
    front = sorted((one.values[x], one.values[y]) for one in candidates if one.standing == FRONT)
    path = front[:1]
    for one, other in pairwise(front):
        path += [(worse_x(one[0], other[0]), worse_y(one[1], other[1])), other]
    return (Line([at for at, _ in path], [at for _, at in path], MUTED, 1.2),)
