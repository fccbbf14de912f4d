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
        specificity: rank among the sources that match a document: the highest reads it. 90 is for
            pages, tables and files of one layout, 70 to 80 for texts and JSON of other tools than
            nvme-cli, 60 for nvme-cli's JSON, 40 to 49 for printed logs that are identified by their
            keys, 20 to 30 for those with common keys or coarse counters, and less for logs whose
            keys other logs have, too.
    """

    name: str
    matches: Callable[[Document], bool]
    read: Callable[[Document], Iterable[Facts]]
    specificity: int
