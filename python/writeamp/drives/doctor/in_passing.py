"""Findings in what other verbs are given, which they show above their own result."""

from __future__ import annotations

from writeamp.drives.doctor.examination import examined
from writeamp.drives.doctor.finding import Finding
from writeamp.drives.doctor.fio.command_line import is_command
from writeamp.drives.doctor.inputs import Input, Several, read_command
from writeamp.drives.doctor.traces import of_pages
from writeamp.errors import WriteampError
from writeamp.traces import PageTrace

# Who runs a command on a drive knows itself how often that was written, and pages written in part
# have figures of their own.
_TOLD_OTHERWISE = {"too-few-writes", "fresh-drive"}
_OF_ORDER = {"looped-permutation", "short-period"}


def findings_in_command(command: str) -> list[Finding]:
    """Return findings above a note on the fio jobs of a command that is about to run.

    Of a job file that fio would refuse fio itself says so.

    Args:
        command: for the shell; there may be no fio in it.
    """
    if not is_command(command):
        return []
    try:
        found = _material(*read_command(command))
    except WriteampError:
        return []
    return [one for one in found if one.id not in _TOLD_OTHERWISE]


def findings_in_load(load: object) -> list[Finding]:
    """Return what is wrong with the order of a trace's writes; nothing of other loads."""
    if not isinstance(load, PageTrace) or not load.start.size:
        return []
    return [one for one in _material(of_pages(load)) if one.id in _OF_ORDER]


def _material(*inputs: Input) -> list[Finding]:
    found = examined(Several(inputs), None).findings
    return [one for one in found if one.severity != "note"]
