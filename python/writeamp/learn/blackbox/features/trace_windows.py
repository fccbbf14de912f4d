"""Characteristics of a trace, one set for each time window of the trace."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.errors import WriteampError
from writeamp.fields.domains import Number
from writeamp.learn.blackbox.features import footprints
from writeamp.learn.blackbox.features.characteristics import settled
from writeamp.learn.blackbox.features.feature_sets import FeatureSet, find_feature_set
from writeamp.traces import Trace

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]


def depths_at_service_time(at_ns: I64, service_ns: float) -> F64:
    """Return the queue depth at each arrival, for one server that serves one request at a time.

    The wait W follows Lindley's recursion, W' = max(0, W + service − time between arrivals). In
    closed form, W is the surplus of arrived over possible work, minus the least surplus so far.

    Args:
        at_ns: ascending times of arrival; shape (requests,).
        service_ns: service time of each request, in ns.
    """
    surplus = np.arange(len(at_ns)) * service_ns - (at_ns - at_ns[0])
    wait_ns = surplus - np.minimum.accumulate(surplus)
    depth: F64 = 1 + wait_ns / service_ns
    return depth


def measured_depths(at_ns: I64, latency_ns: F64) -> F64:
    """Return the queue depth at each arrival, from measured latencies.

    The depth is the number of arrivals so far minus the number of requests completed by then.

    Args:
        at_ns: ascending times of arrival; shape (requests,).
        latency_ns: time from the arrival of each request to its end; shape (requests,).
    """
    ended = np.sort(at_ns + latency_ns)
    came = np.arange(1.0, len(at_ns) + 1)
    # A request that takes no time counts as outstanding when it arrives.
    depth: F64 = np.maximum(came - np.searchsorted(ended, at_ns, side="right"), 1.0)
    return depth


_NS_PER_S = 1_000_000_000
# A distance from one request to the next counts as a stride (paper 2, section III.B) if at least
# two requests, and this share of a window's reads or writes, have it. Distances of random requests
# repeat less often.
_COMMON_SHARE = 0.05
_POSITIVE = Number("be above 0", lambda value: value > 0)


def of_trace(
    trace: Trace,
    window_s: float = 60.0,
    *,
    features: str | FeatureSet = "extended",
    latency_us: npt.ArrayLike | None = None,
    service_us: float = 100.0,
    capacity_bytes: int | None = None,
    fill: float = 0.0,
) -> pl.DataFrame:
    """Return the characteristics of each window of a trace that has reads or writes.

    TRIMs, flushes and requests of 0 bytes are ignored. Requests with equal times stay in the order
    of the trace. Without latencies, the number of outstanding requests is unknown. The queue depth
    is then computed for a drive that serves one request after another, each in `service_us`. This
    depth measures how bursty the requests are, independently of the real drive.

    Args:
        trace: requests with their times.
        window_s: length of a window, in s; the first begins with the first request.
        features: a feature set or its name; only the characteristics that it needs are computed.
        latency_us: measured latency of every request of the trace, from which the depth follows;
            shape (requests,).
        service_us: service time of a request if latencies are not given.
        capacity_bytes: capacity of the drive, for `fill`.
        fill: share of the capacity that holds data when the trace begins.

    Returns:
        A row for each window: ``window`` i64 and ``start_s`` f64 from the first request,
        ``requests`` u32, and the characteristics that the set needs.

    Raises:
        WriteampError: an argument is not valid, the trace has neither reads nor writes, or the set
            needs a capacity that is not given.
    """
    chosen = find_feature_set(features) if isinstance(features, str) else features
    window_ns = int(_POSITIVE.check("window_s", window_s) * _NS_PER_S) or 1
    _POSITIVE.check("service_us", service_us)
    requests = _served(trace, window_ns, latency_us)
    ns = requests["timestamp_ns"].to_numpy()
    depth = (
        depths_at_service_time(ns, service_us * 1e3)
        if latency_us is None
        else measured_depths(ns, requests["latency_ns"].to_numpy())
    )
    windows = (
        requests.select("window", is_write=pl.col("op") == "write", depth=pl.Series(depth))
        .group_by("window")
        .agg(
            requests=pl.len(),
            write_ratio=pl.col("is_write").mean(),
            queue_depth=pl.col("depth").mean(),
        )
        .sort("window")
    )
    for direction in ("write", "read"):
        of_direction = _of_direction(requests, direction)
        windows = windows.join(of_direction, on="window", how="left", maintain_order="left")
    windows = windows.with_columns(pl.col("^.*_(bytes|randomness)$").fill_null(0.0))
    if {"working_set_bytes", "fill", "recent_write_bytes", "skew"} & set(chosen.needs):
        on_drive = footprints.of_windows(requests, window_ns, capacity_bytes, fill)
        windows = windows.join(on_drive, on="window", how="left", maintain_order="left")
    start = (pl.col("window") * window_ns / _NS_PER_S).alias("start_s")
    return settled(windows).select("window", start, "requests", *chosen.needs)


def _served(trace: Trace, window_ns: int, latency_us: npt.ArrayLike | None) -> pl.DataFrame:
    """Return reads and writes in order of time, each with the number of its window."""
    requests = trace.requests
    if latency_us is not None:
        latency = np.asarray(latency_us, dtype=float)
        if latency.shape != (requests.height,) or not (latency >= 0).all():
            raise WriteampError(
                f"latency_us has the shape {latency.shape}; it must hold a latency of 0 or more "
                f"for each of the {requests.height} requests"
            )
        requests = requests.with_columns(latency_ns=pl.Series(latency * 1e3))
    requests = requests.filter((pl.col("op") == "read") | (pl.col("op") == "write"))
    requests = requests.filter(pl.col("length") > 0)
    if requests.is_empty():
        raise WriteampError(f"{trace.path}: it has no reads or writes, so it has no windows")
    if not requests["timestamp_ns"].is_sorted():
        requests = requests.sort("timestamp_ns", maintain_order=True)
    since = pl.col("timestamp_ns") - requests["timestamp_ns"][0]
    return requests.with_columns(since, window=since // window_ns)


def _of_direction(requests: pl.DataFrame, direction: str) -> pl.DataFrame:
    """Return size, randomness and stride of reads or writes, for each window that has any.

    A request continues if it begins where the previous request of its direction and device ended,
    or one common stride later. That previous request may be in an earlier window.
    """
    begin = pl.col("offset").cast(pl.Int64)
    end = (begin + pl.col("length").cast(pl.Int64)).shift(1)
    if requests["device"].n_unique() > 1:
        end = end.over("device")
    own_requests = requests.filter(pl.col("op") == direction).select(
        "window", "length", distance=begin - end
    )
    of_window = own_requests.group_by("window").agg(
        count=pl.len(),
        size=pl.col("length").mean(),
        sequential=(pl.col("distance") == 0).sum(),
    )
    strided = (
        own_requests.filter(pl.col("distance") > 0)
        .group_by("window", "distance")
        .agg(times=pl.len())
        .filter(pl.col("times") > 1)
        .join(of_window, on="window")
        .filter(pl.col("times") >= _COMMON_SHARE * pl.col("count"))
        .group_by("window")
        .agg(strided=pl.col("times").sum(), way=(pl.col("times") * pl.col("distance")).sum())
    )
    continuing = pl.col("sequential") + pl.col("strided")
    return (
        of_window.join(strided, on="window", how="left")
        .with_columns(pl.col("strided", "way").fill_null(0))
        .select(
            "window",
            pl.col("size").alias(f"{direction}_size_bytes"),
            (1 - continuing / pl.col("count")).alias(f"{direction}_randomness"),
            pl.when(continuing > 0)
            .then(pl.col("way") / continuing)
            .otherwise(0.0)
            .alias(f"{direction}_stride_bytes"),
        )
    )
