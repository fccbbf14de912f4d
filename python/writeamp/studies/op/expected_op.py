"""Op at which theory predicts a write amplification, shown with the result of a search."""

from __future__ import annotations

from dataclasses import dataclass

from writeamp.runs.expectation import Expectation, expectation
from writeamp.studies.op.drive_sizes import DriveSizes


@dataclass(frozen=True)
class ExpectedOp:
    """The `op` at which `model` predicts the target WA, or None if no op gives it.

    `wa` is the model's prediction at the op that the search found. `outside` is the reason if the
    drive with that op violates the model's assumptions.
    """

    op: float | None
    wa: float
    model: str
    outside: str | None

    def __str__(self) -> str:
        """Return the op in one line, marked if the drive violates the model's assumptions."""
        op_text = "no op" if self.op is None else f"op {self.op:.4g}"
        mark = f"; OUTSIDE ITS ASSUMPTIONS: {self.outside}" if self.outside else ""
        return (
            f"{op_text} by {self.model}, which predicts WA {self.wa:.4f} at the op of the "
            f"simulation{mark}"
        )


def expected_op(
    sizes: DriveSizes, target_wa: float, expected: Expectation, held: int
) -> ExpectedOp:
    """Return the op at which theory predicts the target WA.

    Args:
        sizes: the drives.
        target_wa: target write amplification.
        expected: theory's prediction for the drive that the search found.
        held: number of logical pages that hold data, as for `expectation`.
    """
    return ExpectedOp(_op(sizes, target_wa, held), expected.wa, expected.model, expected.outside)


def expected_blocks(sizes: DriveSizes, target_wa: float, held: int) -> int:
    """Return the fewest blocks per plane with which theory predicts at most the target WA.

    If the prediction exceeds the target even for the largest drive, returns its blocks.
    """
    low, high = sizes.fewest - 1, sizes.most
    while high - low > 1:
        middle = (low + high) // 2
        if _wa(sizes, middle, held) <= target_wa:
            high = middle
        else:
            low = middle
    return high


def _op(sizes: DriveSizes, target_wa: float, held: int) -> float | None:
    blocks = expected_blocks(sizes, target_wa, held)
    below = _wa(sizes, blocks, held)
    if below > target_wa:
        return None
    if blocks == sizes.fewest:
        return sizes.op(blocks)
    above = _wa(sizes, blocks - 1, held)
    return sizes.op(blocks - (target_wa - below) / (above - below))


def _wa(sizes: DriveSizes, blocks: int, held: int) -> float:
    return expectation(sizes.plan, sizes.drive(blocks), held).wa
