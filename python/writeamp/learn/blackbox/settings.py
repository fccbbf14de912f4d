"""Settings of black-box models: of training, evaluation, explanation and choice."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from writeamp.fields.domains import SHARE, Number
from writeamp.fields.setting import Settings, setting
from writeamp.learn.blackbox.features import FEATURE_SETS
from writeamp.learn.blackbox.formulas.of_profiles import AUTO, NONE
from writeamp.learn.blackbox.measurements import TARGETS
from writeamp.learn.blackbox.model_kinds import model_kinds
from writeamp.units.durations import DURATION

BOUND = Number("be above 0", lambda value: value > 0)

_BOUNDS = {"panel": "bounds"}


class _NameList:
    """Domain of names with commas between them; their users check the names."""

    def check(self, name: str, value: Any) -> list[str]:
        """Return the names."""
        return [word.strip() for word in value.split(",")]


@dataclass(frozen=True)
class TrainingSettings(Settings):
    """Targets, feature set and kind of a model to train; `train` checks the names."""

    title: ClassVar[str] = "training"

    features: str = setting(
        "extended",
        None,
        "set of features (inputs of the model, computed from the workload): "
        f"{', '.join(FEATURE_SETS)}",
        choices=tuple(FEATURE_SETS),
        metavar="NAME",
    )
    model: str = setting(
        "linear-tree",
        None,
        f"kind of model: {', '.join(model_kinds())}",
        choices=tuple(model_kinds()),
        metavar="NAME",
    )
    targets: list[str] | None = setting(
        None,
        _NameList(),
        f"targets (quantities to predict), with commas between them: {', '.join(TARGETS)}; by "
        "default all that enough rows have",
        metavar="NAMES",
    )
    prior: str = setting(
        NONE,
        None,
        f"drives whose known speed helps a model of few measurements: {NONE}; {AUTO} (all profiles "
        "of the library except the measured drive); or profiles and .toml files with commas "
        "between them, of which the .toml files are simulated first",
        choices=(NONE, AUTO),
        metavar="NAMES",
    )
    level: float = setting(
        0.9,
        None,
        "share of unseen workloads whose measured value should lie in the prediction interval",
        number="ratio",
        metavar="SHARE",
    )


@dataclass(frozen=True)
class MeasuredDriveSettings(Settings):
    """Choice of the drive in a file of measurements."""

    title: ClassVar[str] = "drive"

    drive: str | None = setting(
        None,
        None,
        "use only the measurements of this drive, by its name in `blackbox collect --target`; "
        "needed if the file has several drives",
        metavar="NAME",
    )


@dataclass(frozen=True)
class EvaluationSettings(Settings):
    """Folds for scoring a model."""

    title: ClassVar[str] = "evaluation"

    cv: int | None = setting(
        None,
        None,
        "divide the workloads into this number of folds, and predict each fold by a model refitted "
        "to the others (cross-validation). Without this option, no row may be a training row",
        number="count",
        metavar="FOLDS",
    )


@dataclass(frozen=True)
class ExplanationSettings(Settings):
    """Workload around which a model is explained, and target of the rules."""

    title: ClassVar[str] = "explanation"

    workload: str | None = setting(
        None,
        None,
        "workload at which the response curves are computed: one characteristic varies, and the "
        "others stay (default: the median of each characteristic in the training rows)",
        metavar="SPEC",
    )
    fio: Path | None = setting(
        None,
        None,
        "fio job file with one job, instead of a workload",
        number="path",
        metavar="FILE",
    )
    fio_run: str | None = setting(
        None,
        None,
        "command line of fio with one job, instead of a workload; fio is not executed",
        metavar="CMD",
    )
    target: str | None = setting(
        None,
        None,
        f"explain only this target, and print the rules of its trees: {', '.join(TARGETS)}",
        choices=tuple(TARGETS),
        metavar="NAME",
    )


@dataclass(frozen=True)
class BoundSettings(Settings):
    """Bounds on the performance of drives, and the share of a trace that must meet them."""

    title: ClassVar[str] = "bounds"
    names_options: ClassVar[bool] = True

    max_latency: float | None = setting(
        None, DURATION, "greatest allowed mean latency, such as 2ms", metavar="TIME", **_BOUNDS
    )
    min_bandwidth: float | None = setting(
        None, BOUND, "least required bandwidth in MB/s", number="number", **_BOUNDS
    )
    min_throughput: float | None = setting(
        None,
        BOUND,
        "least required throughput in requests per second",
        number="number",
        **_BOUNDS,
    )
    max_wa: float | None = setting(
        None,
        BOUND,
        "greatest allowed write amplification; windows of a trace without writes meet it",
        number="number",
        metavar="WA",
        **_BOUNDS,
    )
    share: float = setting(
        1.0,
        SHARE,
        "share of the windows of --trace that must meet the bounds",
        number="ratio",
        metavar="SHARE",
        **_BOUNDS,
    )

    @property
    def of_targets(self) -> dict[str, float]:
        """The given bounds by target, each in the target's unit."""
        latency_us = None if self.max_latency is None else self.max_latency * 1e6
        bounds = {
            "latency": latency_us,
            "bandwidth": self.min_bandwidth,
            "throughput": self.min_throughput,
            "wa": self.max_wa,
        }
        return {target: bound for target, bound in bounds.items() if bound is not None}
