"""Lists of trained models for `writeamp list`."""

from __future__ import annotations

from writeamp.learn.blackbox.model_kinds import model_kinds


def feature_sets() -> list[tuple[str, str]]:
    """Return names and sources of the feature sets."""
    from writeamp.learn.blackbox.features import FEATURE_SETS  # noqa: PLC0415 (slow)

    return [(feature_set.name, feature_set.source) for feature_set in FEATURE_SETS.values()]


def blackbox_models() -> list[tuple[str, str]]:
    """Return names and summaries of the black-box models."""
    return [(name, kind.summary) for name, kind in model_kinds().items()]
