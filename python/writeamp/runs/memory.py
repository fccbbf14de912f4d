"""Memory of this machine, checked before large simulations."""

from __future__ import annotations

import psutil

from writeamp.errors import WriteampError


def check_memory(what_needs: str, needed_bytes: int) -> None:
    """Refuse a simulation that this machine has no memory for."""
    # Linux promises more memory than it has; without this check the kernel would kill the process.
    available_bytes = psutil.virtual_memory().available
    if needed_bytes > available_bytes:
        raise WriteampError(
            f"{what_needs} {needed_bytes / 2**30:.1f} GiB of memory but "
            f"{available_bytes / 2**30:.1f} GiB are available; use larger pages or fewer blocks"
        )
