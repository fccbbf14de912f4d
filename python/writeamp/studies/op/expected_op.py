"""Op at which theory expects a write amplification, beside that of a search."""

from __future__ import annotations

from dataclasses import dataclass

from writeamp.runs.expectation import Expectation, expectation
from writeamp.studies.op.drive_sizes import DriveSizes


@dataclass(frozen=True)
class ExpectedOp:
    """The `op` of the drive at which `model` expects the target; None where it does so at none.

    `wa` is what it expects at the op that the search found. `outside` says why that drive lies
    outside the model's domain, if it does.
    """

    op: float | None
    wa: float
    model: str
    outside: str | None

    def __str__(self) -> str:
        """Return the op in a line, marked if the model is outside its domain."""
        found = "no op" if self.op is None else f"op {self.op:.4g}"
        mark = f"; OUTSIDE ITS DOMAIN: {self.outside}" if self.outside else ""
        return f"{found} by {self.model}, which expects WA {self.wa:.4f} at the op found{mark}"


def expected_op(sizes: DriveSizes, target_wa: float, found: Expectation, held: int) -> ExpectedOp:
    """Return the op at which theory expects the target.

    Args:
        sizes: the drives.
        target_wa: the write amplification asked for.
        found: what theory expects of the drive that the search found.
        held: logical pages that hold data, as in `expectation`.
    """
    return ExpectedOp(_op(sizes, target_wa, held), found.wa, found.model, found.outside)


def expected_blocks(sizes: DriveSizes, target_wa: float, held: int) -> int:
    """Return the fewest blocks a plane with which theory expects at most the target WA.

    The largest drive if it expects more even there.
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
