"""Feature sets, the inputs of models: two of paper 2, and one of writeamp."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from writeamp.errors import WriteampError, unknown
from writeamp.learn.blackbox.features.characteristics import settled


@dataclass(frozen=True)
class Feature:
    """One input of a model.

    Attributes:
        name: name of the feature's column.
        symbol: name of the feature in paper 2; empty if the paper does not have it.
        summary: meaning of the feature, for documentation.
        value: expression that computes the feature from the characteristics.
    """

    name: str
    symbol: str
    summary: str
    value: pl.Expr


@dataclass(frozen=True)
class FeatureSet:
    """A named vector of features.

    Attributes:
        name: name of the set.
        source: paper and equation that define the set.
        features: the features, in the order of the vector.
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
        roots = (name for feature in self.features for name in feature.value.meta.root_names())
        return tuple(dict.fromkeys(roots))

    def of(self, characteristics: pl.DataFrame) -> pl.DataFrame:
        """Return the feature vectors, one for each row of characteristics, as f64 columns.

        Args:
            characteristics: a column for each characteristic that the set needs; other columns are
                ignored.

        Raises:
            WriteampError: a characteristic that the set needs is missing, or unknown in a row.
        """
        lacking = [name for name in self.needs if name not in characteristics.columns]
        if lacking:
            raise WriteampError(
                f"the features {self.name!r} need the column {lacking[0]}; they are computed from "
                f"{', '.join(self.needs)}"
            )
        used = settled(characteristics).select(pl.col(self.needs).cast(pl.Float64))
        for name in self.needs:
            is_finite = np.isfinite(used[name].to_numpy())
            if not is_finite.all():
                raise WriteampError(
                    f"{name} is unknown in row {int(np.argmin(is_finite))}; the features "
                    f"{self.name!r} need a finite number in every row"
                )
        return used.select(feature.value.alias(feature.name) for feature in self.features)


def as_is(name: str, symbol: str, summary: str) -> Feature:
    """Return a characteristic as a feature."""
    return Feature(name, symbol, summary, pl.col(name))


def _mean(of_writes: str, of_reads: str) -> pl.Expr:
    """Return a characteristic's mean over reads and writes, weighted by their shares."""
    share = pl.col("write_ratio")
    return share * pl.col(of_writes) + (1 - share) * pl.col(of_reads)


BASIC = FeatureSet(
    "basic",
    "paper 2, equation 2",
    (
        as_is("write_ratio", "wr_ratio", "share of the writes among reads and writes"),
        as_is("queue_depth", "q_dep", "outstanding requests, the newest included"),
        Feature(
            "request_size_bytes",
            "req_size",
            "mean size of all requests",
            _mean("write_size_bytes", "read_size_bytes"),
        ),
        Feature(
            "randomness",
            "rand",
            "share of the requests that are random",
            _mean("write_randomness", "read_randomness"),
        ),
    ),
)


EXTENDED = FeatureSet(
    "extended",
    "paper 2, equation 4",
    (
        as_is("write_ratio", "wr_ratio", "share of the writes among reads and writes"),
        as_is("queue_depth", "q_dep", "outstanding requests, the newest included"),
        as_is("write_size_bytes", "wr_size", "mean size of the writes"),
        as_is("read_size_bytes", "rd_size", "mean size of the reads"),
        as_is("write_randomness", "wr_rand", "share of the writes that are random"),
        as_is("read_randomness", "rd_rand", "share of the reads that are random"),
        as_is(
            "write_stride_bytes",
            "wr_stride",
            "bytes from a write's end to the start of the next sequential write",
        ),
        as_is(
            "read_stride_bytes",
            "rd_stride",
            "bytes from a read's end to the start of the next sequential read",
        ),
    ),
)


MODERN = FeatureSet(
    "modern",
    "paper 2, equation 4, and four features of writeamp",
    (
        *EXTENDED.features,
        as_is("working_set_bytes", "", "distinct bytes that the workload accesses"),
        as_is("fill", "", "share of the drive's capacity that holds data"),
        as_is(
            "recent_write_bytes",
            "",
            "bytes that the host wrote in the minute before the workload or window",
        ),
        as_is("skew", "", "share of the writes that goes to the most written fifth of the pages"),
    ),
)


FEATURE_SETS: dict[str, FeatureSet] = {
    feature_set.name: feature_set for feature_set in (BASIC, EXTENDED, MODERN)
}


def find_feature_set(name: str) -> FeatureSet:
    """Return the registered set called `name`; an unknown name is a `WriteampError`."""
    if name not in FEATURE_SETS:
        raise unknown("feature set", name, FEATURE_SETS)
    return FEATURE_SETS[name]
