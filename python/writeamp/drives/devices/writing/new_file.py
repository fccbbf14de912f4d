"""New file with random content on a drive's file system."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from writeamp.errors import WriteampError
from writeamp.runners import Progress

_CHUNK_BYTES = 4 << 20


@contextmanager
def random_file(path: Path, size_bytes: int, progress: Progress | None) -> Iterator[None]:
    """Write and sync a new file with random content, and remove it when the block ends.

    Args:
        path: path of the file, which must not exist.
        size_bytes: size of the file.
        progress: called with bytes written and total bytes.

    Raises:
        WriteampError: the file cannot be written.
    """
    source = random.Random(os.urandom(16))
    is_made = False
    try:
        with path.open("xb") as file:
            is_made = True
            for start in range(0, size_bytes, _CHUNK_BYTES):
                file.write(source.randbytes(min(_CHUNK_BYTES, size_bytes - start)))
                if progress:
                    progress(start, size_bytes)
            file.flush()
            os.fsync(file.fileno())
        yield
    except OSError as error:
        raise WriteampError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
    finally:
        if is_made:
            path.unlink(missing_ok=True)
