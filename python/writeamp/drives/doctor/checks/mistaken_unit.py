"""Check of amounts that are read in the wrong unit."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.inputs import Counters, ResultDocument, Several, checks_of
from writeamp.drives.doctor.written import mistaken_factor, written_and_counted

_FAILED = ("unit of the flash counter", "not absurd", "erases x capacity")
_DOUBTED = ("device statistics", "page size", "names", "host against hours")


def _of(given: Counters | ResultDocument) -> Judgements:
    for one in checks_of(given):
        name = one.name.removesuffix(" since new")
        if name in _FAILED and one.verdict == "fail":
            yield Mistake(f"{one.name}: {one.evidence}", severity="error")
        elif name in _DOUBTED and one.verdict == "doubt":
            yield Mistake(f"{one.name}: {one.evidence}")


def _of_all(several: Several) -> Judgements:
    for fio, counted, factor in written_and_counted(several):
        ramps = any(one.seconds("ramp_time") for one in fio.writers)
        what = None if ramps else mistaken_factor(factor)
        if what is not None:
            yield Mistake(
                f"the counter moved by {float(counted.nominal):,.0f} bytes, and fio wrote "
                f"{fio.written_bytes():,}: {factor:.4g} times, as of {what}"
            )


CHECK = DoctorCheck(
    "mistaken-unit",
    "warning",
    "A counter is read in another unit than it counts in",
    "learn the unit with `writeamp measure calibrate`, which writes a known amount",
    "smartmontools issue 296; smartctl_exporter issues 122, 138, 211; docs/real-drives.md",
    {"counters": _of, "result": _of, "several": _of_all},
)
