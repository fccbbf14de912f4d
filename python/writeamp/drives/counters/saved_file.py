"""Saved snapshot: documents of one drive at one moment, in one file."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from writeamp.drives.counters.document import Document, number, text_of, within
from writeamp.drives.counters.facts import CounterFacts, CounterSource
from writeamp.errors import WriteampError

VERSION_KEY = "writeamp_snapshot"
VERSION = 1
# The file of a folder that says when, and by which commands, its other files were read.
TAKEN = "taken.json"
_DOCUMENTS = "documents"
# Those that are no text, in base64.
_PAGES = "pages"
_NAME = "writeamp measure save"
_MOST_NOTES = 20


class Taken(NamedTuple):
    """Time and place at which the documents of a drive were read.

    Attributes:
        taken_at: seconds since 1970; None if the documents say it, or nobody knows.
        device: its path, or that of the files.
        commands: that printed each document, by its name.
        notes: sentences about logs that could not be read.
    """

    taken_at: float | None
    device: str
    commands: Mapping[str, str]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return what a saved snapshot says of itself, as JSON types."""
        return {VERSION_KEY: VERSION, **self._asdict()}


def taken_document(taken: Taken) -> bytes:
    """Return the document that a folder's other files are described by."""
    return _printed(taken.to_dict())


def packed(contents: Mapping[str, bytes]) -> bytes:
    """Return one file that holds the documents of a drive, with what `TAKEN` says in front."""
    found: dict[str, dict[str, str]] = {_DOCUMENTS: {}, _PAGES: {}}
    for name, content in contents.items():
        if name == TAKEN:
            continue
        try:
            found[_DOCUMENTS][name] = content.decode()
        except UnicodeDecodeError:
            found[_PAGES][name] = base64.b64encode(content).decode()
    return _printed({**json.loads(contents[TAKEN]), **found})


def unpacked(document: Document) -> dict[str, bytes] | None:
    """Return the documents in a saved snapshot by name; None of other files.

    Raises:
        WriteampError: it is of a later version, or holds no documents.
    """
    if VERSION_KEY.encode() not in document.content[:200]:
        return None
    log = document.json
    if not isinstance(log, dict) or VERSION_KEY not in log or _DOCUMENTS not in log:
        return None
    if log[VERSION_KEY] != VERSION:
        raise WriteampError(
            f"{document.name} is a snapshot of version {str(log[VERSION_KEY])[:20]}, and this "
            f"writeamp reads {VERSION}"
        )
    texts, pages = log[_DOCUMENTS], log.get(_PAGES, {})
    try:
        found = {name: text.encode("utf-8", "replace") for name, text in texts.items()}
        found |= {name: base64.b64decode(text) for name, text in pages.items()}
    except (AttributeError, TypeError, ValueError):
        raise WriteampError(f"{document.name} is a saved snapshot that is damaged") from None
    head = {key: value for key, value in log.items() if key not in {_DOCUMENTS, _PAGES}}
    return {name: content for name, content in found.items() if name} | {TAKEN: _printed(head)}


def is_taken(document: Document) -> bool:
    """Return whether a document describes those beside it."""
    return (
        VERSION_KEY.encode() in document.content[:200]
        and within(document.json, VERSION_KEY) == VERSION
    )


def _printed(document: Any) -> bytes:
    return json.dumps(document, indent=1).encode() + b"\n"


def _read(document: Document) -> Iterator[CounterFacts]:
    notes = within(document.json, "notes")
    said = [text_of(one) for one in notes[:_MOST_NOTES]] if isinstance(notes, list) else []
    yield CounterFacts(
        source=_NAME,
        taken_at=number(within(document.json, "taken_at")),
        notes=tuple(one for one in said if one),
    )


SOURCE = CounterSource(_NAME, is_taken, _read, specificity=90)
