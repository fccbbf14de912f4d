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
    single,
    whole,
    whole_or_infinite,
)
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
    `logical_blocks` U in blocks (infinite for the limit of a large drive). A parameter outside its
    domain is a `WriteampError` that names it.
    """

    op: float
    pages_per_block: float = 128
    d: float = 10
    window: float = 64
    reserve: float = 0
    logical_blocks: float = math.inf

    def __post_init__(self) -> None:
        for one in fields(self):
            single(one.name, getattr(self, one.name))
        positive("op", self.op)
        whole("pages_per_block", self.pages_per_block)
        whole_or_infinite("d", self.d)
        whole("window", self.window)
        count("reserve", self.reserve)
        large_or_infinite("logical_blocks", self.logical_blocks)

    @property
    def spare_factor(self) -> float:
        """(T−U)/T."""
        return spare_factor_of(self.op)

    def arguments(self, names: tuple[str, ...]) -> dict[str, float]:
        """Return the named parameters, as a model's function takes them."""
        return {name: getattr(self, name) for name in names}


Rule: TypeAlias = Callable[[ModelInputs], str | None]


Drive = ModelInputs  # an older name, which goes on working


@dataclass(frozen=True, repr=False)
class Model:
    """A registered model: what it is, what it takes for granted, and how to call it.

    `function` takes the arguments named in `parameters` by keyword, broadcasts them, and returns
    write amplification (flash pages programmed per host page written). `inverse` takes `wa` and
    `inverse_parameters`, and returns the op at which `function` has that value. Each of `rules`
    says in a sentence why a drive lies outside what the model assumes, or returns None. A model
    that is not `is_default` is asked only by name, since nobody should rely on it.
    """

    name: str
    summary: str
    assumes: str
    source: str
    parameters: tuple[str, ...]
    function: Callable[..., FloatOrArray]
    inverse: Callable[..., FloatOrArray]
    rules: tuple[Rule, ...]
    is_default: bool = True

    def __repr__(self) -> str:
        """Return the name in brackets: functions would fill a page."""
        return f"<Model {self.name}>"

    @property
    def inverse_parameters(self) -> tuple[str, ...]:
        """The parameters that the inverse takes besides `wa`."""
        return tuple(name for name in self.parameters if name not in _RATIOS)

    def wa(self, drive: ModelInputs) -> float:
        """Return the write amplification of one drive."""
        return float(self.function(**drive.arguments(self.parameters)))

    def warning(self, **drive: float) -> str | None:
        """Return why a drive, given by the fields of `ModelInputs`, is outside the model."""
        return "; ".join(self.warnings(ModelInputs(**drive))) or None

    def warnings(self, drive: ModelInputs) -> tuple[str, ...]:
        """Return each reason why `drive` is outside what the model assumes."""
        return tuple(sentence for rule in self.rules if (sentence := rule(drive)))


def few_spare_blocks(drive: ModelInputs) -> str | None:
    """The rule of every model that takes the limit of many blocks."""
    spare_blocks = drive.op * drive.logical_blocks
    if spare_blocks < _FEW_SPARE_BLOCKS:
        return (
            f"{spare_blocks:.3g} spare blocks are few: the block being written is a visible part "
            "of them, and simulation finds WA some percent higher"
        )
    return None
