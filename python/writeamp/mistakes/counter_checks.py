"""Checks that counters had already when they were read, of snapshots and of results alike."""

from __future__ import annotations

from collections.abc import Iterator

from writeamp.measure.counters.verdicts import Check
from writeamp.mistakes.inputs import Counters, ResultDocument


def checks_of(given: Counters | ResultDocument) -> Iterator[Check]:
    """Yield the checks of the counters of snapshots, or of a result of theirs, each once."""
    if isinstance(given, Counters):
        found = (one for answer in given.answers for one in answer.checks)
    else:
        said = given.document.get("checks")
        found = (
            Check(str(one.get("name")), one.get("verdict", "unknown"), str(one.get("evidence")))
            for one in (said if isinstance(said, list) else [])
            if isinstance(one, dict)
        )
    yield from dict.fromkeys(found)
