"""Baselines of scikit-learn as text and back, in archives of skops.

An archive is read as plain data: nothing that it names is imported, made or run. Baselines are
rebuilt from its numbers, because scikit-learn's compiled code walks what it is given without
looking. The learners say which classes, and how.
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
        WriteampError: it holds what `unpacked` would refuse.
    """
    data = skops.io.dumps(model)
    _rebuilt(read_archive(data))
    return base64.b64encode(data).decode("ascii")


def unpacked(text: str) -> Any:
    """Return the model that `packed` wrote.

    Raises:
        WriteampError: it holds other types than the baselines do, or numbers that do not fit.
        ValueError: the text is not what `packed` writes.
    """
    found = _rebuilt(read_archive(base64.b64decode(text, validate=True)))
    if not isinstance(found, BaseEstimator):
        raise WriteampError("its archive holds no model")
    return found


def _rebuilt(value: Any) -> Any:
    """Return estimators and functions for those in an archive, and other values as they are."""
    if isinstance(value, (list, tuple)):
        return type(value)(_rebuilt(item) for item in value)
    if not isinstance(value, Archived):
        return value
    if value.path in _FUNCTIONS:
        return _FUNCTIONS[value.path]
    if value.path not in _RESTORES:
        raise WriteampError(f"a model that holds {value.path} cannot be saved or loaded safely")
    kind, restore = _RESTORES[value.path]
    state = value.attributes
    parameters = [name for name in inspect.signature(kind).parameters if name in state]
    model = kind(**{name: _parameter(state[name]) for name in parameters})
    restore(model, state, _rebuilt)
    if "feature_names_in_" in state:
        names = list(state["feature_names_in_"])
        if len(names) != model.n_features_in_ or not all(isinstance(one, str) for one in names):
            raise WriteampError(f"the names of its features are not {model.n_features_in_}")
        model.feature_names_in_ = np.array(names, dtype=object)
    return model


def _parameter(value: Any) -> Any:
    if isinstance(value, dict | np.ndarray):
        raise WriteampError("it has a parameter that is no number, text or estimator")
    return _rebuilt(value)


Node: TypeAlias = Mapping[str, Any]
Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Archived:
    """Function or object in an archive.

    Attributes:
        path: module and name of the function, or of the object's class.
        attributes: of the object; none of a kind that no baseline's predictions depend on.
    """

    path: str
    attributes: Mapping[str, Any] = field(default_factory=dict)


def read_archive(data: bytes) -> Any:
    """Return what an archive holds: numbers, texts, lists, tables, arrays and `Archived`.

    Memory is in proportion to the archive, whatever sizes it declares.

    Raises:
        WriteampError: it is no such archive, it is compressed, or an array is not of plain numbers.
    """
    try:
        with ZipFile(io.BytesIO(data)) as file:
            members = file.infolist()
            is_stored = all(member.compress_type == ZIP_STORED for member in members)
            if not is_stored or sum(member.file_size for member in members) > len(data):
                raise WriteampError("its archive is compressed, which no saved model is")
            arrays = {
                member.filename: _array(file.read(member))
                for member in members
                if member.filename.endswith(".npy")
            }
            return _value(json.loads(file.read("schema.json")), arrays)
    except WriteampError:
        raise
    except Exception as error:  # zipfile, json and NumPy raise many types for damaged content
        raise WriteampError(f"its archive cannot be read ({type(error).__name__})") from None


def _value(node: Node, arrays: Arrays) -> Any:
    read = _READERS.get(node["__loader__"])
    return Archived(_path(node)) if read is None else read(node, arrays)


def _list(node: Node, arrays: Arrays) -> list[Any]:
    return [_value(item, arrays) for item in node.get("content") or []]


def _table(node: Node, arrays: Arrays) -> dict[str, Any]:
    return {name: _value(item, arrays) for name, item in (node.get("content") or {}).items()}


def _numbers(node: Node, arrays: Arrays) -> Any:
    """Return an array; texts, of which skops makes none of NumPy's, as a list."""
    return _list(node, arrays) if node["type"] == "json" else arrays[node["file"]]


def _object(node: Node, arrays: Arrays) -> Archived:
    attributes = _value(node["content"], arrays) if node.get("content") else None
    return Archived(_path(node), attributes or {})


def _path(node: Node) -> str:
    return f"{node['__module__']}.{node['__class__']}"


_READERS: Mapping[str, Callable[[Node, Arrays], Any]] = {
    "JsonNode": lambda node, _: json.loads(str(node["content"])),
    "ListNode": _list,
    "TupleNode": lambda node, arrays: tuple(_list(node, arrays)),
    "DictNode": _table,
    "NdArrayNode": _numbers,
    "ObjectNode": _object,
    "TreeNode": _object,
}


def _array(content: bytes) -> npt.NDArray[Any]:
    """Return an array in NumPy's format, whose header is checked before memory is allocated."""
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[version]
    shape, is_fortran, dtype = read(file)
    left = content[file.tell() :]
    # `prod` of Python's numbers does not overflow.
    size = int(np.prod(np.array(shape, dtype=object), initial=1)) * dtype.itemsize
    if dtype.hasobject or dtype.itemsize == 0 or min(shape, default=1) < 0 or size != len(left):
        raise WriteampError("its archive has an array that is not of plain numbers")
    found = np.frombuffer(left, dtype=dtype)
    return found.reshape(shape, order="F" if is_fortran else "C").copy(order="C")
