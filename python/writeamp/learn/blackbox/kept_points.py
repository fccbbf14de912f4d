"""Keeping of the points of collections: a measurement means its target and its point."""

from __future__ import annotations

from typing import Any

from writeamp.errors import WriteampError
from writeamp.learn.blackbox.targets.target import Job, Outcome, Target
from writeamp.results.documents import from_document, to_document
from writeamp.studies.study import DocumentCodec, RunFacts


class KeepPoints(DocumentCodec[Job, Outcome]):
    """Keeping of the points that are measured on one target; failures are kept, too."""

    verb = "blackbox collect"

    def __init__(self, target: Target) -> None:
        """Take the target."""
        self._target = target

    def meaning(self, job: Job) -> dict[str, Any]:
        """Return all that decides the measurement: the target's settings and the point."""
        target = {"kind": self._target.kind, **self._target.meaning}
        return {"target": target, "point": job.point.to_dict()}

    def facts(self, job: Job, result: Outcome) -> RunFacts:
        """Return the workload, the seed, and WA where it is known."""
        wa = None if result.measured is None else result.measured.wa
        return RunFacts(job.point.spec, self._target.seed, wa, result.error)

    def document(self, job: Job, result: Outcome) -> Any:
        """Return the outcome as JSON types, without its point."""
        del job
        return to_document(result, without=("point",))

    def result(self, job: Job, document: Any) -> Outcome:
        """Return the outcome of a point from its document."""
        found = from_document(Outcome, document, point=job.point)
        assert isinstance(found, Outcome)
        if (found.measured is None) == (found.error is None):
            raise WriteampError("it has no measurement, or one beside an error")
        return found
