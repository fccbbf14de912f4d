"""Registered models, and their inputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TypeAlias

from writeamp.models._arguments import (
    FloatOrArray,
    count,
    large_or_infinite,
    positive,
    proper_share,
    single,
    whole,
    whole_or_infinite,
)
from writeamp.models._describes import Describes
from writeamp.units.ratios import spare_factor_of

# Minimum spare blocks; with fewer, simulated WA is more than about 1% above the model's limit of
# many blocks.
_FEW_SPARE_BLOCKS = 16

# Parameters that an inverse model computes from the WA.
_RATIOS = ("op", "spare_factor")


@dataclass(frozen=True)
class ModelInputs:
    """Parameters of all models, with their defaults.

    Attributes:
        op: (T−U)/U.
        pages_per_block: pages of a block, N.
        d: blocks drawn in d-choices collection.
        window: oldest blocks among which windowed collection chooses.
        reserve: reserved free blocks.
        logical_blocks: U in blocks; infinite for the limit of a large drive.
        d_swap: hot or cold blocks drawn for a swap with hcwf-swap.
        hot_fraction: share of the logical pages that are hot.
        hot_write_fraction: share of the host writes that go to hot pages.

    Raises:
        WriteampError: an invalid parameter.
    """

    op: float
    pages_per_block: float = 128
    d: float = 10
    window: float = 64
    reserve: float = 0
    logical_blocks: float = math.inf
    d_swap: float = 1
    hot_fraction: float = 0.5
    hot_write_fraction: float = 0.5

    def __post_init__(self) -> None:
        for field in fields(self):
            single(field.name, getattr(self, field.name))
        positive("op", self.op)
        whole("pages_per_block", self.pages_per_block)
        whole_or_infinite("d", self.d)
        whole("window", self.window)
        count("reserve", self.reserve)
        large_or_infinite("logical_blocks", self.logical_blocks)
        whole("d_swap", self.d_swap)
        proper_share("hot_fraction", self.hot_fraction)
        proper_share("hot_write_fraction", self.hot_write_fraction)

    @property
    def spare_factor(self) -> float:
        """Spare factor (T−U)/T = op/(1+op), with T physical and U logical pages."""
        return spare_factor_of(self.op)

    def arguments(self, names: tuple[str, ...]) -> dict[str, float]:
        """Return the named parameters as keyword arguments of a model's function."""
        return {name: getattr(self, name) for name in names}


Rule: TypeAlias = Callable[[ModelInputs], str | None]


@dataclass(frozen=True, repr=False, kw_only=True)
class AnalyticModel:
    """A function for write amplification, its assumptions, and the runs that it describes.

    `function` takes the arguments named in `parameters` by keyword, and returns flash pages
    programmed per host page written. Each of `rules` returns a sentence on why a drive violates the
    model's assumptions, or None. `describes` lists the loads and policies for which `simulate`,
    `compare` and `answer` show the model.
    """

    name: str
    assumes: str
    parameters: tuple[str, ...]
    function: Callable[..., FloatOrArray]
    rules: tuple[Rule, ...] = ()
    describes: tuple[Describes, ...] = ()

    def __repr__(self) -> str:
        """Return class and name only, because functions have a long `repr`."""
        return f"<{type(self).__name__} {self.name}>"

    def wa(self, drive: ModelInputs) -> float:
        """Return the write amplification of one drive."""
        return float(self.function(**drive.arguments(self.parameters)))

    def warning(self, **drive: float) -> str | None:
        """Return why a drive, given by fields of `ModelInputs`, violates assumptions, or None."""
        return "; ".join(self.warnings(ModelInputs(**drive))) or None

    def warnings(self, drive: ModelInputs) -> tuple[str, ...]:
        """Return the reasons why `drive` violates the model's assumptions."""
        return tuple(sentence for rule in self.rules if (sentence := rule(drive)))


@dataclass(frozen=True, repr=False, kw_only=True)
class Model(AnalyticModel):
    """A registered model of uniform random writes, which `predict` offers.

    `function` broadcasts its arguments. `inverse` takes `wa` and `inverse_parameters`, and returns
    the op at which `function` has that value. If `is_default` is False, the model is known to be
    wrong, and `predict` uses it only if the user names it.
    """

    summary: str
    source: str
    inverse: Callable[..., FloatOrArray]
    is_default: bool = True

    @property
    def inverse_parameters(self) -> tuple[str, ...]:
        """Parameters of the inverse in addition to `wa`."""
        return tuple(name for name in self.parameters if name not in _RATIOS)


def few_spare_blocks(drive: ModelInputs) -> str | None:
    """Return a warning if spare blocks are few, or None; for models of a drive of many blocks."""
    spare_blocks = drive.op * drive.logical_blocks
    if spare_blocks < _FEW_SPARE_BLOCKS:
        return (
            f"with only {spare_blocks:.3g} spare blocks, the open block reduces spare space, and "
            "simulated WA may be a few percent above the prediction"
        )
    return None
