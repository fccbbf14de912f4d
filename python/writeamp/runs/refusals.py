"""Errors for drives too small for their policy or host, or too large for memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from writeamp.errors import PolicyError, RefusedError, WriteampError


@contextmanager
def refusals() -> Iterator[None]:
    """Raise the engine's errors as `RefusedError`, except errors in users' policies."""
    try:
        yield
    except (PolicyError, RefusedError):
        raise
    except WriteampError as error:
        raise RefusedError(str(error)) from None


def check_memory(what_needs: str, needed_bytes: int) -> None:
    """Raise an error if a simulation needs more memory than this machine has free."""
    # Linux overcommits memory, so an allocation does not fail. Without this check, the kernel would
    # kill the process.
    available_bytes = psutil.virtual_memory().available
    if needed_bytes > available_bytes:
        raise WriteampError(
            f"{what_needs} {needed_bytes / 2**30:.1f} GiB of memory, but only "
            f"{available_bytes / 2**30:.1f} GiB are available; use larger pages or fewer blocks"
        )
