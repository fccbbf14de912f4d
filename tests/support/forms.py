"""The form of long tests: short in `make test`, whole in `make test-full`; as in `forms.rs`."""

from __future__ import annotations

import os


def asks_for_the_whole(value: str | None) -> bool:
    """Return whether a value of `WRITEAMP_TEST_FULL` is something else than nothing and `0`."""
    return value not in (None, "", "0")


FULL = asks_for_the_whole(os.environ.get("WRITEAMP_TEST_FULL"))
