"""Check of writes to the drive that fio did not do."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.inputs import Several
from writeamp.drives.doctor.written import is_beyond, mistaken_factor, written_and_counted

_MATERIAL = 0.05


def _of_all(several: Several) -> Judgements:
    for fio, counted, factor in written_and_counted(several):
        if any(one.seconds("ramp_time") for one in fio.writers) or mistaken_factor(factor):
            continue
        if is_beyond(counted, fio.written_bytes(), _MATERIAL):
            yield Mistake(
                f"the drive's counter moved by {float(counted.nominal):,.0f} bytes, and fio wrote "
                f"{fio.written_bytes():,}: {factor:.4g} times"
            )


CHECK = DoctorCheck(
    "other-writers",
    "warning",
    "Somebody else wrote to the drive meanwhile (a journal, swap, another program, laying out "
    "files): WA is of all of them together",
    "use a drive of its own without a file system, and let nothing else write to it",
    "/sys/block/*/stat beside fio's io_bytes",
    {"several": _of_all},
)
