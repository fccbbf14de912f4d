"""Registered models, and the drive that they are asked about."""

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

# Below so many spare blocks simulation finds WA more than about 1% above the limit of many blocks.
_FEW_SPARE_BLOCKS = 16

# What an inverse solves for instead of taking it.
_RATIOS = ("op", "spare_factor")


@dataclass(frozen=True)
class ModelInputs:
    """Parameters of all models, with their defaults.

    `op` is (T−U)/U; `pages_per_block` N; `d` the choices of a d-choices collection; `window` the
    oldest blocks among which a windowed collection chooses; `reserve` the blocks held free, and
    `logical_blocks` U in blocks (infinite for the limit of a large drive). Of hot and cold data,
    `hot_fraction` is the hot share of the pages, `hot_write_fraction` its share of the writes, and
    `d_swap` the choices of a swap. A parameter outside its domain is a `WriteampError` that names
    it.
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
        for one in fields(self):
            single(one.name, getattr(self, one.name))
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
        """(T−U)/T."""
        return spare_factor_of(self.op)

    def arguments(self, names: tuple[str, ...]) -> dict[str, float]:
        """Return the named parameters, as a model's function takes them."""
        return {name: getattr(self, name) for name in names}


Rule: TypeAlias = Callable[[ModelInputs], str | None]


@dataclass(frozen=True, repr=False, kw_only=True)
class AnalyticModel:
    """A function for write amplification, its assumptions, and the runs that it describes.

    `function` takes the arguments named in `parameters` by keyword, and returns flash pages
    programmed per host page written. Each of `rules` returns a sentence why a drive lies outside
    the model's assumptions, or None. `describes` lists the loads and policies for which
    `simulate`, `compare` and `answer` show the model.
    """

    name: str
    assumes: str
    parameters: tuple[str, ...]
    function: Callable[..., FloatOrArray]
    rules: tuple[Rule, ...] = ()
    describes: tuple[Describes, ...] = ()

    def __repr__(self) -> str:
        """Return the name in brackets: functions would fill a page."""
        return f"<{type(self).__name__} {self.name}>"

    def wa(self, drive: ModelInputs) -> float:
        """Return the write amplification of one drive."""
        return float(self.function(**drive.arguments(self.parameters)))

    def warning(self, **drive: float) -> str | None:
        """Return why a drive, given by the fields of `ModelInputs`, is outside the model."""
        return "; ".join(self.warnings(ModelInputs(**drive))) or None

    def warnings(self, drive: ModelInputs) -> tuple[str, ...]:
        """Return each reason why `drive` is outside what the model assumes."""
        return tuple(sentence for rule in self.rules if (sentence := rule(drive)))


@dataclass(frozen=True, repr=False, kw_only=True)
class Model(AnalyticModel):
    """A registered model of uniform random writes, which `predict` has.

    `function` broadcasts its arguments. `inverse` takes `wa` and `inverse_parameters`, and returns
    the op at which `function` has that value. A model that is not `is_default` is asked only by
    name, since it is wrong.
    """

    summary: str
    source: str
    inverse: Callable[..., FloatOrArray]
    is_default: bool = True

    @property
    def inverse_parameters(self) -> tuple[str, ...]:
        """The parameters that the inverse takes besides `wa`."""
        return tuple(name for name in self.parameters if name not in _RATIOS)


def few_spare_blocks(drive: ModelInputs) -> str | None:
    """The rule of every model that takes the limit of many blocks."""
    spare_blocks = drive.op * drive.logical_blocks
    if spare_blocks < _FEW_SPARE_BLOCKS:
        return (
            f"{spare_blocks:.3g} spare blocks are few: the block being written is a visible part "
            "of them, and simulation finds WA some percent higher"
        )
    return None
