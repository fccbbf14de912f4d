"""Trained models in files: JSON with a version and a checksum; loading runs no code from it."""

from __future__ import annotations

import json
import math
import os
import zlib
from dataclasses import asdict
from typing import Any

from writeamp.errors import WriteampError
from writeamp.fields.domains import BELOW_ONE
from writeamp.files import inputs
from writeamp.files.output import AnyPath, replacing
from writeamp.learn.blackbox.features.feature_sets import find_feature_set
from writeamp.learn.blackbox.formulas.of_profiles import NONE
from writeamp.learn.blackbox.littles_law import RELATED
from writeamp.learn.blackbox.measurements import TARGETS
from writeamp.learn.blackbox.model_kinds import check_installed
from writeamp.learn.blackbox.models.conformal import ConformalRegressor
from writeamp.learn.blackbox.models.documents import RAISED_BY_DOCUMENTS, from_document, to_document
from writeamp.learn.blackbox.models.learner import ModelDocument, numbers
from writeamp.learn.blackbox.ranges import Range
from writeamp.learn.blackbox.training import BlackBox
from writeamp.results.numbers import json_number

_FORMAT = "writeamp black-box model"
_VERSION = 1
_MOST_BYTES = 256 << 20


def save(model: BlackBox, path: AnyPath) -> None:
    """Write a trained model to a file, from which `load` restores it exactly.

    Raises:
        WriteampError: the model cannot be saved, or the file cannot be written.
    """
    content = _text(
        {
            "drive": model.drive,
            "features": model.features,
            "model": model.model,
            "level": model.level,
            "is_joint": model.is_joint,
            "ranges": {name: asdict(value) for name, value in model.ranges.items()},
            "unseen_mre": model.unseen_mre,
            "between_mre": {name: json_number(mre) for name, mre in model.between_mre.items()},
            "prior": model.prior,
            "across": None if model.across is None else list(model.across),
            "estimators": {name: to_document(value) for name, value in model.estimators.items()},
            "trained_on": {name: sorted(marks) for name, marks in model.trained_on.items()},
        }
    )
    checksum = zlib.crc32(content.encode())
    frame = {"format": _FORMAT, "version": _VERSION, "crc32": checksum, "content": content}
    with replacing(path, "model") as file:
        file.write(_text(frame).encode())


def load(path: AnyPath) -> BlackBox:
    """Return the model in a file.

    Returns:
        `BlackBox`: `predict(rows)`, `held_out`, `estimators` by target, `features`,
        `level`.

    Raises:
        WriteampError: the file cannot be read, is not a model file, is damaged, or has a version
            that this writeamp cannot read.
    """
    name = os.fspath(path)
    try:
        text = inputs.read_bytes(name, _MOST_BYTES, "model")
        inputs.check_json(text)
        frame = json.loads(text)
    except OSError as error:
        raise WriteampError(f"cannot read model {name!r}: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise _refusal(name, "it is not JSON") from None
    if not isinstance(frame, dict) or frame.get("format") != _FORMAT:
        raise _refusal(name, f"the file's format is not {_FORMAT!r}")
    if frame.get("version") != _VERSION:
        raise _refusal(
            name,
            f"the file's version is {frame.get('version')!r}; this writeamp reads {_VERSION} only",
        )
    try:
        content = frame.get("content")
        if not isinstance(content, str) or zlib.crc32(content.encode()) != frame.get("crc32"):
            raise WriteampError("the file is damaged: its checksum does not match its content")
        return _model(json.loads(content))
    except WriteampError as error:
        raise _refusal(name, str(error)) from None
    except RAISED_BY_DOCUMENTS as error:
        raise _refusal(name, f"the file's content is not valid ({type(error).__name__})") from None


def _model(content: ModelDocument) -> BlackBox:
    check_installed(str(content["model"]))
    features = find_feature_set(str(content["features"]))
    estimators = {
        str(name): from_document(estimator) for name, estimator in content["estimators"].items()
    }
    for target, estimator in estimators.items():
        fits = isinstance(estimator, ConformalRegressor) and estimator.n_features_in_ == len(
            features.names
        )
        if target not in TARGETS or not fits:
            raise WriteampError(
                f"the saved model of {target!r} does not fit the features {features.name!r}"
            )
    trained_on = {name: frozenset(content["trained_on"][name]) for name in estimators}
    is_joint = bool(content["is_joint"])
    if not estimators or (is_joint and not set(RELATED) <= set(estimators)):
        raise WriteampError(
            f"the file is damaged: its targets are only {', '.join(estimators) or 'an empty list'}"
        )
    between = content.get("between_mre", {})  # older files lack "between_mre", "prior", "across"
    return BlackBox(
        drive=str(content["drive"]),
        features=features.name,
        model=str(content["model"]),
        level=BELOW_ONE.check("level", content["level"]),
        is_joint=is_joint,
        ranges={name: _range(content["ranges"][name]) for name in features.needs},
        unseen_mre={name: numbers([content["unseen_mre"][name]], 1).item() for name in estimators},
        between_mre={name: _or_nan(between.get(name)) for name in estimators},
        prior=str(content.get("prior", NONE)),
        across=_names(content.get("across")),
        estimators=estimators,
        trained_on=trained_on,
    )


def _or_nan(value: Any) -> float:
    return math.nan if value is None else float(value)


def _names(value: Any) -> tuple[str, ...] | None:
    return None if value is None else tuple(map(str, value))


def _range(document: ModelDocument) -> Range:
    low, typical, high = numbers([document[end] for end in ("low", "typical", "high")], 3).tolist()
    if not low <= typical <= high:
        raise WriteampError("the saved ranges are damaged: low, typical and high must ascend")
    return Range(low, typical, high)


def _text(value: Any) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def _refusal(name: str, why: str) -> WriteampError:
    return WriteampError(f"{name!r} cannot be used as a model: {why}")
