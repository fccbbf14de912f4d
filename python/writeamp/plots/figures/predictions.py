"""Figure of predicted and measured WA, for example of the phases of a real drive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from writeamp.errors import WriteampError
from writeamp.plots.spec import BarChart, Line
from writeamp.plots.style import INK, WA_LABEL, series_color


class Prediction(NamedTuple):
    """Measured and predicted WA, and the ends of the predicted interval; `section` is a heading."""

    name: str
    section: str
    measured: float
    predicted: float
    low: float
    high: float


def predicted_and_measured(
    predictions: Sequence[Prediction], *, title: str, subtitle: str = ""
) -> BarChart:
    """Describe each prediction as a dot with its 90% interval, and the measured WA beside it.

    Args:
        predictions: from the top.
        title: of the figure.
        subtitle: the result in a sentence.

    Raises:
        WriteampError: `predictions` is empty.
    """
    if not predictions:
        raise WriteampError("no phase has both a measured and a predicted WA, so none is drawn")
    at = list(range(len(predictions)))
    predicted = [prediction.predicted for prediction in predictions]
    measured = [prediction.measured for prediction in predictions]
    return BarChart(
        title=title,
        subtitle=subtitle,
        x_label=f"{WA_LABEL}, with its predicted 90% interval",
        bars=tuple(prediction.name for prediction in predictions),
        layers=(),
        texts=tuple(
            f"{value / of - 1:+.1%}" for value, of in zip(predicted, measured, strict=True)
        ),
        low=tuple(prediction.low for prediction in predictions),
        high=tuple(prediction.high for prediction in predictions),
        sections=tuple(prediction.section for prediction in predictions),
        points=(
            Line(predicted, at, series_color(0), 0.0, label="predicted", marker="circle"),
            Line(measured, at, INK, 0.0, label="measured", marker="diamond"),
        ),
    )
