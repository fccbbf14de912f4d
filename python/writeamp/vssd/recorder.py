"""The recording of a run: raw while the drive serves, a trace when it has ended."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from writeamp.traces.recording import write_parquet
from writeamp.vssd.control import Document
from writeamp.vssd.specification import Specification

_VERSION = 1


class Recorder:
    """Where the plugin writes requests down, and from which of them on the run counts."""

    def __init__(self, raw: Path | None) -> None:
        """Record to a raw file; to none where no recording is asked for."""
        self.raw = raw
        self.first_counted = 0

    def counts_from(self, began: Document) -> None:
        """Note with which request counting began."""
        self.first_counted = int(began["since"])


@contextmanager
def recording(found: Specification) -> Iterator[Recorder]:
    """Give a recorder, and write its trace if the block, in which the drive runs, ends well.

    The raw recording is a live file beside the trace, which may be large; it is removed whatever
    happens, but for a process that is killed: then it stays, and can be converted.
    """
    if found.settings.record is None:
        yield Recorder(None)
        return
    target = Path(found.settings.record)
    real = Path(os.path.realpath(target))
    raw = real.with_name(f".{real.name}-{secrets.token_hex(4)}.raw")
    recorder = Recorder(raw)
    try:
        yield recorder
        write_parquet(raw, target, {"writeamp_recording": _metadata(found, recorder)})
    finally:
        with suppress(OSError):
            raw.unlink()


def _metadata(found: Specification, recorder: Recorder) -> dict[str, Any]:
    """Return what a replay needs to build the same drive and to count from the same moment."""
    policy, settings = found.policy, found.settings
    return {
        "version": _VERSION,
        "device": found.device.to_dict(),
        "policy": {
            "manager": policy.manager,
            "victims": policy.asked_victims,
            "wear_leveling": policy.wear_leveling,
            "seed": settings.seed,
        },
        "precondition": settings.precondition,
        "count_from_request": recorder.first_counted,
        "timed": settings.is_timed,
    }
