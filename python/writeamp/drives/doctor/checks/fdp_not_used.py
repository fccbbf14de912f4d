"""Check of data placement (FDP) that is requested but not effective."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.inputs import Counters
from writeamp.fio.job_file import FioJobs

_ENGINES = {"io_uring_cmd", "xnvme"}


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.writers:
        placement = job.options.get("dataplacement", "none").strip()
        is_asked = job.has("fdp") or placement not in {"none", ""}
        if is_asked and job.engine not in _ENGINES and "ioengine" not in job.unknown:
            yield Mistake(f"fdp with ioengine={job.engine}", (job.name,), severity="error")
        elif is_asked and "fdp_pli" not in job.options:
            yield Mistake(
                "fdp without fdp_pli (plids): fio uses all placement handles in turn",
                (job.name,),
                severity="note",
            )
        elif not is_asked and "fdp_pli" in job.options and not job.hides_flags:
            yield Mistake("fdp_pli without fdp=1", (job.name,))
    yield from _of_handles(fio)


def _of_handles(fio: FioJobs) -> Judgements:
    jobs = [job for job in fio.writers if job.has("fdp") and "fdp_pli" in job.options]
    handles = {job.options["fdp_pli"].strip() for job in jobs}
    if len(jobs) > 1 and len(handles) == 1 and handles.pop().isdecimal():
        yield Mistake(f"all jobs have fdp_pli={jobs[0].options['fdp_pli']}",
                    tuple(job.name for job in jobs))  # fmt: skip


def _of_counters(counters: Counters) -> Judgements:
    notes = (note for snapshot in counters.snapshots for note in snapshot.facts.notes)
    for note in dict.fromkeys(note for note in notes if note.startswith("FDP statistics are 0")):
        yield Mistake(note)


CHECK = DoctorCheck(
    "fdp-not-used",
    "warning",
    "FDP placement is requested but has no effect: data of different streams is not separated",
    "use ioengine=io_uring_cmd or xnvme, with fdp_pli for each job, on a namespace with FDP "
    "enabled",
    "fio's HOWTO (fdp, plids)",
    {"fio job": _of_jobs, "counters": _of_counters},
)
