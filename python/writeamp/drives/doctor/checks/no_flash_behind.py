"""Check of drives that are none: virtual, in memory, or hidden by a controller."""

from __future__ import annotations

import re

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.fio.job_file import FioJobs
from writeamp.drives.doctor.inputs import Counters

_DEVICE = re.compile(r"/dev/(vd[a-z]|xvd[a-z]|ram\d|zram|pmem|nullb)|/dev/shm/")
_MODEL = re.compile(
    r"qemu|virtio|vbox|vmware|virtual|amazon elastic|persistentdisk|perc |megaraid|logical volume|"
    r"\bmr9\d|\bmsft\b",
    re.IGNORECASE,
)


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.writers:
        places = [*job.files, f"{job.options.get('directory', '')}/"]
        virtual = [one for one in places if _DEVICE.match(one)]
        if virtual:
            yield Mistake(f"{', '.join(virtual)}", (job.name,))


def _of_counters(counters: Counters) -> Judgements:
    for model in dict.fromkeys(one.facts.model for one in counters.snapshots):
        if model and _MODEL.search(model):
            yield Mistake(f"the model is {model}")


CHECK = DoctorCheck(
    "no-flash-behind",
    "warning",
    "No flash drive answers here: the device is virtual, in memory, or a controller before others, "
    "so that it has no counters of flash, and its bandwidth is of something else",
    "measure on the drive itself; for a virtual drive with counters there is `writeamp serve`",
    "samples of smartctl",
    {"fio job": _of_jobs, "counters": _of_counters},
)
