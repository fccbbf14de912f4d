"""The words of options on measurements, for which nothing that computes need be imported."""

from __future__ import annotations

from typing import Literal, TypeAlias

Method: TypeAlias = Literal["mixture", "fixed"]
METHODS: tuple[Method, ...] = ("mixture", "fixed")
