"""Mistakes that `doctor` finds in the input of another subcommand.

Each is printed as a warning when it is found, and is part of the JSON document, which `show` of
`options.py` prints.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from writeamp.cli import boundary
from writeamp.extensions import extensions, loaded
from writeamp.registry.specs import Spec


class AnyFinding(Protocol):
    """Interface of `writeamp.drives.doctor.finding.Finding`."""

    id: str
    message: str
    evidence: str
    advice: str

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON types."""


# Findings of the running command; None if its input was not examined.
_findings: ContextVar[list[AnyFinding] | None] = ContextVar("findings", default=None)


def with_own_findings(body: Callable[..., None]) -> Callable[..., None]:
    """Return a subcommand that begins and ends without findings, as a process may run several."""

    @wraps(body)
    def command(*positional: Any, **arguments: Any) -> None:
        token = _findings.set(None)
        try:
            body(*positional, **arguments)
        finally:
            _findings.reset(token)

    return command


def of_command(command: str) -> None:
    """Find mistakes in the fio jobs of a shell command, before it runs."""
    if "fio" in command:
        _find("findings_in_command", command)
    else:
        _add([])


def of_load(load: object) -> None:
    """Find mistakes in the order in which a trace writes."""
    if isinstance(load, Spec):  # a synthetic workload
        _add([])
    else:
        _find("findings_in_load", load)


def of_fio(path: str | Path | None, command: str | None, capacity_bytes: int | None) -> None:
    """Find mistakes in fio jobs that are a load; without a job nothing is examined.

    Args:
        path: job file, or None.
        command: command line of fio, or None.
        capacity_bytes: size of the drive; None if unknown.
    """
    if path is not None or command is not None:
        job = None if path is None else str(path)
        _find("findings_in_job", job, command, capacity_bytes)


def with_findings(document: Any) -> Any:
    """Return a result's document with the findings, if the input was examined."""
    findings = _findings.get()
    if findings is None or not isinstance(document, dict):
        return document
    return document | {"findings": [finding.to_dict() for finding in findings]}


def _find(function: str, *material: object) -> None:
    findings: list[AnyFinding] = []
    for checks in loaded(extensions("writeamp.findings").values(), ModuleType).values():
        findings += getattr(checks, function)(*material)
    for finding in findings:
        boundary.say(
            f"warning: {finding.id}: {finding.message}; found: {finding.evidence}. Advice: "
            f"{finding.advice}"
        )
    _add(findings)


def _add(findings: list[AnyFinding]) -> None:
    _findings.set([*(_findings.get() or []), *findings])
