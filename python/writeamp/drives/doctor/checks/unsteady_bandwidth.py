"""Check of bandwidth that fell during a run."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.fio.output import FioOutput

_FEWEST_SAMPLES = 20
_MATERIAL = 0.4


def _of_output(fio: FioOutput) -> Judgements:
    for job, copies in zip(fio.jobs, fio.results, strict=True):
        for copy in copies:
            writes = copy.get("write")
            if not (job.writes and isinstance(writes, dict)):
                continue
            mean, deviation = writes.get("bw_mean") or 0, writes.get("bw_dev") or 0
            samples = writes.get("bw_samples") or 0
            if samples >= _FEWEST_SAMPLES and mean and deviation / mean > _MATERIAL:
                yield Mistake(
                    f"bandwidth {mean:,.0f} KiB/s, standard deviation {deviation:,.0f}, minimum "
                    f"{writes.get('bw_min', 0):,}, maximum {writes.get('bw_max', 0):,}",
                    (job.name,),
                )
                break


CHECK = DoctorCheck(
    "unsteady-bandwidth",
    "warning",
    "Bandwidth changed a lot during the run: the SLC cache filled, the drive throttled, or "
    "garbage collection began. The mean covers several states",
    "write a bandwidth log (write_bw_log), leave out the time before the bandwidth changed, and "
    "check the temperature",
    "fio issue 1112",
    {"fio output": _of_output},
)
