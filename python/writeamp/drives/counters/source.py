"""Source: one kind of document that holds counters of drives."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from writeamp.drives.counters.document import Document
from writeamp.drives.counters.facts import Facts


class Source(NamedTuple):
    """A kind of document, by what it looks like, and its reader.

    Attributes:
        name: of the tool and what it prints.
        matches: tell from the content whether it is such a document.
        read: return the facts; of a document with several drives or moments, of each.
    """

    name: str
    matches: Callable[[Document], bool]
    read: Callable[[Document], Iterable[Facts]]
