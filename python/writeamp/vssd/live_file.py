"""Live files: written by the plugin while it serves, and converted at the end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from writeamp.files.temporary import temporary_folder


@contextmanager
def live_file(target: str) -> Iterator[Path]:
    """Give a name for what will become the target: beside it, for it may be large, and hidden.

    The file is removed whatever happens; if this process is killed, by the next one that makes a
    live file in that folder.
    """
    real = Path(os.path.realpath(target))
    with temporary_folder(beside=real) as folder:
        yield folder / real.name
