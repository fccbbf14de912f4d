"""Settings of predictions; this module imports no model, because models are slow to import."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from writeamp.fields.setting import Settings, setting
from writeamp.models.names import MODEL_NAMES
from writeamp.units.ratios import RATIOS, fill_setting, op_setting, spare_factor_setting

# Parameters that can be swept.
SWEEPABLE = (*RATIOS, "pages_per_block", "target_wa")

_PARTLY = {"number": "ratio", "metavar": "SHARE", "panel": "partly full", "takes": "RatioLike"}


def _of_models(default: float, number: str, help_text: str) -> Any:
    return setting(default, None, help_text, number=number, metavar="N", panel="models")


@dataclass(frozen=True)
class PredictionSettings(Settings):
    """Arguments of `predict`; the models check their values."""

    title: ClassVar[str] = "prediction"

    op: float | None = op_setting("space")
    fill: float | None = fill_setting("space")
    spare_factor: float | None = spare_factor_setting("space")
    pages_per_block: int = setting(
        128, None, "pages of an erase block", number="count", panel="space"
    )
    target_wa: float | None = setting(
        None,
        None,
        "compute the op at which WA has this value; give it instead of op, fill and spare factor",
        number="number",
        metavar="WA",
    )
    utilization: float | None = setting(
        None,
        None,
        "share of the logical space that holds data (default: all of it); the models then get the "
        "effective op ((1 - utilization) + op) / written fraction",
        **_PARTLY,
    )
    written_fraction: float | None = setting(
        None,
        None,
        "share of the logical space that the host writes; needs utilization, which is its default",
        **_PARTLY,
    )
    models: list[str] | None = setting(
        None,
        None,
        f"use only this model; may be given several times: {', '.join(MODEL_NAMES)}. Default: all "
        "but coupon-collector, which is known to be wrong",
        flag="--model",
        number="texts",
        choices=MODEL_NAMES,
        panel="models",
        takes="Sequence[str] | str",
    )
    d: float = _of_models(
        10,
        "number",
        "for model d-choices: blocks drawn, of which the emptiest is collected; inf is greedy",
    )
    window: int = _of_models(
        64,
        "count",
        "for model coupon-collector: number of oldest blocks, of which the emptiest is collected",
    )
    reserve: int = _of_models(
        0, "count", "for model coupon-collector: number of blocks that always stay free"
    )
    logical_blocks: float = _of_models(
        math.inf, "number", "logical size of the drive in blocks; inf is the limit of a large drive"
    )


@dataclass(frozen=True)
class CacheSettings(Settings):
    """Argument of `predict_fdp`."""

    title: ClassVar[str] = "flash cache"

    fdp: str | None = setting(
        None,
        None,
        "predict for a flash cache with a placement handle for each part: the parameters of the "
        "workload cachelib, such as soc=4%,soc_writes=33%",
        metavar="SHARES",
    )


@dataclass(frozen=True)
class PredictionSweepSettings(Settings):
    """Argument that `predict_sweep` varies."""

    title: ClassVar[str] = "sweep"

    sweep: str | None = setting(
        None,
        None,
        f"predict for evenly spaced values of one of {', '.join(SWEEPABLE)}",
        metavar="NAME=FROM:TO:POINTS",
    )
