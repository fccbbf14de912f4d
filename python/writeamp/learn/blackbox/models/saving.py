"""Saving of estimators: writer and reader of what each kind has learnt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from writeamp.errors import WriteampError
from writeamp.fields.domains import Domain
from writeamp.learn.blackbox.models.tree_document import numbers

Document: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Saved:
    """Writer and reader of what an estimator has learnt, beside its parameters.

    Attributes:
        estimator: its class.
        write: returns the document of a fitted one; the other argument does that for models in it.
        read: gives an unfitted one what a document says, with the inverse of that argument.
        domains: of the parameters that it is made with.
    """

    estimator: Any
    write: Callable[[Any, Callable[[Any], Document]], Document]
    read: Callable[[Any, Mapping[str, Any], Callable[[Mapping[str, Any]], Any]], None]
    domains: Mapping[str, Domain] = field(default_factory=dict)


def write_box(model: Any) -> Document:
    """Return what models of ours know of their features: their importances and ranges."""
    return {
        "importances": model.feature_importances_.tolist(),
        "box": [model.box_low_.tolist(), model.box_high_.tolist()],
    }


def read_box(model: Any, document: Mapping[str, Any]) -> None:
    """Give a model what `write_box` returned."""
    features = int(document["features"])
    model.feature_importances_ = numbers(document["importances"], features)
    model.box_low_, model.box_high_ = (numbers(end, features) for end in document["box"])


def check_names(names: Any, features: int) -> None:
    """Refuse names of features that are not one different text for each."""
    is_list = isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)
    if not is_list or len(set(names)) != len(names) or len(names) != features:
        raise WriteampError(f"its names of features are not {features} different ones")
