"""Description of a saved snapshot (`measure save`): when its other documents were read."""

from __future__ import annotations

from collections.abc import Iterator

from writeamp.drives.counters.document import Document, number, text_of, within
from writeamp.drives.counters.facts import Facts
from writeamp.drives.counters.saved_file import is_taken
from writeamp.drives.counters.source import Source

_NAME = "writeamp measure save"
_MOST_NOTES = 20


def _read(document: Document) -> Iterator[Facts]:
    notes = within(document.json, "notes")
    said = [text_of(one) for one in notes[:_MOST_NOTES]] if isinstance(notes, list) else []
    yield Facts(
        source=_NAME,
        taken_at=number(within(document.json, "taken_at")),
        notes=tuple(one for one in said if one),
    )


SOURCE = Source(_NAME, is_taken, _read, specificity=90)
