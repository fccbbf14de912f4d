"""Settings of black-box models: of training, evaluation, explanation and choice."""

from __future__ import annotations

from dataclasses import dataclass
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
    """Domain of names with commas between, which whoever uses them checks."""

    def check(self, name: str, value: Any) -> list[str]:
        """Return the names."""
        return [one.strip() for one in value.split(",")]


@dataclass(frozen=True)
class TrainingSettings(Settings):
    """Targets, features and kind of a model to train; `train` checks the names."""

    title: ClassVar[str] = "training"

    features: str = setting(
        "extended",
        None,
        f"what of a workload the model knows: {', '.join(FEATURE_SETS)}",
        choices=tuple(FEATURE_SETS),
        metavar="NAME",
    )
    model: str = setting(
        "linear-tree",
        None,
        f"the kind of model: {', '.join(model_kinds())}",
        choices=tuple(model_kinds()),
        metavar="NAME",
    )
    targets: list[str] | None = setting(
        None,
        _NameList(),
        f"what is predicted, of {', '.join(TARGETS)}; by default all that was measured",
        metavar="NAMES",
    )
    prior: str = setting(
        NONE,
        None,
        f"what the models begin with: {NONE}, {AUTO} (a formula of drives, fitted from the costs "
        "of all simulated profiles but the measured one), names of profiles or .toml files of "
        "others, which are simulated first",
        choices=(NONE, AUTO),
        metavar="NAMES",
    )
    level: float = setting(
        0.9,
        None,
        "share of unseen workloads that lie within their prediction interval",
        number="ratio",
        metavar="SHARE",
    )


@dataclass(frozen=True)
class MeasuredDriveSettings(Settings):
    """Drive whose measurements are taken of a file."""

    title: ClassVar[str] = "drive"

    drive: str | None = setting(
        None,
        None,
        "only the measurements of this drive, as `blackbox collect --target` named it",
        metavar="NAME",
    )


@dataclass(frozen=True)
class EvaluationSettings(Settings):
    """Folds by which a model is scored."""

    title: ClassVar[str] = "evaluation"

    cv: int | None = setting(
        None,
        None,
        "refit the model without each of so many folds of the workloads, and predict these; "
        "without it, the measurements must be others than those it was trained on",
        number="count",
        metavar="FOLDS",
    )


@dataclass(frozen=True)
class ExplanationSettings(Settings):
    """Around which workload a model is explained, and of which target."""

    title: ClassVar[str] = "explanation"

    workload: str | None = setting(
        None,
        None,
        "vary each characteristic of this workload; by default of the median of the training rows",
        metavar="SPEC",
    )
    target: str | None = setting(
        None,
        None,
        f"print the rules of one target: {', '.join(TARGETS)}",
        choices=tuple(TARGETS),
        metavar="NAME",
    )


@dataclass(frozen=True)
class BoundSettings(Settings):
    """Bounds on the performance of drives, and the share of a trace that must meet them."""

    title: ClassVar[str] = "bounds"
    names_options: ClassVar[bool] = True

    max_latency: float | None = setting(
        None, DURATION, "the greatest mean latency", metavar="TIME", **_BOUNDS
    )
    min_bandwidth: float | None = setting(None, BOUND, "the least MB/s", number="number", **_BOUNDS)
    min_throughput: float | None = setting(
        None, BOUND, "the least requests a second", number="number", **_BOUNDS
    )
    max_wa: float | None = setting(
        None,
        BOUND,
        "the greatest write amplification, of workloads and windows that write",
        number="number",
        metavar="WA",
        **_BOUNDS,
    )
    share: float = setting(
        1.0,
        SHARE,
        "share of a trace's windows in which it must be met",
        number="ratio",
        metavar="SHARE",
        **_BOUNDS,
    )

    @property
    def of_targets(self) -> dict[str, float]:
        """The bounds that are given, by target and in its unit."""
        latency_us = None if self.max_latency is None else self.max_latency * 1e6
        given = {
            "latency": latency_us,
            "bandwidth": self.min_bandwidth,
            "throughput": self.min_throughput,
            "wa": self.max_wa,
        }
        return {target: bound for target, bound in given.items() if bound is not None}
