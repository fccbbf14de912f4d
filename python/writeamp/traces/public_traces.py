"""Catalogue of public block traces."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from writeamp.errors import unknown
from writeamp.files.cache import cache_folder
from writeamp.results.card import Card, Presented
from writeamp.units.byte_sizes import binary_bytes

# Archives that the trace reader does not open.
_ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst", ".zip", ".7z")


@dataclass(frozen=True)
class PublicTrace:
    """A public trace.

    Attributes:
        name: name in the catalogue.
        page: address of the page that describes it.
        url: address of the file; None if the publisher first asks for a licence or a survey.
        size_bytes: size of the file; None if no source states it.
        sha256: checksum of the file; None if no source states it.
        licence: licence of the data; None if no source states it.
        format: trace format of the file, or of the files in it.
        paper: publication that describes the trace, or None.
        is_copy: whether the server of `url` is not the publisher's.
    """

    name: str
    page: str
    url: str | None
    size_bytes: int | None
    sha256: str | None
    licence: str | None
    format: str
    paper: str | None
    is_copy: bool = False

    @property
    def is_archive(self) -> bool:
        """Whether the file is an archive of trace files."""
        return self.url is not None and self.url.endswith(_ARCHIVES)

    @property
    def file_name(self) -> str:
        """Name of the file in a folder of downloads; "" without a `url`."""
        return (self.url or "").rpartition("/")[2]

    def to_dict(self) -> dict[str, Any]:
        """Return the trace as JSON types; `path` is the file in the cache, if it is there."""
        path = cache_folder("traces") / self.file_name
        return {
            "name": self.name,
            "page": self.page,
            "url": self.url,
            "is_copy": self.is_copy,
            "bytes": self.size_bytes,
            "sha256": self.sha256,
            "licence": self.licence,
            "format": self.format,
            "paper": self.paper,
            "path": str(path) if path.is_file() else None,
        }


@dataclass(frozen=True)
class TraceCatalogue(Presented):
    """Public traces, in `traces`."""

    traces: tuple[PublicTrace, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the traces as JSON types."""
        return {"traces": [trace.to_dict() for trace in self.traces]}

    def _records(self) -> Iterable[Mapping[str, Any]]:
        return self.to_dict()["traces"]  # type: ignore[no-any-return]

    def card(self) -> Card:
        """Return a row per trace: format, size, licence, and whether it is in the cache."""
        rows = [
            (
                trace["name"],
                trace["format"],
                "unknown" if trace["bytes"] is None else binary_bytes(trace["bytes"]),
                trace["licence"] or "not stated",
                "by hand"
                if trace["url"] is None
                else ("yes" if trace["path"] else "no") + (", copy" if trace["is_copy"] else ""),
            )
            for trace in self._records()
        ]
        legend = (
            "by hand: the publisher first asks for a licence or a survey, on the page in --json",
            "copy: from another server than the publisher's; --json has its address",
        )
        columns = ("trace", "format", ">size", "licence", "fetched")
        return Card("Public traces", rows, columns, legend=legend)


def catalogue() -> TraceCatalogue:
    """Return the public traces that `fetch` downloads, and those with a page to download from.

    Returns:
        `TraceCatalogue`: its `traces` are values of `PublicTrace`, with name, page and licence.

    >>> [trace.name for trace in catalogue().traces if trace.format == "spc"]
    ['umass-financial1', 'umass-financial2', 'umass-websearch1']
    """
    return TraceCatalogue(_traces())


@cache
def _traces() -> tuple[PublicTrace, ...]:
    text = files("writeamp.traces").joinpath("catalogue.toml").read_text("utf-8")
    return tuple(
        PublicTrace(
            trace["name"],
            trace["page"],
            trace.get("url"),
            trace.get("bytes"),
            trace.get("sha256"),
            trace.get("licence"),
            trace["format"],
            trace.get("paper"),
            trace.get("is_copy", False),
        )
        for trace in tomllib.loads(text)["trace"]
    )


def public_trace(name: str) -> PublicTrace:
    """Return the trace with this name.

    Raises:
        WriteampError: it is unknown; the message lists the valid names and the nearest.
    """
    by_name = {trace.name: trace for trace in _traces()}
    if not isinstance(name, str) or name not in by_name:
        raise unknown("public trace", name, by_name)
    return by_name[name]
