"""Check of amounts in a wrong unit."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.inputs import Counters, ResultDocument, Several, checks_of
from writeamp.drives.doctor.written import mistaken_factor, written_and_counted

_FAILED = ("unit of the flash counter", "not absurd", "erases x capacity")
_DOUBTED = ("device statistics", "page size", "names", "host against hours")


def _of(source: Counters | ResultDocument) -> Judgements:
    for check in checks_of(source):
        name = check.name.removesuffix(" since new")
        if name in _FAILED and check.verdict == "fail":
            yield Mistake(f"{check.name}: {check.evidence}", severity="error")
        elif name in _DOUBTED and check.verdict == "doubt":
            yield Mistake(f"{check.name}: {check.evidence}")


def _of_all(several: Several) -> Judgements:
    for fio, counted, factor in written_and_counted(several):
        ramps = any(job.seconds("ramp_time") for job in fio.writers)
        confusion = None if ramps else mistaken_factor(factor)
        if confusion is not None:
            yield Mistake(
                f"the drive's counter rose by {float(counted.nominal):,.0f} bytes, but fio wrote "
                f"{fio.written_bytes():,} bytes: the ratio of {factor:.4g} matches {confusion}"
            )


CHECK = DoctorCheck(
    "mistaken-unit",
    "warning",
    "A counter is read in a wrong unit",
    "measure the unit with `writeamp measure calibrate`, which writes a known amount",
    "smartmontools issue 296; smartctl_exporter issues 122, 138, 211; docs/real-drives.md",
    {"counters": _of, "result": _of, "several": _of_all},
)
