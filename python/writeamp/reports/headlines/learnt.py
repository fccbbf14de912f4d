"""Headlines of learnt models: black-box models and twins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from writeamp.reports.values import number, numbers, rows, table, words
from writeamp.results.numbers import four_digits, plural

_Document = Mapping[str, Any]
# Units of the targets of black-box models.
_UNITS = {"latency": " µs", "bandwidth": " MB/s", "throughput": " requests/s"}


def of_collection(document: _Document) -> str:
    """Return how many points of a measurement are done."""
    points, done, failed = (number(document, key) for key in ("points", "done", "failed"))
    if points is None or done is None or failed is None:
        return ""
    have = points - failed
    return f"{have:,.0f} of {plural(int(points), 'point')} are in {words(document, 'out')}."


def of_training(document: _Document) -> str:
    """Return the error of each target on rows that were not used for training."""
    errors = _errors(rows(document, "targets"), "unseen_mre")
    where = "rows that were not used for training"
    return f"Mean relative error on {where}: {errors}." if errors else ""


def of_evaluation(document: _Document) -> str:
    """Return the error of each target on held-out rows."""
    errors = _errors(rows(document, "metrics"), "mre")
    return f"Mean relative error on held-out rows: {errors}." if errors else ""


def _errors(targets: Sequence[_Document], key: str) -> str:
    """Return the names of targets with their relative errors, or "" if none is known."""
    return ", ".join(
        f"{words(target, 'target')} {error:.1%}"
        for target in targets
        if (error := number(target, key)) is not None
    )


def of_forecast(document: _Document) -> str:
    """Return the predictions for a workload, or the number of windows of a trace."""
    windows = rows(document, "windows")
    if windows:
        return f"Predictions for {plural(len(windows), 'window')} of the trace."
    values = [
        f"{name} {four_digits(value)}{_UNITS.get(name, '')}"
        for name in (*_UNITS, "wa")
        if (value := _predicted(document, name)) is not None
    ]
    return f"Predicted: {', '.join(values)}." if values else ""


def _predicted(document: _Document, name: str) -> float | None:
    nested = table(document, name)
    return number(nested, "value") if nested else number(document, name)


def of_choice(document: _Document) -> str:
    """Return the drive that meets the bounds best."""
    choices = rows(document, "choices")
    if not choices:
        return ""
    best = choices[0]
    name = words(best, "drive") or words(best, "model")
    meets = words(best, "meets")
    return f"Best of {plural(len(choices), 'drive')}: {name}, which meets the bounds: {meets}."


def of_twin_plan(document: _Document) -> str:
    """Return the cost of the measurement of a drive."""
    hours = number(table(document, "cost"), "hours")
    length = "" if hours is None else f", which takes about {hours:.3g} hours"
    return f"The plan of the measurement{length}, is in {words(document, 'out')}."


def of_twin_fit(document: _Document) -> str:
    """Return the most probable drive, its op, and how many windows the fit explains."""
    families, op = rows(document, "families"), _numbers_at(document, "op", "op_low", "op_high")
    if not families or op is None:
        return ""
    best = families[0]
    weight = number(best, "weight") or 0.0
    drive = f"{words(best, 'manager')}, {words(best, 'victims')} ({weight:.0%})"
    learnt = "op {:.4f} (90% interval {:.4f} to {:.4f})".format(*op)
    ends = [
        values
        for window in rows(document, "windows")
        if (values := _numbers_at(window, "wa", "fitted_low", "fitted_high")) is not None
    ]
    inside = sum(low <= wa <= high for wa, low, high in ends)
    explained = f" {inside} of {plural(len(ends), 'window')} are in the WA's 90% interval."
    return f"The most probable drive is {drive} with {learnt}.{explained if ends else ''}"


def _numbers_at(document: _Document, *keys: str) -> tuple[float, ...] | None:
    """Return the numbers of several keys; None if one is missing."""
    values = [number(document, key) for key in keys]
    return None if None in values else tuple(value for value in values if value is not None)


def of_twin_windows(document: _Document) -> str:
    """Return the number of windows that were measured on a drive."""
    windows = numbers(document, "windows")
    return f"{plural(len(windows), 'window')} measured; they are in {words(document, 'out')}."
