"""Check of a drive that continues to program flash after the host has stopped."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake, exactly
from writeamp.drives.doctor.inputs import Counters

# A pause matters if its flash writes exceed the first share of the flash writes before it. An
# interval is a pause if its host writes are below the second share of its flash writes.
_MATERIAL, _IDLE = 0.02, 0.1


def _of_counters(counters: Counters) -> Judgements:
    for run, pause in zip(counters.intervals, counters.intervals[1:], strict=False):
        if run.host is None or run.flash is None or pause.host is None or pause.flash is None:
            continue
        host, flash = float(run.host.nominal), float(run.flash.nominal)
        more_host, more = float(pause.host.nominal), float(pause.flash.nominal)
        if host and more > _MATERIAL * flash and more_host < _IDLE * more:
            yield Mistake(
                f"after {run.name}, the host wrote {more_host:,.0f} bytes and the flash "
                f"{more:,.0f} bytes, which is {more / flash:.1%} of the run's flash writes",
                now=exactly(flash / host),
                fixed=exactly((flash + more) / (host + more_host)),
            )


CHECK = DoctorCheck(
    "collection-after-the-end",
    "warning",
    "The drive continued to write after the run, by garbage collection or flushing of its SLC "
    "cache. These writes belong to the run",
    "take the last snapshot after the flash counter has stopped, or measure several runs together",
    "docs/real-drives.md",
    {"counters": _of_counters},
)
