"""Check of deletions that do not reach the drive as trims."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.inputs import ResultDocument
from writeamp.drives.doctor.traces import TraceFacts
from writeamp.fio.job_file import FioJobs


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.writers:
        deletes = [name for name in ("unlink", "unlink_each_loop") if job.has(name)]
        if deletes and not job.devices:
            yield Mistake(f"{deletes[0]}: files are deleted", (job.name,))


def _of_trace(trace: TraceFacts) -> Judgements:
    if trace.offsets.size and not trace.trims:
        yield Mistake("the trace has no trims")


def _of_result(result: ResultDocument) -> Judgements:
    host = result.document.get("host")
    trimmed = host.get("trimmed_pages") if isinstance(host, dict) else None
    if result.document.get("file_system") and trimmed == 0:
        yield Mistake(f"the file system {result.document['file_system']} sent no trims")


CHECK = DoctorCheck(
    "no-trim",
    "note",
    "If files are deleted, the drive keeps and copies their data, as it gets no trims or the trace "
    "lacks them",
    "mount with discard, or run fstrim, and check that the layers below (dm-crypt, RAID) pass "
    "trims on",
    "carrein/catallenya issue 10",
    {"fio job": _of_jobs, "trace": _of_trace, "result": _of_result},
)
