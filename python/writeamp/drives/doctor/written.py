"""Bytes that fio wrote beside those that the drive counted, and the unit that was mistaken."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from writeamp.drives.counters.amounts import Amount
from writeamp.drives.doctor.fio.output import FioOutput
from writeamp.drives.doctor.inputs import Counters, ResultDocument, Several

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
# A factor near 1 may be some other bytes; only a close match is one of units.
_NEAR_ONE = 1.1


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


def mistaken_factor(factor: float) -> str | None:
    """Return which units were mistaken if an amount is off by a factor; None if none fit.

    >>> mistaken_factor(8.003), mistaken_factor(1.5)
    ('sectors of 512 bytes read as 4 KiB', None)
    """
    for known, what in FACTORS.items():
        is_near_one = 1 / _NEAR_ONE < known < _NEAR_ONE
        close = _CLOSE if is_near_one else 10 * _CLOSE
        if abs(factor / known - 1) <= close:
            return what
    return None
