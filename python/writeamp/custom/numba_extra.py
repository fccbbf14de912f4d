"""Test for Numba, which is an optional dependency."""

from __future__ import annotations

from importlib.util import find_spec


def has_numba() -> bool:
    """Return whether Numba is installed."""
    return find_spec("numba") is not None
