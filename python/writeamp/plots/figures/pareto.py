"""Figure of a Pareto front of two or three objectives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from writeamp.plots.spec import Line, Panel, PanelChart
from writeamp.plots.style import FAINT, INK, MUTED, panels_apart, series_color

FRONT, NEAR, DOMINATED = "on the front", "perhaps on the front (95% intervals)", "dominated"


@dataclass(frozen=True)
class ParetoPoint:
    """A candidate's value of each objective, and its standing: `FRONT`, `NEAR` or `DOMINATED`."""

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
    """Describe candidates as points, in a panel for each pair of objectives.

    With two objectives, the front is drawn as a line of steps.

    Args:
        candidates: at least one, each with a value for each objective.
        labels: labels of each objective, for an x axis and for a y axis.
        kinds: kinds of candidates, in the order of their colours.
        maximizes: for each objective, True if higher is better.
        log: for each objective, True for a logarithmic axis.
        title: of the figure.
        subtitle: settings that all candidates share.
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
    words = "→ higher is better" if maximizes else "← lower is better"
    return f"{upright}\n{words}" if is_upright else f"{flat} {words}"


def _marks(candidates: Sequence[ParetoPoint], kinds: Sequence[str], x: int, y: int) -> list[Line]:
    marks = []
    for index, kind in enumerate(kinds):
        color = series_color(index)
        of_kind = [candidate for candidate in candidates if candidate.label == kind]
        for is_dominated, opacity in ((True, 0.35), (False, 1.0)):
            places = [
                candidate.values
                for candidate in of_kind
                if (candidate.standing == DOMINATED) == is_dominated
            ]
            if places:
                x_places, y_places = (
                    [values[x] for values in places],
                    [values[y] for values in places],
                )
                marks.append(
                    Line(
                        x_places, y_places, color, 0.0, opacity, label=kind or None, marker="circle"
                    )
                )
    for standing, color in ((NEAR, FAINT), (FRONT, INK)):
        places = [candidate.values for candidate in candidates if candidate.standing == standing]
        if places:
            x_places, y_places = [values[x] for values in places], [values[y] for values in places]
            marks.append(Line(x_places, y_places, color, 0.0, label=standing, marker="ring"))
    return marks


def _steps(
    candidates: Sequence[ParetoPoint], x: int, y: int, maximizes: Sequence[bool]
) -> tuple[Line]:
    """Return the border of the dominated area, as steps between the points of the front."""
    worse_x, worse_y = ((min if maximizes[axis] else max) for axis in (x, y))
    front = sorted(
        (candidate.values[x], candidate.values[y])
        for candidate in candidates
        if candidate.standing == FRONT
    )
    path = front[:1]
    for point, next_point in pairwise(front):
        path += [(worse_x(point[0], next_point[0]), worse_y(point[1], next_point[1])), next_point]
    return (Line([x_value for x_value, _ in path], [y_value for _, y_value in path], MUTED, 1.2),)
