"""Folders of the user's cache."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder(content: str) -> Path:
    """Return the folder of one kind of content: in writeamp of $XDG_CACHE_HOME, or of ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "writeamp" / content
