"""The figure of what the analytic models predict over a range of one parameter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from writeamp.errors import WriteampError
from writeamp.plots.spec import Line, LineChart
from writeamp.plots.style import WA_LABEL, WA_UNIT, series_color, series_dash

_WA_AXIS = f"{WA_LABEL}\n({WA_UNIT})"
_OP_AXIS = "op = (T-U)/U (T physical, U logical pages)"

_X_LABELS = {
    "op": _OP_AXIS,
    "spare_factor": "spare factor (T-U)/T (T physical, U logical pages)",
    "fill": "fill U/T (T physical, U logical pages)",
    "pages_per_block": "pages per block",
    "target_wa": f"{WA_LABEL} ({WA_UNIT})",
}


def models_over(
    parameter: str,
    values: Sequence[float],
    curves: Mapping[str, Sequence[float]],
    *,
    subtitle: str,
) -> LineChart:
    """Describe predictions as one line a model.

    Args:
        parameter: what runs along the x axis: op, spare_factor, fill, pages_per_block, or
            target_wa; the curves hold the required op for target_wa and else WA.
        values: the parameter's values.
        curves: predictions by the model's name, one for each value; NaN leaves a point out.
            Models whose predictions are all equal share a line.
        subtitle: the other parameters of the drive.

    Raises:
        WriteampError: no curve has a point.
    """
    merged: dict[tuple[float, ...], list[str]] = {}
    for name, curve in curves.items():
        if not all(math.isnan(y) for y in curve):
            merged.setdefault(tuple(curve), []).append(name)
    if not merged:
        raise WriteampError("a figure of predictions needs a model that predicts some point")
    lines = tuple(
        _line(values, curve, " = ".join(names), index)
        for index, (curve, names) in enumerate(merged.items())
    )
    inverse = parameter == "target_wa"
    return LineChart(
        title="Over-provisioning that the models require"
        if inverse
        else "Write amplification that the models predict",
        subtitle=subtitle,
        x_label=_X_LABELS[parameter],
        y_label=_OP_AXIS if inverse else _WA_AXIS,
        lines=lines,
    )


def _line(values: Sequence[float], curve: Sequence[float], label: str, index: int) -> Line:
    shown = [(x, y) for x, y in zip(values, curve, strict=True) if not math.isnan(y)]
    return Line(
        [x for x, _ in shown],
        [y for _, y in shown],
        series_color(index),
        dash=series_dash(index),
        label=label,
    )
