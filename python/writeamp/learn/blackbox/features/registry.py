"""Registry of feature sets."""

from __future__ import annotations

from writeamp.errors import unknown
from writeamp.learn.blackbox.features.basic import BASIC
from writeamp.learn.blackbox.features.extended import EXTENDED
from writeamp.learn.blackbox.features.feature_set import FeatureSet
from writeamp.learn.blackbox.features.modern import MODERN

FEATURE_SETS: dict[str, FeatureSet] = {one.name: one for one in (BASIC, EXTENDED, MODERN)}


def find_feature_set(name: str) -> FeatureSet:
    """Return the registered set called `name`; an unknown name is a `WriteampError`."""
    if name not in FEATURE_SETS:
        raise unknown("feature set", name, FEATURE_SETS)
    return FEATURE_SETS[name]
