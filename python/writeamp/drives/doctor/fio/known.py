"""Names that fio knows: options, engines and directions; and the nearest to another name."""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from functools import cache
from importlib.resources import files

# Of a shorter name, one letter is most of it.
_ALIKE = 0.8


@cache
def _names() -> dict[str, frozenset[str]]:
    text = files("writeamp.drives.doctor.fio").joinpath("options.toml").read_text("utf-8")
    return {key: frozenset(found) for key, found in tomllib.loads(text).items()}


def option_names() -> frozenset[str]:
    """Return the names of options, those of engines among them."""
    return _names()["options"]


def engine_names() -> frozenset[str]:
    """Return the names of I/O engines."""
    return _names()["engines"]


def directions() -> frozenset[str]:
    """Return the values of `rw`."""
    return _names()["directions"]


def nearest(name: str, known: frozenset[str]) -> str | None:
    """Return the known name that one is most like; None if none is near.

    >>> nearest("filenam", option_names()), nearest("spdk_core_mask", option_names())
    ('filename', None)
    """
    return next(iter(get_close_matches(name, sorted(known), 1, _ALIKE)), None)
