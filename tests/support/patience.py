"""Patience of tests: however busy the machine is they wait, but not for ever."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Nothing waits for longer than it must: this ends only what would never end.
PATIENCE_S = 600


def await_value(read: Callable[[], T]) -> T:
    """Return what is read as soon as it is something."""
    last_s = time.monotonic() + PATIENCE_S
    while not (found := read()):
        assert time.monotonic() < last_s, "it never came"
        time.sleep(0.01)
    return found
