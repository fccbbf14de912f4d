"""Bytes written by fio compared with bytes counted by the drive, and confused units."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from writeamp.drives.counters.amounts import Amount
from writeamp.drives.doctor.inputs import Counters, ResultDocument, Several
from writeamp.fio.output import FioOutput

FACTORS = {
    1000 / 1024: "kB read as KiB",
    1.024: "KiB read as kB",
    1000**2 / 1024**2: "MB read as MiB",
    1.024**2: "MiB read as MB",
    1000**3 / 1024**3: "GB read as GiB",
    1.024**3: "GiB read as GB",
    8.0: "sectors of 512 bytes read as 4 KiB",
    1 / 8: "blocks of 4 KiB read as sectors of 512 bytes",
    512.0: "bytes read as sectors of 512 bytes",
    1 / 512: "sectors of 512 bytes read as bytes",
    1000.0: "units of 512,000 bytes read as sectors of 512",
    1 / 1000: "sectors of 512 bytes read as units of 512,000",
}
_CLOSE = 0.003
# Factors (counted bytes / written bytes) between 1 / this number and this number have many causes,
# so only a very close match indicates a confused unit.
_NEAR_ONE = 1.1


def written_and_counted(several: Several) -> Iterator[tuple[FioOutput, Amount, float]]:
    """Yield fio's output, the host bytes of an interval, and host bytes / fio's bytes.

    Yields only if there is exactly one output and one interval, so that they belong together.
    """
    outputs = several.of(FioOutput)
    hosts = [
        interval.host
        for counters in several.of(Counters)
        for interval in counters.intervals
        if interval.host
    ]
    hosts += [bound for result in several.of(ResultDocument) for bound in _of_interval(result)]
    if len(outputs) != 1 or len(hosts) != 1:
        return
    written = outputs[0].written_bytes()
    if written:
        yield outputs[0], hosts[0], float(hosts[0].nominal) / written


def _of_interval(result: ResultDocument) -> Iterator[Amount]:
    """Yield the host bytes of a counter result between two snapshots."""
    document = result.document
    if result.verb == "measure counters" and {"days", "command"} & document.keys():
        bounds = [document.get(f"host_bytes{end}") for end in ("_low", "", "_high")]
        if all(isinstance(bound, int) for bound in bounds):
            yield Amount(*(Fraction(bound) for bound in bounds if bound is not None))


def is_beyond(counted: Amount, written: int, share: float) -> bool:
    """Return whether the counter certainly exceeds the written bytes by more than this share."""
    return float(counted.low) > written * (1 + share)


def mistaken_factor(factor: float) -> str | None:
    """Return the units whose confusion explains the ratio of counted to written bytes, or None.

    >>> mistaken_factor(8.003), mistaken_factor(1.5)
    ('sectors of 512 bytes read as 4 KiB', None)
    """
    for match, confusion in FACTORS.items():
        is_near_one = 1 / _NEAR_ONE < match < _NEAR_ONE
        close = _CLOSE if is_near_one else 10 * _CLOSE
        if abs(factor / match - 1) <= close:
            return confusion
    return None
