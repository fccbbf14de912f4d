"""Features, and named sets of them: the inputs of a model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from writeamp.errors import WriteampError
from writeamp.learn.blackbox.features.characteristics import settled


@dataclass(frozen=True)
class Feature:
    """One input of a model.

    Attributes:
        name: its column.
        symbol: the name that paper 2 has for it; empty if it has none.
        summary: what it is, for documentation.
        value: how it follows from the characteristics.
    """

    name: str
    symbol: str
    summary: str
    value: pl.Expr


@dataclass(frozen=True)
class FeatureSet:
    """A named vector of features.

    Attributes:
        name: its name.
        source: where it is defined.
        features: in the order of the vector.
    """

    name: str
    source: str
    features: tuple[Feature, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the vector."""
        return tuple(feature.name for feature in self.features)

    @property
    def needs(self) -> tuple[str, ...]:
        """The characteristics that the set is computed from."""
        found = (name for one in self.features for name in one.value.meta.root_names())
        return tuple(dict.fromkeys(found))

    def of(self, characteristics: pl.DataFrame) -> pl.DataFrame:
        """Return the vectors, a row for each row of characteristics, all of them f64.

        Args:
            characteristics: a column for each characteristic that the set needs; others are left
                aside.

        Raises:
            WriteampError: a characteristic that the set needs is missing, or in some row unknown.
        """
        lacking = [name for name in self.needs if name not in characteristics.columns]
        if lacking:
            raise WriteampError(
                f"the features {self.name!r} need the column {lacking[0]}; they are computed from "
                f"{', '.join(self.needs)}"
            )
        used = settled(characteristics).select(pl.col(self.needs).cast(pl.Float64))
        for name in self.needs:
            known = np.isfinite(used[name].to_numpy())
            if not known.all():
                raise WriteampError(
                    f"{name} is not known in row {int(np.argmin(known))}; the features "
                    f"{self.name!r} need a finite number in every row"
                )
        return used.select(one.value.alias(one.name) for one in self.features)


def as_is(name: str, symbol: str, summary: str) -> Feature:
    """Return a characteristic as a feature."""
    return Feature(name, symbol, summary, pl.col(name))
