"""Fleets of a few small volumes for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import writeamp as wa


def split_fleet(folder: Path, **settings: Any) -> wa.volumes.Fleet:
    """Make `fleet.csv` in a folder, and return the fleet that a split of it finds."""
    made = wa.volumes.make(folder / "fleet.csv", **settings)
    return wa.volumes.split(made.path, folder / "fleet", trace_format="alibaba").fleet
