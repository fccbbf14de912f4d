"""Queue depths: the outstanding requests that each request finds, itself included."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]


def at_service_time(at_ns: I64, service_ns: float) -> F64:
    """Return the depth at one server with this service time, in order of arrival.

    The wait of Lindley's recursion, W' = max(0, W + service − distance), in its closed form: the
    work that came in, less what could be done, above the least that this has ever been.

    Args:
        at_ns: ascending times of arrival; shape (requests,).
        service_ns: time of each request.
    """
    surplus = np.arange(len(at_ns)) * service_ns - (at_ns - at_ns[0])
    wait_ns = surplus - np.minimum.accumulate(surplus)
    depth: F64 = 1 + wait_ns / service_ns
    return depth


def measured(at_ns: I64, latency_ns: F64) -> F64:
    """Return the depth by measured latencies: arrivals, less the requests done by then.

    Args:
        at_ns: ascending times of arrival; shape (requests,).
        latency_ns: from the arrival of each to its end; shape (requests,).
    """
    ended = np.sort(at_ns + latency_ns)
    came = np.arange(1.0, len(at_ns) + 1)
    # A request that takes no time is outstanding as it comes all the same.
    depth: F64 = np.maximum(came - np.searchsorted(ended, at_ns, side="right"), 1.0)
    return depth
