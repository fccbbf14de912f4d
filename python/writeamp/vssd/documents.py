"""What the virtual SSD says of itself, as figures: sums of the documents of its control socket."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

# A document of the control socket, as `Control` gives it.
Document: TypeAlias = Mapping[str, Any]


def programmed_pages(counters: Document) -> int:
    """Return the pages programmed for all causes since the drive was new."""
    return int(sum(counters["programs"].values()))


def programmed_bytes(counters: Document) -> int:
    """Return the bytes programmed for all causes since the drive was new."""
    return programmed_pages(counters) * int(counters["page_bytes"])


def ratio(part: float, whole: float) -> float | None:
    """Return a ratio, or None where nothing was written that it could be of."""
    return part / whole if whole > 0 else None
