"""Checks of users' policies, for calls from users' tests (docs/your-own.md)."""

from __future__ import annotations

from writeamp.testing.checks import check_placement, check_victim_policy

__all__ = ["check_placement", "check_victim_policy"]
