"""Keeping of runs on drives of one logical size, by their blocks in each plane."""

from __future__ import annotations

from typing import Any

from writeamp.results.documents import from_document, to_document
from writeamp.runs.meaning import meaning_of_run
from writeamp.runs.plan import Plan
from writeamp.runs.simulation_result import Result
from writeamp.studies.op.drive_sizes import DriveSizes
from writeamp.studies.study import DocumentCodec, RunFacts


class KeepDrives(DocumentCodec[int, Result]):
    """Keeping of a curve's or a search's runs: each means its drive, load, policy and length."""

    verb = "simulate"

    def __init__(self, sizes: DriveSizes, plan: Plan | None = None, *, has_scaling: bool) -> None:
        """Take the drives.

        Args:
            sizes: the drives, and what runs on them.
            plan: what runs on them in place of that.
            has_scaling: whether each result has the error of scaling, if there is one.
        """
        self._sizes = sizes
        self._plan = plan or sizes.plan
        self._has_scaling = has_scaling

    def meaning(self, blocks: int) -> dict[str, Any]:
        """Return the meaning of the run on a drive, and of the one that tells its error."""
        sizes, drive = self._sizes, self._sizes.drive(blocks)
        found = meaning_of_run(self._plan, drive)
        if not self._has_scaling or sizes.scale is None:
            return found
        found["scale"] = to_document(sizes.scale)
        if sizes.smaller is not None:
            smaller = sizes.smaller.drive(sizes.smaller.blocks_for(drive.op))
            found["smaller"] = meaning_of_run(sizes.smaller.plan, smaller)
        return found

    def facts(self, blocks: int, result: Result) -> RunFacts:
        """Return the op of the drive, the seed and WA."""
        op = self._sizes.op(blocks)
        return RunFacts(f"{self._plan.policy} at op {op:.6g}", self._plan.seed, result.wa)

    def document(self, blocks: int, result: Result) -> Any:
        """Return the result as JSON types, without what all drives have in common."""
        return to_document(result, without=("plan", "device"))

    def result(self, blocks: int, document: Any) -> Result:
        """Return the result of a drive from its document."""
        plan = (self._sizes.said if self._has_scaling else self._plan).without_requests()
        drive = self._sizes.drive(blocks)
        return from_document(Result, document, plan=plan, device=drive)
