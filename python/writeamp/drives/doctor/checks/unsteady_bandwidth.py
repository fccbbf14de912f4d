"""Check of bandwidth that fell within a run."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.fio.output import FioOutput

_FEWEST_SAMPLES = 20
_MATERIAL = 0.4


def _of_output(fio: FioOutput) -> Judgements:
    for job, copies in zip(fio.jobs, fio.results, strict=True):
        for one in copies:
            found = one.get("write")
            if not (job.writes and isinstance(found, dict)):
                continue
            mean, deviation = found.get("bw_mean") or 0, found.get("bw_dev") or 0
            samples = found.get("bw_samples") or 0
            if samples >= _FEWEST_SAMPLES and mean and deviation / mean > _MATERIAL:
                yield Mistake(
                    f"bandwidth {mean:,.0f} KiB/s, deviating by {deviation:,.0f}, least "
                    f"{found.get('bw_min', 0):,}, most {found.get('bw_max', 0):,}",
                    (job.name,),
                )
                break


CHECK = DoctorCheck(
    "unsteady-bandwidth",
    "warning",
    "Bandwidth changed a lot within the run: an SLC cache that filled, throttling by heat, or "
    "collection that began; the mean is of several states",
    "write a bandwidth log (write_bw_log), leave out what is before the step, and see the "
    "temperature",
    "fio issue 1112",
    {"fio output": _of_output},
)
