"""Presentation of results: cards in notebooks."""

from __future__ import annotations

from abc import abstractmethod

from writeamp.results.any_result import AnyResult
from writeamp.results.card import Card, html_of


class Presented(AnyResult):
    """A result that notebooks show."""

    @abstractmethod
    def card(self) -> Card:
        """Return the main facts in words, as a notebook shows them."""

    def _repr_html_(self) -> str:
        return html_of(self.card())
