"""Findings of the doctor above the result of another verb."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from writeamp.cli import options
from writeamp.registry.specs import Spec

if TYPE_CHECKING:
    from writeamp.mistakes.finding import Finding


def of_command(command: str) -> list[Finding]:
    """Say what is wrong with the fio jobs of a command before it runs, and return that."""
    if "fio" not in command:
        return []
    from writeamp.mistakes.in_passing import findings_in_command  # noqa: PLC0415 (slow)

    return _told(findings_in_command(command))


def of_load(load: object) -> list[Finding]:
    """Say what is wrong with the order of a trace's writes, and return that."""
    if isinstance(load, Spec):  # which has no order that could be wrong
        return []
    from writeamp.mistakes.in_passing import findings_in_load  # noqa: PLC0415 (slow)

    return _told(findings_in_load(load))


def with_findings(document: dict[str, Any], found: Sequence[Finding]) -> dict[str, Any]:
    """Return a document with the findings beside its result."""
    return document | {"findings": [one.to_dict() for one in found]}


def _told(found: list[Finding]) -> list[Finding]:
    for one in found:
        options.warn(f"{one.id}: {one.message}; found: {one.evidence}. Advice: {one.advice}")
    return found
