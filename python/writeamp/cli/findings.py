"""Findings of the doctor above the result of another verb."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any, Protocol

from writeamp.cli import options
from writeamp.extensions import extensions, loaded
from writeamp.registry.specs import Spec


class AnyFinding(Protocol):
    """A mistake, as `writeamp.drives.doctor.finding.Finding` is one."""

    id: str
    message: str
    evidence: str
    advice: str

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON types."""


def of_command(command: str) -> list[AnyFinding]:
    """Say what is wrong with the fio jobs of a command before it runs, and return that."""
    if "fio" not in command:
        return []
    return _told("findings_in_command", command)


def of_load(load: object) -> list[AnyFinding]:
    """Say what is wrong with the order of a trace's writes, and return that."""
    if isinstance(load, Spec):  # which has no order that could be wrong
        return []
    return _told("findings_in_load", load)


def with_findings(document: dict[str, Any], found: Sequence[AnyFinding]) -> dict[str, Any]:
    """Return a document with the findings beside its result."""
    return document | {"findings": [one.to_dict() for one in found]}


def _told(function: str, material: object) -> list[AnyFinding]:
    found: list[AnyFinding] = []
    for checks in loaded(extensions("writeamp.findings").values(), ModuleType).values():
        found += getattr(checks, function)(material)
    for one in found:
        options.warn(f"{one.id}: {one.message}; found: {one.evidence}. Advice: {one.advice}")
    return found
