"""Requests of volumes in pages: of one alone, or of several beside each other on one drive."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import polars as pl

from writeamp.files import inputs
from writeamp.traces.in_memory import Given
from writeamp.traces.pages import PageTrace, to_pages
from writeamp.traces.trace import Trace
from writeamp.volumes.fleet import read_volume

# Requests of several volumes that are turned into pages at once.
_BATCH_ROWS = 1 << 20


@dataclass(frozen=True)
class VolumeAt:
    """Volume of a fleet and the rows in which it stands, known by the digest of its requests."""

    name: str
    digest: str
    file: str
    first_row: int
    requests: int

    @property
    def files(self) -> tuple[str, ...]:
        """Files in which it stands."""
        return (self.file,)

    def read(self) -> Trace:
        """Return its requests."""
        return read_volume(inputs.local(self.file), self.name, self.first_row, self.requests)

    def pages(self, page_bytes: int) -> PageTrace:
        """Return its requests in pages, those that it writes numbered from 0."""
        return to_pages(self.read(), page_bytes)


@dataclass(frozen=True)
class VolumesTogether:
    """Volumes that share a drive, each with an address space beside those of the others."""

    volumes: tuple[VolumeAt, ...]

    @property
    def name(self) -> None:
        """None: it is no volume of the fleet."""
        return None

    @property
    def digest(self) -> str:
        """SHA-256 of the digests of the volumes in their order."""
        text = " ".join(one.digest for one in self.volumes)
        return f"together:{hashlib.sha256(text.encode()).hexdigest()}"

    @property
    def files(self) -> tuple[str, ...]:
        """Files in which they stand."""
        return tuple(one.file for one in self.volumes)

    def pages(self, page_bytes: int) -> PageTrace:
        """Return the requests of all in the order of their times.

        Those of one time come in the order of the volumes, whose pages lie in that order, too.
        """
        return to_pages(Given(self._batches()), page_bytes)

    def _batches(self) -> Iterator[pl.DataFrame]:
        names = [one.name for one in self.volumes]
        kind = pl.Enum(names)
        merged = pl.concat(
            one.read().requests.with_columns(device=pl.lit(one.name, kind)) for one in self.volumes
        ).sort("timestamp_ns", maintain_order=True)
        for first in range(0, merged.height, _BATCH_ROWS):
            yield merged.slice(first, _BATCH_ROWS).with_columns(pl.col("device").cast(pl.String))


@lru_cache(maxsize=2)
def pages_of(volume: VolumeAt | VolumesTogether, page_bytes: int) -> PageTrace:
    """Return the requests of a volume in pages; runs under several policies read it once."""
    return volume.pages(page_bytes)
