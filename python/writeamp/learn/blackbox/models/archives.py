"""Conversion of scikit-learn baselines to text and back, as archives of the skops library.

An archive is read as plain data; loading it imports, creates and runs no object that it names.
Baselines are rebuilt from its numbers, because scikit-learn's compiled code does not check its
input. The learners define the allowed classes and how to restore them.
"""

from __future__ import annotations

import base64
import inspect
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from zipfile import ZIP_STORED, ZipFile

import numpy as np
import numpy.typing as npt
import skops.io
from sklearn.base import BaseEstimator

from writeamp.errors import WriteampError
from writeamp.learn.blackbox.models.learners import MODELS

_RESTORES = {
    f"{kind.__module__}.{kind.__qualname__}": (kind, restore)
    for learner in MODELS.values()
    for kind, restore in learner.restores.items()
}
_FUNCTIONS = {"numpy.log": np.log, "numpy.exp": np.exp}


def packed(model: BaseEstimator) -> str:
    """Return a model of scikit-learn as text.

    Raises:
        WriteampError: the model holds objects that `unpacked` would reject.
    """
    data = skops.io.dumps(model)
    _rebuilt(read_archive(data))
    return base64.b64encode(data).decode("ascii")


def unpacked(text: str) -> Any:
    """Return the model that `packed` wrote.

    Raises:
        WriteampError: the text holds other types than the baselines do, or inconsistent numbers.
        ValueError: the text is not one of `packed`.
    """
    model = _rebuilt(read_archive(base64.b64decode(text, validate=True)))
    if not isinstance(model, BaseEstimator):
        raise WriteampError("the archive in the saved model does not hold a model")
    return model


def _rebuilt(value: Any) -> Any:
    """Replace archived estimators and functions by objects; return other values unchanged."""
    if isinstance(value, (list, tuple)):
        return type(value)(_rebuilt(item) for item in value)
    if not isinstance(value, Archived):
        return value
    if value.path in _FUNCTIONS:
        return _FUNCTIONS[value.path]
    if value.path not in _RESTORES:
        raise WriteampError(f"a model with {value.path} cannot be saved or loaded safely")
    kind, restore = _RESTORES[value.path]
    state = value.attributes
    parameters = [name for name in inspect.signature(kind).parameters if name in state]
    model = kind(**{name: _parameter(state[name]) for name in parameters})
    restore(model, state, _rebuilt)
    if "feature_names_in_" in state:
        names = list(state["feature_names_in_"])
        if len(names) != model.n_features_in_ or not all(isinstance(name, str) for name in names):
            raise WriteampError(
                f"the saved model must have {model.n_features_in_} names of features"
            )
        model.feature_names_in_ = np.array(names, dtype=object)
    return model


def _parameter(value: Any) -> Any:
    if isinstance(value, dict | np.ndarray):
        raise WriteampError(
            "the saved model has a parameter that is not a number, text or estimator"
        )
    return _rebuilt(value)


ArchiveNode: TypeAlias = Mapping[str, Any]
Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Archived:
    """Function or object in an archive.

    Attributes:
        path: module and name of the function, or of the object's class.
        attributes: attributes of the object; empty for kinds of objects that do not affect a
            baseline's predictions.
    """

    path: str
    attributes: Mapping[str, Any] = field(default_factory=dict)


def read_archive(data: bytes) -> Any:
    """Return the content of an archive: numbers, texts, lists, tables, arrays and `Archived`.

    Memory is proportional to the archive, even if it declares larger sizes.

    Raises:
        WriteampError: the archive is not valid or is compressed, or an array has other elements
            than plain numbers.
    """
    try:
        with ZipFile(io.BytesIO(data)) as file:
            members = file.infolist()
            is_stored = all(member.compress_type == ZIP_STORED for member in members)
            if not is_stored or sum(member.file_size for member in members) > len(data):
                raise WriteampError(
                    "its archive is compressed or damaged; saved models are not compressed"
                )
            arrays = {
                member.filename: _array(file.read(member))
                for member in members
                if member.filename.endswith(".npy")
            }
            return _value(json.loads(file.read("schema.json")), arrays)
    except WriteampError:
        raise
    except Exception as error:  # zipfile, json and NumPy raise many types for damaged content
        raise WriteampError(
            f"the archive in the saved model cannot be read ({type(error).__name__})"
        ) from None


def _value(node: ArchiveNode, arrays: Arrays) -> Any:
    read = _READERS.get(node["__loader__"])
    return Archived(_path(node)) if read is None else read(node, arrays)


def _list(node: ArchiveNode, arrays: Arrays) -> list[Any]:
    return [_value(item, arrays) for item in node.get("content") or []]


def _table(node: ArchiveNode, arrays: Arrays) -> dict[str, Any]:
    return {name: _value(item, arrays) for name, item in (node.get("content") or {}).items()}


def _numbers(node: ArchiveNode, arrays: Arrays) -> Any:
    """Return an array of numbers; an array of texts becomes a list, as skops stores it as JSON."""
    return _list(node, arrays) if node["type"] == "json" else arrays[node["file"]]


def _object(node: ArchiveNode, arrays: Arrays) -> Archived:
    attributes = _value(node["content"], arrays) if node.get("content") else None
    return Archived(_path(node), attributes or {})


def _path(node: ArchiveNode) -> str:
    return f"{node['__module__']}.{node['__class__']}"


_READERS: Mapping[str, Callable[[ArchiveNode, Arrays], Any]] = {
    "JsonNode": lambda node, _: json.loads(str(node["content"])),
    "ListNode": _list,
    "TupleNode": lambda node, arrays: tuple(_list(node, arrays)),
    "DictNode": _table,
    "NdArrayNode": _numbers,
    "ObjectNode": _object,
    "TreeNode": _object,
}


def _array(content: bytes) -> npt.NDArray[Any]:
    """Return an array in NumPy's format; its header is checked before memory is allocated."""
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[version]
    shape, is_fortran, dtype = read(file)
    left = content[file.tell() :]
    # Python integers do not overflow, even if a damaged header declares a huge shape.
    size = int(np.prod(np.array(shape, dtype=object), initial=1)) * dtype.itemsize
    if dtype.hasobject or dtype.itemsize == 0 or min(shape, default=1) < 0 or size != len(left):
        raise WriteampError(
            "an array of the saved model is damaged: it must hold plain numbers, as many as its "
            "header states"
        )
    values = np.frombuffer(left, dtype=dtype)
    return values.reshape(shape, order="F" if is_fortran else "C").copy(order="C")
