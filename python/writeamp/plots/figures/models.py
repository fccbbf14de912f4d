"""Figures of the analytic models' predictions: over a parameter, and side by side."""

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
    """Predictions of a model over a parameter, and whether each is in its domain.

    NaN leaves a point out; without `in_domain` all are.
    """

    name: str
    predictions: Sequence[float]
    in_domain: Sequence[bool] = ()

    def part(self, *, inside: bool) -> tuple[float, ...]:
        """Return the predictions inside the domain, or outside; NaN stands for the others."""
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
    """Describe predictions as one line a model, thin and dotted outside the model's domain.

    Args:
        parameter: what runs along the x axis: op, spare_factor, fill, pages_per_block, or
            target_wa; the curves hold the required op for target_wa and else WA.
        values: the parameter's values.
        curves: the models' predictions, one for each value. Models whose predictions are all equal
            share a line.
        subtitle: the other parameters of the drive.

    Raises:
        WriteampError: no curve has a point.
    """
    inside = _merged({curve.name: curve.part(inside=True) for curve in curves})
    outside = _merged({curve.name: curve.part(inside=False) for curve in curves})
    if not inside and not outside:
        raise WriteampError("a figure of predictions needs a model that predicts some point")
    colors = {name: index for index, name in enumerate((*inside, *(outside.keys() - inside)))}
    lines = [_line(values, curve, name, colors[name]) for name, curve in inside.items()]
    lines += [
        _dotted(_line(values, curve, f"{name}, outside its domain", colors[name]))
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
    """Return the curves that have a point, those that are equal once and by all their names."""
    names: dict[str, tuple[str, tuple[float, ...]]] = {}
    for name, curve in curves.items():
        if not all(math.isnan(y) for y in curve):
            known, _ = names.get(str(curve), ("", curve))
            names[str(curve)] = (f"{known} = {name}" if known else name, curve)
    return dict(names.values())


def _line(values: Sequence[float], curve: Sequence[float], label: str, index: int) -> Line:
    shown = [(x, y) for x, y in zip(values, curve, strict=True) if not math.isnan(y)]
    return series_line(index, [x for x, _ in shown], [y for _, y in shown], label)


def _dotted(line: Line) -> Line:
    return replace(line, dash="dot", width_pt=1.0, opacity=0.6)


def wa_by_model(
    answers: Mapping[str, float], outside: Container[str], asked: str, *, subtitle: str
) -> BarChart:
    """Describe the answer of each model as a bar.

    Args:
        answers: WA, or the op that is needed, by the model's name; NaN is left out.
        outside: the models that the drive is not made for, which say so.
        asked: "wa" or "op".
        subtitle: the drive.

    Raises:
        WriteampError: no model has an answer.
    """
    known = {name: value for name, value in answers.items() if not math.isnan(value)}
    if not known:
        raise WriteampError("a figure of predictions needs a model that answers")
    return bars_of(
        {
            f"{name} (outside its domain)" if name in outside else name: value
            for name, value in known.items()
        },
        [f"{value:.4f}" for value in known.values()],
        label=axis_label(asked),
        title="Uniform random writes by the analytic models",
        subtitle=subtitle,
    )
