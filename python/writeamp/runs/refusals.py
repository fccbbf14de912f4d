"""Refusals: of drives too small for their policy or host, and too large for the memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from writeamp.errors import PolicyError, RefusedError, WriteampError


@contextmanager
def refusals() -> Iterator[None]:
    """Raise the engine's errors as refusals, but for the faults of users' policies."""
    try:
        yield
    except (PolicyError, RefusedError):
        raise
    except WriteampError as error:
        raise RefusedError(str(error)) from None


def check_memory(what_needs: str, needed_bytes: int) -> None:
    """Refuse a simulation that this machine has no memory for."""
    # Linux promises more memory than it has; without this check the kernel would kill the process.
    available_bytes = psutil.virtual_memory().available
    if needed_bytes > available_bytes:
        raise WriteampError(
            f"{what_needs} {needed_bytes / 2**30:.1f} GiB of memory but "
            f"{available_bytes / 2**30:.1f} GiB are available; use larger pages or fewer blocks"
        )
