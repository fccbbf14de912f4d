"""Check of devices that are not flash drives: virtual, in memory, or behind a controller."""

from __future__ import annotations

import re

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.inputs import Counters
from writeamp.fio.job_file import FioJobs

_DEVICE = re.compile(r"/dev/(vd[a-z]|xvd[a-z]|ram\d|zram|pmem|nullb)|/dev/shm/")
_MODEL = re.compile(
    r"qemu|virtio|vbox|vmware|virtual|amazon elastic|persistentdisk|perc |megaraid|logical volume|"
    r"\bmr9\d|\bmsft\b",
    re.IGNORECASE,
)


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.writers:
        places = [*job.files, f"{job.options.get('directory', '')}/"]
        virtual = [place for place in places if _DEVICE.match(place)]
        if virtual:
            yield Mistake(f"{', '.join(virtual)}", (job.name,))


def _of_counters(counters: Counters) -> Judgements:
    for model in dict.fromkeys(snapshot.facts.model for snapshot in counters.snapshots):
        if model and _MODEL.search(model):
            yield Mistake(f"the model is {model}")


CHECK = DoctorCheck(
    "no-flash-behind",
    "warning",
    "The device is not a flash drive but virtual, in memory, or a controller, "
    "so it has no flash counters, and its bandwidth is not that of a drive",
    "measure on the drive itself; for a virtual drive with counters, use `writeamp serve`",
    "samples of smartctl",
    {"fio job": _of_jobs, "counters": _of_counters},
)
