"""The sum of Gaussian processes, of writes, of reads and of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from writeamp.learn.blackbox.models.gaussian_process import GaussianProcessRegressor
from writeamp.learn.blackbox.models.learner import Learner
from writeamp.learn.blackbox.models.parameters import PROCESS
from writeamp.learn.blackbox.models.process_document import process_from, process_to
from writeamp.learn.blackbox.models.saving import Document, Saved, read_box, write_box


def parts_of(names: Sequence[str]) -> list[list[int]]:
    """Return the features of each part of a Gaussian process.

    The parts have all features but the reads', all but the writes', and all.

    What writes cost depends little on how others read, and the other way round.
    """
    both = [at for at, name in enumerate(names) if not name.startswith(("write_", "read_"))]
    both += [at for at, name in enumerate(names) if name == "write_ratio"]
    sides = [
        [*both, *(at for at, name in enumerate(names) if name.startswith(side) and at not in both)]
        for side in ("write_", "read_")
    ]
    every = list(range(len(names)))
    return [*(side for side in sides if len(side) > len(both)), every]


def _write(model: GaussianProcessRegressor, _: object) -> Document:
    return {**process_to(model), **write_box(model)}


def _read(model: GaussianProcessRegressor, document: Mapping[str, Any], _: object) -> None:
    process_from(model, document)
    read_box(model, document)


LEARNER = Learner(
    lambda is_log, names: GaussianProcessRegressor(parts=parts_of(names), log_target=is_log),
    folds_of_few=10,
    saved=Saved(GaussianProcessRegressor, _write, _read, PROCESS),
)
