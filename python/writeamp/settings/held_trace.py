"""Trace that an experiment holds in memory, compared by its contents."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING

from writeamp import traces

if TYPE_CHECKING:
    pass


class HeldTrace:
    """A trace with the digest of its contents, by which two are equal."""

    def __init__(self, trace: traces.Trace | traces.PageTrace | traces.Given) -> None:
        """Hold a trace, or data that say one."""
        self.trace = trace

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of what the trace says: requests and devices, or runs of pages."""
        if isinstance(self.trace, traces.Given | traces.PageTrace):
            return self.trace.digest
        import numpy as np  # noqa: PLC0415 (slow)

        found = hashlib.sha256()
        found.update(f"requests {self.trace.devices}".encode())
        if self.trace.recorded is not None:
            found.update(self.trace.recorded.to_text().encode())
        for one in self.trace.requests.get_columns():
            column = one.to_physical().to_numpy()
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
