"""Addresses that a run of fio's zipf or pareto touches; some are never written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from writeamp import traces
from writeamp.fio.zipf import FioSkew
from writeamp.registry.specs import Spec

# Parameter of the distribution, by workload.
_PARAMETERS = {"fio-zipf": "theta", "fio-pareto": "h"}


@dataclass(frozen=True)
class TouchedAddresses:
    """Number of fio's blocks, and the shares of them that a run touches and that any run can."""

    count: int
    touched_share: float
    reachable_share: float

    @staticmethod
    def of(load: Spec | traces.PageTrace, pages: int, writes: int) -> TouchedAddresses | None:
        """Return the addresses of a load on a number of pages, or None without fio's skew."""
        if not isinstance(load, Spec) or load.name not in _PARAMETERS:
            return None
        per_page = float(load.params.get("blocks_per_page", 1))
        parameter = load.params[_PARAMETERS[load.name]]
        blocks = round(pages * per_page)
        skew = FioSkew.of(f"{load.name.removeprefix('fio-')}:{parameter}", blocks)
        if skew is None:
            return None
        shares = skew.touched_share(writes * per_page), skew.touched_share()
        return TouchedAddresses(blocks, *shares)

    def facts(self) -> dict[str, Any]:
        """Return the addresses as JSON types."""
        return {
            "addresses": {
                "count": self.count,
                "touched_share": self.touched_share,
                "reachable_share": self.reachable_share,
            }
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return a table row on the share of touched addresses."""
        text = f"{self.touched_share:.1%} of {self.count:,} touched in the whole run"
        return [("addresses", f"{text}; {self.reachable_share:.1%} can be touched")]
