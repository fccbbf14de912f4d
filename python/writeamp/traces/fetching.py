"""Downloads of public block traces into the user's cache."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from writeamp.errors import WriteampError
from writeamp.fields.domains import file_name
from writeamp.files.cache import cache_folder
from writeamp.files.content_facts import ContentFacts, facts_of, read_record, write_record
from writeamp.files.download import OtherContentError, UnreachableError, download
from writeamp.results.card import Card, Presented
from writeamp.runners import Progress
from writeamp.traces.public_traces import PublicTrace, public_trace


@dataclass(frozen=True)
class FetchedTrace(Presented):
    """A downloaded trace.

    Attributes:
        trace: entry of the catalogue.
        path: the file.
        content: its size and checksum.
        is_new: whether it was downloaded now.
        notes: sentences on its checksum and on how to use it.
        warnings: sentences on doubts about its content.
    """

    trace: PublicTrace
    path: Path
    content: ContentFacts
    is_new: bool
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """Command that simulates the trace."""
        return _simulation("FILE" if self.trace.is_archive else str(self.path), self.trace.format)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON types."""
        return {
            "name": self.trace.name,
            "path": str(self.path),
            "bytes": self.content.size_bytes,
            "sha256": self.content.sha256,
            "downloaded": self.is_new,
            "format": self.trace.format,
            "licence": self.trace.licence,
            "page": self.trace.page,
            "command": self.command,
            "warnings": list(self.warnings),
            "notes": list(self.notes),
        }

    def card(self) -> Card:
        """Return the facts on the file."""
        rows = (
            ("file", str(self.path)),
            ("size", f"{self.content.size_bytes:,} bytes"),
            ("sha256", self.content.sha256 or ""),
            ("licence", self.trace.licence or "not stated"),
            ("page", self.trace.page),
        )
        return Card(self.trace.name, rows, warnings=self.warnings, notes=self.notes)


def fetch(
    name: str,
    to: str | os.PathLike[str] | None = None,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> FetchedTrace:
    """Download a public trace, or check the downloaded file.

    An interrupted download continues with the next call. The first download of a trace without a
    known checksum records its size and SHA-256 beside the file; later downloads must have the same.

    Args:
        name: name of a trace of `catalogue`.
        to: folder of the file; by default writeamp/traces in $XDG_CACHE_HOME, or in ~/.cache.
        force: download again, and accept another content than that of the first download.
        progress: called with the number of bytes done, and of all bytes, or 0 if unknown.

    Returns:
        `FetchedTrace`: `path`, its `content`, and the `command` that simulates it.

    Raises:
        WriteampError: the trace is unknown, has no address, cannot be fetched, or has another
            content than expected; or its file is there without a known checksum.

    >>> fetch("alibaba-2020")
    Traceback (most recent call last):
    writeamp.errors.WriteampError: alibaba-2020 is downloaded by hand, ...
    """
    trace = public_trace(name)
    by_hand = f"get it at {trace.page}, then run: {_simulation('FILE', trace.format)}"
    if trace.url is None:
        raise WriteampError(
            f"{name} is downloaded by hand, because its publisher first asks for a licence or a "
            f"survey: {by_hand}"
        )
    path = _folder(to) / trace.file_name
    record_path = path.with_name(f"{path.name}.json")
    stated, recorded = ContentFacts(trace.size_bytes, trace.sha256), _recorded(record_path)
    trusted = recorded if stated.sha256 is None else stated
    is_new = force or not path.exists()
    if is_new:
        try:
            content = _downloaded(trace.url, path, stated, stated if force else trusted, progress)
        except UnreachableError as error:
            proxy = f"{trace.url.partition(':')[0]}_proxy"
            raise WriteampError(
                f"{error}; check the network and the variable {proxy}, or {by_hand}"
            ) from None
    else:
        content = _checked(path, trusted, progress)
    warnings, notes = [], []
    if not trusted.allow(content):
        warnings.append(f"the content of {trace.url} has changed since the first download")
    if content != recorded:
        write_record(
            record_path,
            {"url": trace.url, "bytes": content.size_bytes, "sha256": content.sha256},
        )
        if stated.sha256 is None:
            notes.append(f"no source states the checksum; it is recorded in {record_path}")
    if stated.sha256 is None and trace.url.startswith("http://"):
        notes.append(
            f"{trace.url} has no https, and no source states the checksum: the content may have "
            "been changed on the way"
        )
    if trace.is_copy:
        notes.append(f"{trace.url} is a copy; the page of the publisher is {trace.page}")
    if trace.is_archive:
        notes.append(f"{path} is an archive; unpack it, and give one of its files as FILE")
    return FetchedTrace(trace, path, content, is_new, tuple(notes), tuple(warnings))


def _simulation(file: str, trace_format: str) -> str:
    return shlex.join(["writeamp", "simulate", "--trace", file, "--format", trace_format])


def _folder(to: str | os.PathLike[str] | None) -> Path:
    """Return the folder of downloads, after creating it."""
    folder = cache_folder("traces") if to is None else Path(file_name(to))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise WriteampError(f"cannot make folder {str(folder)!r}: {reason}") from None
    return folder


def _recorded(path: Path) -> ContentFacts:
    """Return the facts of the first download; all None if there is no valid record."""
    record = read_record(path)
    size_bytes, sha256 = record.get("bytes"), record.get("sha256")
    if not isinstance(size_bytes, int) or not isinstance(sha256, str):
        return ContentFacts()
    return ContentFacts(size_bytes, sha256)


def _downloaded(
    url: str, path: Path, stated: ContentFacts, expected: ContentFacts, progress: Progress | None
) -> ContentFacts:
    try:
        return download(url, path, expected, progress=progress)
    except OtherContentError as error:
        if expected == stated:
            raise
        raise WriteampError(
            f"{error} (that of the first download; --force accepts another content)"
        ) from None


def _checked(path: Path, trusted: ContentFacts, progress: Progress | None) -> ContentFacts:
    """Return the facts of a downloaded file, which must be the trusted ones."""
    if trusted.sha256 is None:
        raise WriteampError(
            f"{path} is there, but its checksum is unknown: no source states it, and no download "
            "recorded it; download it again with --force"
        )
    try:
        content = facts_of(path, progress)
    except OSError as error:
        raise WriteampError(f"cannot read {str(path)!r}: {error.strerror or error}") from None
    if not trusted.allow(content):
        raise WriteampError(
            f"{path} has {content}, but {trusted} is expected; download it again with --force"
        )
    return content
