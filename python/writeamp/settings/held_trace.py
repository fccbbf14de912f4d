"""Trace that an experiment holds in memory, compared by its contents."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING, Any

from writeamp import traces

if TYPE_CHECKING:
    import numpy.typing as npt


class HeldTrace:
    """A trace with the digest of its contents, by which two are equal."""

    def __init__(self, trace: traces.Trace | traces.PageTrace | traces.Given) -> None:
        """Hold a trace, or data that say one."""
        self.trace = trace

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of what the trace says: requests and devices, or runs of pages."""
        if isinstance(self.trace, traces.Given):
            return self.trace.digest
        import numpy as np  # noqa: PLC0415 (slow)

        found = hashlib.sha256()
        if isinstance(self.trace, traces.PageTrace):
            pages = self.trace
            found.update(f"pages {pages.page_bytes} {pages.logical_pages}".encode())
            columns: list[npt.NDArray[Any]] = [pages.op, pages.start, pages.count]
            may_lack = (pages.at_ns, pages.head_bytes, pages.tail_bytes)
            columns += [column for column in may_lack if column is not None and column.any()]
        else:
            frame = self.trace.requests
            found.update(f"requests {self.trace.devices}".encode())
            columns = [column.to_physical().to_numpy() for column in frame.get_columns()]
            if self.trace.recorded is not None:
                found.update(self.trace.recorded.to_text().encode())
        for column in columns:
            little_endian = column.astype(column.dtype.newbyteorder("<"))
            found.update(np.ascontiguousarray(little_endian).tobytes())
        return f"sha256:{found.hexdigest()}"

    def __eq__(self, other: object) -> bool:
        """Return whether both traces say the same."""
        return isinstance(other, HeldTrace) and self.digest == other.digest

    def __hash__(self) -> int:
        """Return a number that is the same for traces that say the same."""
        return hash(self.digest)

    def __repr__(self) -> str:
        """Return the digest in brackets."""
        return f"<trace {self.digest}>"
