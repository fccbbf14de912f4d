"""Extended feature vector: paper 2's equation 4, writes and reads apart, with strides."""

from __future__ import annotations

from writeamp.learn.blackbox.features.feature_set import FeatureSet, as_is

EXTENDED = FeatureSet(
    "extended",
    "paper 2, equation 4",
    (
        as_is("write_ratio", "wr_ratio", "share of the writes among reads and writes"),
        as_is("queue_depth", "q_dep", "outstanding requests, the newest included"),
        as_is("write_size_bytes", "wr_size", "mean size of the writes"),
        as_is("read_size_bytes", "rd_size", "mean size of the reads"),
        as_is("write_randomness", "wr_rand", "share of the random writes"),
        as_is("read_randomness", "rd_rand", "share of the random reads"),
        as_is("write_stride_bytes", "wr_stride", "from a write's end to the next in sequence"),
        as_is("read_stride_bytes", "rd_stride", "from a read's end to the next in sequence"),
    ),
)
