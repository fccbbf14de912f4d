"""Figures of a trained model, of its predictions and errors, and its HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.learn.blackbox.explanation import (
    Explanation,
    Response,
    Rules,
    explained,
    responses,
    strongest,
)
from writeamp.learn.blackbox.predictions import HeldOut, Predictions
from writeamp.learn.blackbox.training import BlackBox
from writeamp.pages.frame import page
from writeamp.plots.figures.blackbox import (
    Compared,
    curves_with_intervals,
    importances,
    measured_against_predicted,
)
from writeamp.plots.output import inline_svg
from writeamp.plots.spec import FigureSpec
from writeamp.text import html_text

F64 = npt.NDArray[np.float64]

_KIB = 1024
# Greatest number of points in a panel: more would hide each other and make the file large.
_MOST_POINTS = 3000


def comparison(model: BlackBox, parts: Sequence[HeldOut], rows: str) -> FigureSpec:
    """Return a figure of measured values (x axis) and predicted values (y axis).

    `rows` is a text about the rows, for the subtitle.
    """
    return measured_against_predicted(
        [_compared(sample) for sample in parts],
        title=f"Measured and predicted{_of(model)}",
        subtitle=f"{_kind(model)} · {rows}",
    )


def response_curves(
    model: BlackBox, target: str, responses: Sequence[Response], workload: str
) -> FigureSpec:
    """Return a figure of one target with a panel for each characteristic that varies.

    In each panel, all other characteristics stay as in `workload`, which the subtitle names.
    """
    curves = [
        response.predictions[target].curve(*_worded(response.characteristic, response.x))
        for response in responses
    ]
    return curves_with_intervals(
        curves,
        title=f"How {target} responds{_of(model)}",
        subtitle=f"{_kind(model)} · all other characteristics as in {workload}",
        level=model.level,
    )


def forecast(
    model: BlackBox, windows: pl.DataFrame, predictions: Mapping[str, Predictions], trace: str
) -> FigureSpec:
    """Return a figure of each target's predictions by time in the trace, in s."""
    seconds = windows["start_s"].to_list()
    return curves_with_intervals(
        [prediction.curve("time (s)", seconds) for prediction in predictions.values()],
        title=f"Predicted for {trace}{_of(model)}",
        subtitle=f"{_kind(model)} · {windows.height} windows with requests",
        level=model.level,
    )


def importance_bars(model: BlackBox, explanation: Explanation) -> FigureSpec | None:
    """Return bars of each feature's importance for one target, or None if the model has none."""
    if explanation.importances is None:
        return None
    return importances(
        list(explanation.importances),
        list(explanation.importances.values()),
        target=explanation.target,
        title=f"Features that decide {explanation.target}{_of(model)}",
        subtitle=_kind(model),
    )


def _of(model: BlackBox) -> str:
    return f": {model.drive}" if model.drive else ""


def _kind(model: BlackBox) -> str:
    return f"{model.model}, {model.features} features"


def _worded(characteristic: str, x: F64) -> tuple[str, Sequence[float]]:
    """Return the label and values of an axis, with bytes in KiB."""
    words = characteristic.removesuffix("_bytes").replace("_", " ")
    if characteristic.endswith("_bytes"):
        return f"{words} (KiB)", (x / _KIB).tolist()
    return words, x.tolist()


def _compared(sample: HeldOut) -> Compared:
    every = max(-(-len(sample.observed) // _MOST_POINTS), 1)
    observed, predicted = sample.observed[::every].tolist(), sample.value[::every].tolist()
    return Compared(sample.target, observed, predicted, sample.score.mre)


# Limit of characters of all rules together, so that the page is small enough for e-mail.
_MOST_CHARACTERS = 250_000
# Limit of response curves for each target, so that the page stays small.
_MOST_CURVES = 8


def model_page(model: BlackBox, workload: pl.DataFrame, named: str) -> bytes:
    """Return the model's HTML page, which needs no other files.

    Args:
        model: a trained model.
        workload: one row with the values of the characteristics that stay constant as one varies.
        named: name of the workload on the page.

    Raises:
        WriteampError: a characteristic that the features need is missing.
    """
    title = f"Black-box model of {model.drive or 'a drive'}"
    return page(title, "\n".join(_parts(model, workload, named, title)))


def _parts(model: BlackBox, workload: pl.DataFrame, named: str, title: str) -> Iterator[str]:
    yield f"<main><h1>{html_text(title)}</h1>\n<p>{html_text(_introduction(model))}</p>"
    yield _ranges(model)
    curves_of_all = responses(model, workload)
    left = _MOST_CHARACTERS // len(model.estimators)
    for target in model.estimators:
        explanation = explained(model, target)
        yield f"<h2>{html_text(target)}</h2>"
        bars = importance_bars(model, explanation)
        yield (
            "<p>This kind of model has no feature importances.</p>"
            if bars is None
            else _image(bars)
        )
        curves = strongest(curves_of_all, target, _MOST_CURVES)
        if curves:
            yield _image(response_curves(model, target, curves, named))
        yield from _rules(explanation, left)
    yield "</main>"


def _introduction(model: BlackBox) -> str:
    joint = (
        " Latency, bandwidth and throughput are each the median of the predictions of their three "
        "models, related by Little's law."
        if model.is_joint
        else ""
    )
    return (
        f"A model of the kind {model.model} with the {model.features} features. Bands are "
        "prediction intervals, which contain the measured values of "
        f"{model.level:.0%} of unseen workloads.{joint}"
    )


def _ranges(model: BlackBox) -> str:
    rows = "".join(
        f"<tr><td>{html_text(name)}</td><td>{limits.low:g}</td><td>{limits.typical:g}</td>"
        f"<td>{limits.high:g}</td></tr>"
        for name, limits in model.ranges.items()
    )
    head = (
        "<tr><th>characteristic in training rows</th><th>least</th><th>median</th>"
        "<th>greatest</th></tr>"
    )
    return f"<table>{head}{rows}</table>"


def _rules(explanation: Explanation, most: int) -> Iterator[str]:
    for rules in explanation.rules:
        of = f" for {rules.name}" if rules.name else ""
        heading = f"Rules{of}: {rules.leaves} leaves"
        text = html_text(_cut(rules, most // len(explanation.rules)))
        yield f"<details><summary>{html_text(heading)}</summary><pre>{text}</pre></details>"


def _cut(rules: Rules, most: int) -> str:
    if len(rules.text) <= most:
        return rules.text
    shortened = rules.text[:most].rpartition("\n")[0]
    left = rules.text.count("\n") - shortened.count("\n") - 1
    return f"{shortened}\n… and {left} more lines, shown by `writeamp blackbox explain --json`"


def _image(figure: FigureSpec) -> str:
    return f"<figure>{inline_svg(figure, has_titles=True)}</figure>"
