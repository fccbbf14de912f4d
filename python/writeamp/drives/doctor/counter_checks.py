"""Checks that counters had already when they were read, of snapshots and of results alike."""

from __future__ import annotations

from collections.abc import Iterator

from writeamp.drives.counters.document import objects
from writeamp.drives.counters.verdicts import Check
from writeamp.drives.doctor.inputs import Counters, ResultDocument


def checks_of(given: Counters | ResultDocument) -> Iterator[Check]:
    """Yield the checks of the counters of snapshots, or of a result of theirs, each once."""
    if isinstance(given, Counters):
        found = (one for answer in given.answers for one in answer.checks)
    else:
        several = given.document.get("snapshots")
        documents = objects(several) if several else [given.document]
        found = (
            Check(str(one.get("name")), one.get("verdict", "unknown"), str(one.get("evidence")))
            for document in documents
            for one in objects(document.get("checks"))
        )
    yield from dict.fromkeys(found)
