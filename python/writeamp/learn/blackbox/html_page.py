"""HTML page on a trained model: what matters, how it responds, and its rules."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from writeamp.learn.blackbox.explanation import Explanation, Rules, explained, responses, strongest
from writeamp.learn.blackbox.pictures import importance_bars, response_curves
from writeamp.learn.blackbox.training import BlackBox
from writeamp.pages.frame import page
from writeamp.plots.output import inline_svg
from writeamp.plots.spec import FigureSpec
from writeamp.text import html_text

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
