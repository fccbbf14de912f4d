"""Addresses that a run of fio's zipf or pareto touches; some are never written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from writeamp import traces
from writeamp.devices.device import Device
from writeamp.fio.zipf import FioSkew
from writeamp.registry.specs import Spec
from writeamp.runs.loads import drive_writes_of_jobs

# Parameter of the distribution, by workload.
_PARAMETERS = {"fio-zipf": "theta", "fio-pareto": "h"}
_STREAM = re.compile(r"stream\(([^)]*)\)")


@dataclass(frozen=True)
class TouchedAddresses:
    """Number of fio's blocks, and the shares of them that a run touches and that any run can."""

    count: int
    touched_share: float
    reachable_share: float

    @staticmethod
    def of(
        load: Spec | traces.PageTrace, pages: int, writes: int, drive: Device
    ) -> TouchedAddresses | None:
        """Return the addresses of a load, or None without fio's skew.

        Args:
            load: workload or trace.
            pages: number of the host's pages that it uses.
            writes: number of page writes of the run.
            drive: drive that it writes to.
        """
        if not isinstance(load, Spec):
            return None
        if load.name == "fio":
            return _of_jobs(load, pages, writes, drive)
        if load.name not in _PARAMETERS:
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


def _of_jobs(load: Spec, pages: int, writes: int, drive: Device) -> TouchedAddresses | None:
    """Return the addresses of jobs that all draw from the same span in blocks of one size."""
    streams = [_params(text) for text in _STREAM.findall(load.params["streams"])]
    writers = [stream for stream in streams if stream["mode"] not in {"read", "trim"}]
    names = (
        *("offset", "offset_share", "size", "size_share", "least", "most"),
        *("phase", "loops", "io_size", "io_share", "requests", "endless"),
    )
    is_one_span = len({tuple(stream[name] for name in names) for stream in writers}) == 1
    if not is_one_span or not all(map(_draws_all, writers)):
        return None
    block_bytes = int(writers[0]["least"].split("/")[1])
    scale = float(load.params.get("pages_of_drive", 1))
    page_bytes = drive.host_page_bytes or drive.page_bytes
    end = pages * page_bytes
    share, offset_share = (float(writers[0][name]) for name in ("size_share", "offset_share"))
    start = int(writers[0]["offset"]) + offset_share * end
    span = int(writers[0]["size"]) or min(share * end, end - start)
    blocks = round(-(-int(span) // block_bytes) * scale)
    run = drive_writes_of_jobs(load, pages // drive.pages_per_unit, drive)
    in_run = writes if run is None else min(writes, run * drive.logical_pages)
    rates = [float(stream["weight"]) for stream in writers]
    # Each block writes at least one page.
    draws = in_run * scale / max(1.0, block_bytes / page_bytes) / sum(rates)
    untouched, unreachable = [], []
    for stream, rate in zip(writers, rates, strict=True):
        skew = FioSkew.of(f"{stream['distribution']}:{stream['parameter']}", blocks)
        if skew is None:
            return None
        # Streams, and runs with fresh seeds, start from independent places.
        runs = writes / in_run if stream["seeding"] == "fresh" else 1.0
        untouched.append((1 - skew.touched_share(draws * rate)) ** runs)
        unreachable.append((1 - skew.touched_share()) ** runs)
    return TouchedAddresses(blocks, 1 - prod(untouched), 1 - prod(unreachable))


def _params(text: str) -> Mapping[str, str]:
    return dict(param.split("=", 1) for param in text.split(","))


def _draws_all(stream: Mapping[str, str]) -> bool:
    """Return whether a stream draws each block from fio's zipf or pareto."""
    least, most = (stream[name].split("/")[1] for name in ("least", "most"))
    is_plain = stream["random_percent"] == "100/100/100" and stream["run"] == "1"
    is_skewed = stream["random"] == "1" and stream["distribution"] in {"zipf", "pareto"}
    is_free = stream["stride_range"] == "0" and stream["center"] == "none"
    return is_skewed and is_plain and is_free and least == most and stream["splits"] == "none"
