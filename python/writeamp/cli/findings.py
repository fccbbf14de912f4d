"""Mistakes that `doctor` finds in the input of another subcommand, printed as warnings."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any, Protocol

from writeamp.cli import options
from writeamp.extensions import extensions, loaded
from writeamp.registry.specs import Spec
from writeamp.settings.settings import LoadSettings


class AnyFinding(Protocol):
    """Interface of `writeamp.drives.doctor.finding.Finding`."""

    id: str
    message: str
    evidence: str
    advice: str

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON types."""


def of_command(command: str) -> list[AnyFinding]:
    """Print and return mistakes in the fio jobs of a shell command, before it runs."""
    if "fio" not in command:
        return []
    return _printed("findings_in_command", command)


def of_load(load: object) -> list[AnyFinding]:
    """Print and return mistakes in the order in which a trace writes."""
    if isinstance(load, Spec):  # a synthetic workload
        return []
    return _printed("findings_in_load", load)


def of_fio(settings: LoadSettings, capacity_bytes: int | None) -> list[AnyFinding]:
    """Print and return mistakes in the fio jobs of a load; empty for other loads."""
    if settings.fio_name is None:
        return []
    return _printed("findings_in_job", settings.fio, settings.fio_run, capacity_bytes)


def with_findings(document: dict[str, Any], findings: Sequence[AnyFinding]) -> dict[str, Any]:
    """Return a result's document with the findings added."""
    return document | {"findings": [finding.to_dict() for finding in findings]}


def _printed(function: str, *material: object) -> list[AnyFinding]:
    findings: list[AnyFinding] = []
    for checks in loaded(extensions("writeamp.findings").values(), ModuleType).values():
        findings += getattr(checks, function)(*material)
    for finding in findings:
        options.warn(
            f"{finding.id}: {finding.message}; found: {finding.evidence}. Advice: {finding.advice}"
        )
    return findings
