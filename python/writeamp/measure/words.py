"""Words of the options on measurements; nothing here imports what computes."""

from __future__ import annotations

from typing import Literal, TypeAlias

Method: TypeAlias = Literal["mixture", "fixed"]
METHODS: tuple[Method, ...] = ("mixture", "fixed")
