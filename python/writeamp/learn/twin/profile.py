"""Device profile of a twin: the most probable drive as any profile, and all others in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tomli_w

from writeamp.devices.candidates import Candidates
from writeamp.files import output

_SOURCE = "writeamp twin fit: learnt from write amplification"


def profile_tables(
    candidates: Candidates, page_bytes: int, summary: str, posterior: dict[str, Any]
) -> dict[str, Any]:
    """Return the tables of a profile.

    Args:
        candidates: the drives that it may be.
        page_bytes: of a page of them.
        summary: what was found, in a line.
        posterior: what else is to be kept, as TOML has it.
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
            "candidates": [one.to_dict() for one in candidates.members],
        },
        "sources": {
            "geometry": "the most probable candidate",
            "management": "the most probable candidate",
        },
    }


def write_profile(path: str | Path, tables: dict[str, Any], inputs: list[str | Path]) -> None:
    """Write a profile, whole or not at all.

    Raises:
        WriteampError: the file cannot be written, or is one of the inputs.
    """
    with output.replacing(path, "device profile", inputs=inputs) as file:
        file.write(tomli_w.dumps(tables).encode())
