"""Modern feature vector: the extended one, and what decides collection and caching today."""

from __future__ import annotations

from writeamp.learn.blackbox.features.extended import EXTENDED
from writeamp.learn.blackbox.features.feature_set import FeatureSet, as_is

MODERN = FeatureSet(
    "modern",
    "paper 2, equation 4, and four of our own",
    (
        *EXTENDED.features,
        as_is("working_set_bytes", "", "distinct bytes that the workload comes to"),
        as_is("fill", "", "share of the drive's capacity that holds data"),
        as_is("recent_write_bytes", "", "bytes that the host wrote in the minute before"),
        as_is("skew", "", "share of the writes that goes to the most written fifth of the pages"),
    ),
)
