"""Bytes that fio wrote, beside those by which the drive's counters moved."""

from __future__ import annotations

from collections.abc import Iterator

from writeamp.measure.counters.amounts import Amount
from writeamp.mistakes.fio.output import FioOutput
from writeamp.mistakes.inputs import Counters, Several


def written_and_counted(several: Several) -> Iterator[tuple[FioOutput, Amount, float]]:
    """Yield fio's output, the host's bytes of an interval, and these over what fio wrote.

    Only where one output and one interval are given, so that it is clear what belongs together.
    """
    outputs, counters = several.of(FioOutput), several.of(Counters)
    if len(outputs) != 1 or len(counters) != 1 or len(counters[0].intervals) != 1:
        return
    host, written = counters[0].intervals[0].host, outputs[0].written_bytes()
    if host is not None and written:
        yield outputs[0], host, float(host.nominal) / written


def is_beyond(counted: Amount, written: int, share: float) -> bool:
    """Return whether the counter moved by more than a share above what was written, surely."""
    return float(counted.low) > written * (1 + share)
