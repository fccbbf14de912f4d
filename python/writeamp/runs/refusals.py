"""Refusals: what the engine says of a drive that is too small for its policy or its host."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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
