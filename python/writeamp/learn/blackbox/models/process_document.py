"""Gaussian processes as documents and back, each number with all its digits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from writeamp.errors import WriteampError
from writeamp.learn.blackbox.models.coordinates import Coordinates
from writeamp.learn.blackbox.models.gaussian_process import GaussianProcessRegressor
from writeamp.learn.blackbox.models.kernels import Kernel, Part
from writeamp.learn.blackbox.models.restoring import numbers


def process_to(model: GaussianProcessRegressor) -> dict[str, Any]:
    """Return the fitted state of a process as lists of numbers."""
    coordinates, kernel = model.coordinates_, model.kernel_
    return {
        "range": [coordinates.low.tolist(), coordinates.high.tolist()],
        "units": coordinates.units.tolist(),
        "ends": [list(end) for end in coordinates.ends],
        "parts": [
            {
                "columns": part.columns.tolist(),
                "variance": part.variance,
                "lengths": part.lengths.tolist(),
            }
            for part in kernel.parts
        ],
        "noise": kernel.noise,
        "scale": [model.mean_, model.deviation_],
        "points": model.points_.tolist(),
        "weights": model.weights_.tolist(),
    }


def process_from(model: GaussianProcessRegressor, document: Mapping[str, Any]) -> None:
    """Give a process what `process_to` wrote.

    Raises:
        WriteampError: a number is not finite, or lists do not fit each other.
        KeyError, TypeError, ValueError: the document has another form.
    """
    features = int(document["features"])
    low, high = (numbers(end, features) for end in document["range"])
    ends = tuple((int(feature), float(value)) for feature, value in document["ends"])
    units = numbers(document["units"], features)
    model.coordinates_ = Coordinates(low, high, units, ends)
    width = features + len(ends)
    model.kernel_ = Kernel(
        tuple(_part(part, width) for part in document["parts"]), _positive(document["noise"])
    )
    rows = len(document["weights"])
    model.weights_ = numbers(document["weights"], rows)
    model.points_ = np.array([numbers(point, width) for point in document["points"]])
    model.mean_, model.deviation_ = numbers(document["scale"], 2).tolist()
    fits = len(model.points_) == rows > 0 and all(0 <= feature < features for feature, _ in ends)
    if not fits or (units < 0).any() or not model.kernel_.parts or model.deviation_ <= 0:
        raise WriteampError("its process does not hold together")


def _part(given: Mapping[str, Any], width: int) -> Part:
    columns = numbers(given["columns"], len(given["columns"])).astype(np.int64)
    lengths = numbers(given["lengths"], len(columns))
    if not len(columns) or not ((columns >= 0) & (columns < width)).all() or (lengths <= 0).any():
        raise WriteampError("its process does not hold together")
    return Part(columns, _positive(given["variance"]), lengths)


def _positive(given: Any) -> float:
    (found,) = numbers([given], 1).tolist()
    if found <= 0:
        raise WriteampError("its process does not hold together")
    return float(found)
