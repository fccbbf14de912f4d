"""What the analytic models say of one drive, side by side."""

from __future__ import annotations

from dataclasses import dataclass

from writeamp.errors import WriteampError
from writeamp.models import MODELS, Model, find_model
from writeamp.ratios import RATIOS, op_of

DEFAULT_PAGES_PER_BLOCK = 128


@dataclass(frozen=True)
class Prediction:
    """One model's write amplification, and what it takes for granted."""

    model: Model
    wa: float


def predict(
    *,
    op: float | None = None,
    fill: float | None = None,
    spare_factor: float | None = None,
    pages_per_block: int = DEFAULT_PAGES_PER_BLOCK,
    models: list[str] | None = None,
) -> list[Prediction]:
    """Ask every model, or those named, for the WA of uniform random writes on a full drive.

    Args:
        op: over-provisioning (T−U)/U; or give `fill` = U/T, or `spare_factor` = (T−U)/T.
        fill: see `op`.
        spare_factor: see `op`.
        pages_per_block: pages of an erase block, for the models that know of it.
        models: names of models; all of them by default.

    Raises:
        WriteampError: no ratio, two ratios, a value outside its domain, or an unknown model.
    """
    ratio = op_of(op=op, fill=fill, spare_factor=spare_factor)
    if ratio is None:
        raise WriteampError(f"over-provisioning is missing; give one of {', '.join(RATIOS)}")
    drive = {"op": ratio, "pages_per_block": pages_per_block}
    chosen = list(MODELS.values()) if models is None else [find_model(name) for name in models]
    return [
        Prediction(model, float(model.function(**{name: drive[name] for name in model.parameters})))
        for model in chosen
    ]
