"""Live files: written by the plugin while it serves, and converted at the end."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def live_file(target: str) -> Iterator[Path]:
    """Give a name for what will become the target: beside it, for it may be large, and hidden.

    The file is removed whatever happens, but for a process that is killed.
    """
    real = Path(os.path.realpath(target))
    raw = real.with_name(f".{real.name}-{secrets.token_hex(4)}.raw")
    try:
        yield raw
    finally:
        with suppress(OSError):
            raw.unlink()
