"""Recording of a run: raw while the drive serves, a trace when it has ended."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from writeamp.errors import WriteampError
from writeamp.traces.recorded import KEPT, RECORDING_KEY, CountingWindow, Recorded
from writeamp.traces.recording import ROW, write_parquet
from writeamp.vssd.control import Document
from writeamp.vssd.live_file import live_file
from writeamp.vssd.specification import Specification


class Recorder:
    """Recording of a run: the plugin's raw file, and the first request that counts."""

    def __init__(self, raw: Path | None) -> None:
        """Record to a raw file; to none where no recording is asked for."""
        self.raw = raw
        self.first_counted = 0
        self._requests: int | None = None
        self._began: Document = {}
        self._ended: Document = {}

    def counts_from(self, began: Document) -> None:
        """Note with which request counting began."""
        self.first_counted = int(began["since"])
        self._began = began

    def ends_at(self, ended: Document) -> None:
        """Leave out what comes after this, such as the unmounting, as the counts do.

        Raises:
            WriteampError: requests, or edges of pins, are missing; the sentence is the drive's.
        """
        if error := ended["recording_error"]:
            raise WriteampError(error)
        self._requests = int(ended["requests"])
        self._ended = ended

    @property
    def window(self) -> CountingWindow | None:
        """The times between which a timed drive counted; None of one without time."""
        began, ended = self._began.get("timed"), self._ended.get("timed")
        if began is None or ended is None:
            return None
        return CountingWindow(
            int(began["time_ns"]), int(ended["time_ns"]), int(ended["unanswered"])
        )

    def cut(self) -> None:
        """Cut the raw file where the recording ends."""
        if self.raw is not None and self._requests is not None:
            size_bytes = self._requests * ROW.itemsize
            if self.raw.stat().st_size > size_bytes:
                os.truncate(self.raw, size_bytes)


@contextmanager
def recording(found: Specification, *, is_kept: bool) -> Iterator[Recorder]:
    """Give a recorder, and write its trace if the block, in which the drive runs, ends well.

    A drive that is kept from an earlier run begins in a state that the trace does not know.
    """
    target = found.settings.record
    if target is None:
        yield Recorder(None)
        return
    with live_file(target) as raw:
        recorder = Recorder(raw)
        yield recorder
        recorder.cut()
        recorded = _recorded(found, recorder, is_kept=is_kept)
        write_parquet(raw, Path(target), {RECORDING_KEY: recorded.to_text()})


def _recorded(found: Specification, recorder: Recorder, *, is_kept: bool) -> Recorded:
    """Return the facts by which a replay builds the same drive and counts from the same moment."""
    policy, settings = found.policy, found.settings
    return Recorded(
        device=found.device.to_dict(),
        policy={
            "manager": policy.manager,
            "victims": policy.asked_victims,
            "wear_leveling": policy.wear_leveling,
            "seed": settings.seed,
        },
        precondition=KEPT if is_kept else settings.precondition,
        count_from_request=recorder.first_counted,
        timed=settings.is_timed,
        window=recorder.window,
    )
