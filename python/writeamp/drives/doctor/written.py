"""Bytes that fio wrote, beside those by which the drive's counters moved."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from writeamp.drives.counters.amounts import Amount
from writeamp.drives.doctor.fio.output import FioOutput
from writeamp.drives.doctor.inputs import Counters, ResultDocument, Several


def written_and_counted(several: Several) -> Iterator[tuple[FioOutput, Amount, float]]:
    """Yield fio's output, the host's bytes of an interval, and these over what fio wrote.

    Only where one output and one interval are given, so that it is clear what belongs together.
    """
    outputs = several.of(FioOutput)
    hosts = [
        one.host for counters in several.of(Counters) for one in counters.intervals if one.host
    ]
    hosts += [one for result in several.of(ResultDocument) for one in _of_interval(result)]
    if len(outputs) != 1 or len(hosts) != 1:
        return
    written = outputs[0].written_bytes()
    if written:
        yield outputs[0], hosts[0], float(hosts[0].nominal) / written


def _of_interval(result: ResultDocument) -> Iterator[Amount]:
    """Yield the host's bytes of a result of counters between two snapshots."""
    found = result.document
    if result.verb == "measure counters" and {"days", "command"} & found.keys():
        bounds = [found.get(f"host_bytes{end}") for end in ("_low", "", "_high")]
        if all(isinstance(one, int) for one in bounds):
            yield Amount(*(Fraction(one) for one in bounds if one is not None))


def is_beyond(counted: Amount, written: int, share: float) -> bool:
    """Return whether the counter moved by more than a share above what was written, surely."""
    return float(counted.low) > written * (1 + share)
