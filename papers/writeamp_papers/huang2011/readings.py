"""Joint readings (interpretations) of paper 2: choices for all details left open.

The readings were defined from the paper alone, before any result. Only 2-E was added after results
were known: under the others, the errors of basic models are smaller than the paper's. Choices that
are equal in all readings, such as the type of tree, are included, so that all are in one place.
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
    "queue depth": "number of outstanding requests, including those waiting in the host; an answer "
    "starts the next request",
    "host": "100 µs for each request, one after another (fitted)",
    "run": "one minute, all requests count; scaled drives run for a share of a minute",
    "mix": "each request is a write by an independent draw; reads and writes "
    "have separate positions",
    "stride": "bytes from the end of one access to the start of the next access of its direction",
    "write cache": "on, never flushed by the host",
    "axis of Fig. 3": "0, 10, 25, 50, 75, 90 and 100% writes",
    "write ratio of Fig. 4": "0 and 100%; devices are ordered by the results at 100%",
    "alignment": "random addresses are multiples of the size",
    "rows scored": "the training rows",
    "scale of the score": "fitted to the logarithm, scored in natural units",
    "tree": "least-squares splits, multilinear leaves, pruned by 10-fold cross-validation; leaf "
    "size and logarithms of sizes by held-out errors (`tree_choice.toml`)",
    "grid": "all 12,500 cells, equal workloads as often as they occur",
    "features of a mix": "means of its requests; a random run has no stride",
    "replay of the traces": "at the times of the trace",
    "device of Fig. 8": "any flash drive",
}

AGED = Reading("2-A aged grid, own rows", _DEFAULT)
FRESH = AGED.but("2-B fresh", {"state of the drive": "erased before every run"})
HELD_OUT = AGED.but(
    "2-C held out", {"rows scored": "each row, by a tree trained without it; ten folds"}
)
SHORT_SPAN = AGED.but(
    "2-D short span",
    {
        "span": "a sixteenth of the device, at a random position in each run",
        "write cache": "on; but off for the hard disk",
        "alignment": "random addresses are multiples of 512 bytes",
        "grid": "each of its 7,780 workloads once",
        "replay of the traces": "each request after the answer to the previous one",
        "device of Fig. 8": "SSD_I",
    },
)

SETTINGS = AGED.but(
    "2-E settings",
    {
        "features of a mix": "basic models: plain means of the generator's settings for reads and "
        "writes, also of a direction without requests; others as in 2-A"
    },
)

READINGS = (AGED, FRESH, HELD_OUT, SHORT_SPAN, SETTINGS)


def by_reading(
    *, aged: _T, fresh: _T, held_out: _T, short_span: _T, settings: _T | None = None
) -> dict[str, _T]:
    """Return values by the name of each reading; those of `SETTINGS` are as aged by default."""
    return {
        AGED.name: aged,
        FRESH.name: fresh,
        HELD_OUT.name: held_out,
        SHORT_SPAN.name: short_span,
        SETTINGS.name: aged if settings is None else settings,
    }


def of_runs(values: Mapping[str, _T]) -> dict[str, _T]:
    """Return the value for each reading, from the value for each way in `runs.WAYS`.

    The readings "held out" and "settings" differ in the models only, so they use the measurements
    of the default reading.
    """
    return by_reading(
        aged=values["aged"],
        fresh=values["fresh"],
        held_out=values["aged"],
        short_span=values["short span"],
    )


def combined(work: Callable[..., float], *values: Mapping[str, _T]) -> dict[str, float]:
    """Return the result of `work` on several values, under each reading."""
    return {reading.name: work(*(each[reading.name] for each in values)) for reading in READINGS}
