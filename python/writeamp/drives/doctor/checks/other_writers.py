"""Check of writes to the drive by programs other than fio."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.inputs import Several
from writeamp.drives.doctor.written import is_beyond, mistaken_factor, written_and_counted

_MATERIAL = 0.05


def _of_all(several: Several) -> Judgements:
    for fio, counted, factor in written_and_counted(several):
        if any(job.seconds("ramp_time") for job in fio.writers) or mistaken_factor(factor):
            continue
        if is_beyond(counted, fio.written_bytes(), _MATERIAL):
            yield Mistake(
                f"the drive's counter rose by {float(counted.nominal):,.0f} bytes, {factor:.4g} "
                f"times the {fio.written_bytes():,} bytes that fio wrote"
            )


CHECK = DoctorCheck(
    "other-writers",
    "warning",
    "Other writes reached the drive during the run (a journal, swap, another program, laying out "
    "files): the WA includes them",
    "use a dedicated drive without a file system, and no other writers",
    "/sys/block/*/stat compared with fio's io_bytes",
    {"several": _of_all},
)
