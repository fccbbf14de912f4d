"""Basic feature vector: paper 2's equation 2, as models of hard disks use it."""

from __future__ import annotations

import polars as pl

from writeamp.learn.blackbox.features.feature_set import Feature, FeatureSet, as_is


def _mean(of_writes: str, of_reads: str) -> pl.Expr:
    """Return the mean over all requests of what writes and reads have each."""
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
            "share of the random requests",
            _mean("write_randomness", "read_randomness"),
        ),
    ),
)
