"""Older names of settings, JSON keys and options, which stay valid beside better names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from writeamp.errors import WriteampError
from writeamp.text import shown

# The older name for each better name of a setting, which is an argument, a key of files, a JSON key
# and an option.
SETTINGS = {"written_fraction": "hot_ratio"}
JSON_KEYS = SETTINGS | {"hint": "told"}
# The older name for each better name of an attribute that users' placements declare.
DECLARATIONS = {"required_hints": "hears"}
OPTIONS = {"--keep": "--out"} | {
    f"--{better.replace('_', '-')}": f"--{older.replace('_', '-')}"
    for better, older in SETTINGS.items()
}


def by_better_names(
    settings: Mapping[str, Any], older_names: Mapping[str, str] = SETTINGS
) -> dict[str, Any]:
    """Return settings by their better names.

    Raises:
        WriteampError: both names of a setting are given, with different values.
    """
    renamed = dict(settings)
    for better, older in older_names.items():
        value = renamed.pop(older, None)
        if value is None:
            continue
        if renamed.get(better, value) not in (value, None):
            raise WriteampError(
                f"{better} is {shown(renamed[better])}, but {older}, its older name, is "
                f"{shown(value)}; give only {better}"
            )
        renamed[better] = value
    return renamed


def with_old_names(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document that also has older names of keys, each after the better name."""
    both = {}
    for key, value in document.items():
        both[key] = value
        if key in JSON_KEYS:
            both[JSON_KEYS[key]] = value
    return both
