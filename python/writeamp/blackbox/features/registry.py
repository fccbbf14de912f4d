"""Registry of feature sets."""

from __future__ import annotations

from writeamp.blackbox.features.basic import BASIC
from writeamp.blackbox.features.extended import EXTENDED
from writeamp.blackbox.features.feature_set import FeatureSet
from writeamp.blackbox.features.modern import MODERN
from writeamp.errors import unknown

FEATURE_SETS: dict[str, FeatureSet] = {one.name: one for one in (BASIC, EXTENDED, MODERN)}


def find_feature_set(name: str) -> FeatureSet:
    """Return the registered set called `name`; an unknown name is a `WriteampError`."""
    if name not in FEATURE_SETS:
        raise unknown("feature set", name, FEATURE_SETS)
    return FEATURE_SETS[name]
