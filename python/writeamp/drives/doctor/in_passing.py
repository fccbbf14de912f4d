"""Findings in the inputs of other commands, which show them above their own result."""

from __future__ import annotations

from writeamp.drives.doctor.examination import examined
from writeamp.drives.doctor.finding import Finding
from writeamp.drives.doctor.inputs import Input, Several, read_command
from writeamp.drives.doctor.traces import of_pages
from writeamp.errors import WriteampError
from writeamp.fio.command_line import is_command
from writeamp.fio.job_file import on_drive
from writeamp.fio.workload import jobs_of
from writeamp.traces import PageTrace

# Findings that are left out for a command on a real drive, because they depend on earlier writes to
# the drive.
_REPORTED_ELSEWHERE = {"too-few-writes", "fresh-drive"}
# Findings that do not concern the load: the drive's state, the target and its other users.
_NOT_OF_LOADS = _REPORTED_ELSEWHERE | {"page-cache", "stacked-storage", "no-flash-behind"}
_OF_ORDER = {"looped-permutation", "short-period"}


def findings_in_command(command: str) -> list[Finding]:
    """Return errors and warnings about the fio jobs of a command that is about to run.

    The result is empty if a job file is invalid, as fio itself reports this. Findings on too few
    writes and fresh drives are left out, as they depend on earlier writes to the drive.

    Args:
        command: shell command, which may not contain fio.
    """
    if not is_command(command):
        return []
    try:
        findings = _material(*read_command(command))
    except WriteampError:
        return []
    return [finding for finding in findings if finding.id not in _REPORTED_ELSEWHERE]


def findings_in_job(
    path: str | None, command: str | None, capacity_bytes: int | None
) -> list[Finding]:
    """Return errors and warnings about fio jobs that are simulated.

    Args:
        path: job file, or None.
        command: command line of fio, or None.
        capacity_bytes: size of the simulated drive; None if unknown.
    """
    findings = _material(on_drive(jobs_of(path, command), capacity_bytes))
    return [finding for finding in findings if finding.id not in _NOT_OF_LOADS]


def findings_in_load(load: object) -> list[Finding]:
    """Return findings about the order of a trace's writes; empty if the load is not a trace."""
    if not isinstance(load, PageTrace) or not load.start.size:
        return []
    return [finding for finding in _material(of_pages(load)) if finding.id in _OF_ORDER]


def _material(*inputs: Input) -> list[Finding]:
    findings = examined(Several(inputs), None).findings
    return [finding for finding in findings if finding.severity != "note"]
