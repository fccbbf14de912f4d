"""Device profile of a twin: a few representative candidates, and the most probable drive."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from writeamp.devices.candidates import Candidate, Candidates
from writeamp.files import output
from writeamp.learn.twin.families import Variant
from writeamp.learn.twin.likelihood import Floats, Weighed
from writeamp.units.ratios import physical_of

_SOURCE = "writeamp twin fit: learnt from write amplification"


def profile_tables(
    candidates: Candidates, page_bytes: int, summary: str, posterior: dict[str, Any]
) -> dict[str, Any]:
    """Return the tables of a profile.

    Args:
        candidates: the possible drives.
        page_bytes: page size of these drives, in bytes.
        summary: the result of the fit in one line.
        posterior: further values to store, as TOML types.
    """
    best = candidates.members[0]
    return {
        "summary": summary,
        "source": _SOURCE,
        "geometry": {
            "blocks_per_plane": candidates.blocks_of(best),
            "pages_per_block": best.erase_unit_pages,
            "page_bytes": page_bytes,
        },
        "management": {"op": best.op, "layout": "flat"},
        "twin": {
            "logical_pages": candidates.logical_pages,
            "error": candidates.error,
            **posterior,
            "candidates": [candidate.to_dict() for candidate in candidates.members],
        },
        "sources": {
            "geometry": "the most probable candidate",
            "management": "the most probable candidate",
        },
    }


def write_profile(path: str | Path, tables: dict[str, Any], inputs: list[str | Path]) -> None:
    """Write a profile, completely or not at all.

    Raises:
        WriteampError: the file cannot be written, or is one of the inputs.
    """
    with output.replacing(path, "device profile", inputs=inputs) as file:
        file.write(tomli_w.dumps(tables).encode())


# Candidates are grouped by variant, octave of the erase unit, and op; op is divided into this
# number of ranges of equal weight.
_OP_CELLS = 3
# If the standard deviation of log op is below this, one range of op suffices, since predictions
# hardly differ.
_NARROW = 0.004
_LEAST_WEIGHT = 0.002
_MOST = 40


def condensed(
    weighed: Weighed, op: Floats, variants: Sequence[Variant], logical_pages: int
) -> tuple[Candidate, ...]:
    """Group similar candidates, and return each group's weighted mean, the most probable first.

    Args:
        weighed: all candidates.
        op: op of each candidate, for the capacity of the measured drive.
        variants: placements and victim policies of the candidates.
        logical_pages: number of logical pages of the measured drive.
    """
    means = []
    for variant in np.unique(weighed.variant):
        of_variant = weighed.variant == variant
        octaves = np.round(weighed.log2_unit)
        for octave in np.unique(octaves[of_variant]):
            own = np.flatnonzero(of_variant & (octaves == octave))
            for cell in _cells(np.log(op[own]), weighed.weight[own]):
                members = own[cell]
                weight = float(weighed.weight[members].sum())
                if weight < _LEAST_WEIGHT:
                    continue
                share = weighed.weight[members] / weight
                unit = max(2, round(float(np.exp2(share @ weighed.log2_unit[members]))))
                mean_op = float(np.exp(share @ np.log(op[members])))
                blocks = physical_of(logical_pages, mean_op) / unit
                mean = variants[variant]
                means.append(
                    Candidate(mean.manager, mean.victims_on(blocks), mean_op, unit, weight)
                )
    means.sort(key=lambda mean: -mean.weight)
    means = means[:_MOST]
    total = sum(mean.weight for mean in means)
    return tuple(
        Candidate(mean.manager, mean.victims, mean.op, mean.erase_unit_pages, mean.weight / total)
        for mean in means
    )


def _cells(log_op: Floats, weight: Floats) -> list[np.ndarray]:
    """Divide candidates by op into three groups of equal weight; one group if op is narrow.

    Returns:
        The indices of the candidates of each group.
    """
    whole = weight.sum()
    if not whole:
        return []
    mean = weight @ log_op / whole
    if np.sqrt(weight @ (log_op - mean) ** 2 / whole) < _NARROW:
        return [np.arange(log_op.size)]
    order = np.argsort(log_op)
    cell = np.minimum(np.cumsum(weight[order]) / whole * _OP_CELLS, _OP_CELLS - 1e-9).astype(int)
    return [order[cell == at] for at in range(_OP_CELLS) if np.any(cell == at)]
