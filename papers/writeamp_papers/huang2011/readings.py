"""Joint readings of paper 2: one choice for everything that its text leaves open.

They were stated from the paper alone, before any result of ours. What no reading changes, such as
the tree, is among the choices too, so that a reader has all of them in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from writeamp_papers.readings import Reading

_T = TypeVar("_T")

_DEFAULT = {
    "state of the drive": "filled once in order, then every run back to back in one shuffled order",
    "span": "the whole device, each run from a random start",
    "units": "KB of 1024 bytes, MB/s of 2^20 bytes; Table I decimal",
    "queue depth": "closed loop, so many requests outstanding; those that wait in the host count",
    "run": "one minute, all requests count; short drives run for their share of it",
    "mix": "each request a write by an independent draw; a position each for reads and writes",
    "stride": "bytes from the end of one access to the start of the next of its direction",
    "write cache": "on, never flushed by the host",
    "axis of Fig. 3": "0, 10, 25, 50, 75, 90 and 100% writes",
    "write ratio of Fig. 4": "0 and 100%; 100% for the order of the devices",
    "alignment": "random addresses are multiples of the size",
    "rows scored": "the training rows",
    "scale of the score": "fitted to the logarithm, scored in natural units",
    "tree": "splits by least squares, multilinear leaves of 5 rows a coefficient or more, pruned "
    "by 10-fold cross-validation",
    "grid": "all 12,500 cells, workloads that are alike as often as they occur",
    "features of a mix": "means over its requests; a random run has no stride",
    "replay of the traces": "at the times of the trace",
    "device of Fig. 8": "any flash drive",
}

AGED = Reading("2-A aged grid, own rows", _DEFAULT)
FRESH = AGED.but("2-B fresh", {"state of the drive": "erased before every run"})
HELD_OUT = AGED.but(
    "2-C held out", {"rows scored": "each by a tree that has not seen it, of ten folds"}
)
SHORT_SPAN = AGED.but(
    "2-D short span",
    {
        "span": "one sixteenth of the device, anywhere",
        "write cache": "on; off on the disk",
        "alignment": "random addresses are multiples of 512 bytes",
        "grid": "each of its 7,780 workloads once",
        "replay of the traces": "each request as the one before is answered",
        "device of Fig. 8": "SSD_I",
    },
)

READINGS = (AGED, FRESH, HELD_OUT, SHORT_SPAN)


def by_reading(*, aged: _T, fresh: _T, held_out: _T, short_span: _T) -> dict[str, _T]:
    """Return a value by the name of each reading."""
    return {
        AGED.name: aged,
        FRESH.name: fresh,
        HELD_OUT.name: held_out,
        SHORT_SPAN.name: short_span,
    }


def of_runs(values: Mapping[str, _T]) -> dict[str, _T]:
    """Return a value by reading, from the values by the way of the runs (`runs.WAYS`).

    What is held out is scored otherwise, and was measured on the same drive.
    """
    return by_reading(
        aged=values["aged"],
        fresh=values["fresh"],
        held_out=values["aged"],
        short_span=values["short span"],
    )


def combined(work: Callable[..., float], *values: Mapping[str, _T]) -> dict[str, float]:
    """Return a function's result of several values, under each reading."""
    return {one.name: work(*(each[one.name] for each in values)) for one in READINGS}
