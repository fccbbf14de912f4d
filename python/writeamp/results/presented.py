"""Presentation of results: cards in notebooks, and rows of data frames."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from writeamp.results.card import Card, html_of
from writeamp.results.frames import frame_of

if TYPE_CHECKING:
    import polars as pl


class Presented:
    """A result that notebooks show, and that is rows of a data frame."""

    @abstractmethod
    def card(self) -> Card:
        """Return the main facts in words, as a notebook shows them."""

    def _records(self) -> Iterable[Mapping[str, Any]]:
        """Return the record of each row of `to_frame`, as JSON types."""
        return [self.to_dict()]  # type: ignore[attr-defined]  # or a class has records of its own

    def to_frame(self) -> pl.DataFrame:
        """Return the result as a Polars data frame with the keys of `--json` as columns.

        Nested keys are joined by "_", and an interval `wa_ci95` is `wa_low` and `wa_high`.
        """
        return frame_of(self._records())

    def _repr_html_(self) -> str:
        return html_of(self.card())
