"""Figures of the analytic models' predictions, over a parameter or as bars."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

from writeamp.errors import WriteampError
from writeamp.plots.labels import axis_label, upright_label
from writeamp.plots.spec import BarChart, Line, LineChart
from writeamp.plots.style import bars_of, series_line


@dataclass(frozen=True)
class ModelCurve:
    """Predictions of a model over a parameter, and whether each meets the model's assumptions.

    NaN leaves a point out. If `in_domain` is empty, all predictions meet the assumptions.
    """

    name: str
    predictions: Sequence[float]
    in_domain: Sequence[bool] = ()

    def points(self, *, inside: bool) -> tuple[float, ...]:
        """Return the predictions inside or outside the assumptions, with NaN for the others."""
        held = self.in_domain or [True] * len(self.predictions)
        return tuple(
            value if holds == inside else math.nan
            for value, holds in zip(self.predictions, held, strict=True)
        )


def models_over(
    parameter: str,
    values: Sequence[float],
    curves: Sequence[ModelCurve],
    *,
    subtitle: str,
) -> LineChart:
    """Describe WA or required op over a parameter, as a line for each model.

    Args:
        parameter: parameter on the x axis: op, spare_factor, fill, pages_per_block, or target_wa.
            For target_wa the curves hold the required op, otherwise WA.
        values: values of the parameter.
        curves: the models' predictions, one for each value. Models with equal predictions share a
            line.
        subtitle: the other parameters of the drive.

    Raises:
        WriteampError: no curve has a point.
    """
    inside = _merged({curve.name: curve.points(inside=True) for curve in curves})
    outside = _merged({curve.name: curve.points(inside=False) for curve in curves})
    if not inside and not outside:
        raise WriteampError("a figure of predictions needs a model with at least one prediction")
    colors = {name: index for index, name in enumerate((*inside, *(outside.keys() - inside)))}
    lines = [_line(values, curve, name, colors[name]) for name, curve in inside.items()]
    lines += [
        _dotted(_line(values, curve, f"{name}, outside its assumptions", colors[name]))
        for name, curve in outside.items()
    ]
    inverse = parameter == "target_wa"
    return LineChart(
        title="Over-provisioning that the models require"
        if inverse
        else "Write amplification that the models predict",
        subtitle=subtitle,
        x_label=axis_label(parameter),
        y_label=upright_label("op" if inverse else "wa"),
        lines=tuple(lines),
    )


def _merged(curves: Mapping[str, tuple[float, ...]]) -> dict[str, tuple[float, ...]]:
    """Return the curves that have points; equal curves are merged and their names joined."""
    names: dict[str, tuple[str, tuple[float, ...]]] = {}
    for name, curve in curves.items():
        if not all(math.isnan(y) for y in curve):
            names_so_far, _ = names.get(str(curve), ("", curve))
            names[str(curve)] = (f"{names_so_far} = {name}" if names_so_far else name, curve)
    return dict(names.values())


def _line(values: Sequence[float], curve: Sequence[float], label: str, index: int) -> Line:
    shown = [(x, y) for x, y in zip(values, curve, strict=True) if not math.isnan(y)]
    return series_line(index, [x for x, _ in shown], [y for _, y in shown], label)


def _dotted(line: Line) -> Line:
    return replace(line, dash="dot", width_pt=1.0, opacity=0.6)


def wa_by_model(
    answers: Mapping[str, float], outside: Container[str], quantity: str, *, subtitle: str
) -> BarChart:
    """Describe the prediction of each model as a bar.

    Args:
        answers: WA or required op, by name of the model; NaN is left out.
        outside: names of models with assumptions that the drive does not meet.
        quantity: "wa" or "op".
        subtitle: the drive.

    Raises:
        WriteampError: no model has an answer.
    """
    predictions = {name: value for name, value in answers.items() if not math.isnan(value)}
    if not predictions:
        raise WriteampError("a figure of predictions needs a model with a prediction")
    return bars_of(
        {
            f"{name} (outside its assumptions)" if name in outside else name: value
            for name, value in predictions.items()
        },
        [f"{value:.4f}" for value in predictions.values()],
        label=axis_label(quantity),
        title="Uniform random writes by the analytic models",
        subtitle=subtitle,
    )
