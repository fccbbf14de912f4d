"""Estimators for black-box models, with the interface of scikit-learn."""

from __future__ import annotations

from writeamp.errors import WriteampError
from writeamp.learn.blackbox.model_kinds import missing_packages

if _missing := missing_packages():
    raise WriteampError(_missing)
