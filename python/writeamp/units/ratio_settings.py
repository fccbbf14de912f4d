"""Settings of over-provisioning: the three ratios of spare space."""

from __future__ import annotations

from typing import Any

from writeamp.fields.domains import RATIO
from writeamp.fields.setting import setting


def _ratio(help_text: str, panel: str) -> Any:
    return setting(None, RATIO, help_text, number="ratio", excludes="ratio", panel=panel)


def op_setting(panel: str = "capacity") -> Any:
    """Return a field for the over-provisioning ratio."""
    return _ratio(
        "over-provisioning ratio (T-U)/U, T physical and U logical pages, such as 0.15 or 15%",
        panel,
    )


def fill_setting(panel: str = "capacity") -> Any:
    """Return a field for the fill."""
    return _ratio("fill U/T = 1/(1+op)", panel)


def spare_factor_setting(panel: str = "capacity") -> Any:
    """Return a field for the spare factor."""
    return _ratio("spare factor (T-U)/T = op/(1+op)", panel)
