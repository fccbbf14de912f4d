"""Saved snapshot: documents of one drive at one moment in one file."""

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
# Name of the file that has the time at which the other files of its folder were read, and their
# commands.
TAKEN = "taken.json"
_DOCUMENTS = "documents"
# Key of the binary documents, in base64.
_PAGES = "pages"
_NAME = "writeamp measure save"
_MOST_NOTES = 20


class SnapshotOrigin(NamedTuple):
    """Time and origin of a drive's documents.

    Attributes:
        taken_at: seconds since 1970; None if unknown, or if the documents have the time.
        device: path of the device or of the files.
        commands: command that printed each document, by document name.
        notes: sentences about logs that could not be read.
    """

    taken_at: float | None
    device: str
    commands: Mapping[str, str]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the description of a saved snapshot, as JSON types."""
        return {VERSION_KEY: VERSION, **self._asdict()}


def taken_document(taken: SnapshotOrigin) -> bytes:
    """Return the document with the time, device and commands of the other files of a folder."""
    return _printed(taken.to_dict())


def packed(contents: Mapping[str, bytes]) -> bytes:
    """Return one file with all documents of a drive; the description in `TAKEN` comes first."""
    packed_documents: dict[str, dict[str, str]] = {_DOCUMENTS: {}, _PAGES: {}}
    for name, content in contents.items():
        if name == TAKEN:
            continue
        try:
            packed_documents[_DOCUMENTS][name] = content.decode()
        except UnicodeDecodeError:
            packed_documents[_PAGES][name] = base64.b64encode(content).decode()
    return _printed({**json.loads(contents[TAKEN]), **packed_documents})


def unpacked(document: Document) -> dict[str, bytes] | None:
    """Return the documents of a saved snapshot by name; None for other files.

    Raises:
        WriteampError: the snapshot has a later version, or no documents.
    """
    if VERSION_KEY.encode() not in document.content[:200]:
        return None
    log = document.json
    if not isinstance(log, dict) or VERSION_KEY not in log or _DOCUMENTS not in log:
        return None
    if log[VERSION_KEY] != VERSION:
        raise WriteampError(
            f"{document.name} has snapshot version {str(log[VERSION_KEY])[:20]}; this writeamp "
            f"reads version {VERSION}"
        )
    texts, pages = log[_DOCUMENTS], log.get(_PAGES, {})
    try:
        documents = {name: text.encode("utf-8", "replace") for name, text in texts.items()}
        documents |= {name: base64.b64decode(text) for name, text in pages.items()}
    except (AttributeError, TypeError, ValueError):
        raise WriteampError(
            f"{document.name} is a saved snapshot with damaged content. Save it again"
        ) from None
    head = {key: value for key, value in log.items() if key not in {_DOCUMENTS, _PAGES}}
    return {name: content for name, content in documents.items() if name} | {TAKEN: _printed(head)}


def is_taken(document: Document) -> bool:
    """Return whether a document is the description of the files next to it."""
    return (
        VERSION_KEY.encode() in document.content[:200]
        and within(document.json, VERSION_KEY) == VERSION
    )


def _printed(document: Any) -> bytes:
    return json.dumps(document, indent=1).encode() + b"\n"


def _read(document: Document) -> Iterator[CounterFacts]:
    notes = within(document.json, "notes")
    texts = [text_of(note) for note in notes[:_MOST_NOTES]] if isinstance(notes, list) else []
    yield CounterFacts(
        source=_NAME,
        taken_at=number(within(document.json, "taken_at")),
        notes=tuple(text for text in texts if text),
    )


SOURCE = CounterSource(_NAME, is_taken, _read, specificity=90)
