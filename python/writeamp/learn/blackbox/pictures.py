"""Figures of a trained model, of its predictions and errors, and the HTML page on it."""

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
# So many points of a panel are drawn at most: more hide each other, and fill a file.
_MOST_POINTS = 3000


def comparison(model: BlackBox, parts: Sequence[HeldOut], rows: str) -> FigureSpec:
    """Describe what was measured against what was predicted; `rows` says of which rows."""
    return measured_against_predicted(
        [_compared(part) for part in parts],
        title=f"Measured and predicted{_of(model)}",
        subtitle=f"{_kind(model)} · {rows}",
    )


def response_curves(
    model: BlackBox, target: str, found: Sequence[Response], workload: str
) -> FigureSpec:
    """Describe how one target responds to each characteristic, the others as in a workload."""
    curves = [one.predictions[target].curve(*_worded(one.characteristic, one.x)) for one in found]
    return curves_with_intervals(
        curves,
        title=f"How {target} responds{_of(model)}",
        subtitle=f"{_kind(model)} · all else as in {workload}",
        level=model.level,
    )


def forecast(
    model: BlackBox, windows: pl.DataFrame, said: Mapping[str, Predictions], trace: str
) -> FigureSpec:
    """Describe the predictions over the time of a trace."""
    seconds = windows["start_s"].to_list()
    return curves_with_intervals(
        [one.curve("time (s)", seconds) for one in said.values()],
        title=f"Predicted for {trace}{_of(model)}",
        subtitle=f"{_kind(model)} · {windows.height} windows with requests",
        level=model.level,
    )


def importance_bars(model: BlackBox, found: Explanation) -> FigureSpec | None:
    """Describe what matters to one target; None if this kind of model does not say."""
    if found.importances is None:
        return None
    return importances(
        list(found.importances),
        list(found.importances.values()),
        target=found.target,
        title=f"What decides {found.target}{_of(model)}",
        subtitle=_kind(model),
    )


def _of(model: BlackBox) -> str:
    return f": {model.drive}" if model.drive else ""


def _kind(model: BlackBox) -> str:
    return f"{model.model}, {model.features} features"


def _worded(characteristic: str, x: F64) -> tuple[str, Sequence[float]]:
    """Return a characteristic as an axis says it, bytes in KiB."""
    words = characteristic.removesuffix("_bytes").replace("_", " ")
    if characteristic.endswith("_bytes"):
        return f"{words} (KiB)", (x / _KIB).tolist()
    return words, x.tolist()


def _compared(part: HeldOut) -> Compared:
    every = max(-(-len(part.observed) // _MOST_POINTS), 1)
    observed, predicted = part.observed[::every].tolist(), part.value[::every].tolist()
    return Compared(part.target, observed, predicted, part.score.mre)


# Of all rules together, so that the page stays small enough to be sent.
_MOST_CHARACTERS = 250_000
# Of each target, for the same reason.
_MOST_CURVES = 8


def model_page(model: BlackBox, workload: pl.DataFrame, named: str) -> bytes:
    """Return the page, which needs nothing beside itself.

    Args:
        model: a trained model.
        workload: one row of characteristics, at which the others stay as one varies.
        named: what the page calls it.

    Raises:
        WriteampError: a characteristic that the features need is missing.
    """
    title = f"Black-box model of {model.drive or 'a drive'}"
    return page(title, "\n".join(_parts(model, workload, named, title)))


def _parts(model: BlackBox, workload: pl.DataFrame, named: str, title: str) -> Iterator[str]:
    yield f"<main><h1>{html_text(title)}</h1>\n<p>{html_text(_introduction(model))}</p>"
    yield _ranges(model)
    found = responses(model, workload)
    left = _MOST_CHARACTERS // len(model.estimators)
    for target in model.estimators:
        one = explained(model, target)
        yield f"<h2>{html_text(target)}</h2>"
        bars = importance_bars(model, one)
        yield "<p>This kind of model has no importances.</p>" if bars is None else _image(bars)
        curves = strongest(found, target, _MOST_CURVES)
        if curves:
            yield _image(response_curves(model, target, curves, named))
        yield from _rules(one, left)
    yield "</main>"


def _introduction(model: BlackBox) -> str:
    joint = (
        " Latency, bandwidth and throughput are each the median of what their three models say, by "
        "Little's law."
        if model.is_joint
        else ""
    )
    return (
        f"A {model.model} on the {model.features} features. Bands are the intervals in which "
        f"{model.level:.0%} of unseen workloads lie.{joint}"
    )


def _ranges(model: BlackBox) -> str:
    rows = "".join(
        f"<tr><td>{html_text(name)}</td><td>{one.low:g}</td><td>{one.typical:g}</td>"
        f"<td>{one.high:g}</td></tr>"
        for name, one in model.ranges.items()
    )
    head = "<tr><th>trained on</th><th>least</th><th>median</th><th>greatest</th></tr>"
    return f"<table>{head}{rows}</table>"


def _rules(found: Explanation, most: int) -> Iterator[str]:
    for one in found.rules:
        of = f" for {one.name}" if one.name else ""
        heading = f"Rules{of}: {one.leaves} leaves"
        text = html_text(_cut(one, most // len(found.rules)))
        yield f"<details><summary>{html_text(heading)}</summary><pre>{text}</pre></details>"


def _cut(rules: Rules, most: int) -> str:
    if len(rules.text) <= most:
        return rules.text
    kept = rules.text[:most].rpartition("\n")[0]
    left = rules.text.count("\n") - kept.count("\n") - 1
    return f"{kept}\n… and {left} more lines, which `writeamp blackbox explain --json` has"


def _image(figure: FigureSpec) -> str:
    return f"<figure>{inline_svg(figure, has_titles=True)}</figure>"
