"""Estimators for black-box models, with the interface of scikit-learn."""

from __future__ import annotations

from importlib.util import find_spec

from writeamp.errors import WriteampError

for _package in ("sklearn", "skops"):
    if find_spec(_package) is None:
        raise WriteampError(
            f"black-box models need the package {_package}: pip install 'writeamp[blackbox]'"
        )
