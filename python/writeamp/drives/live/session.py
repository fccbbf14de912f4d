"""Recording of a disk's writers, and readings of it while it runs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

import polars as pl

from writeamp.drives.counters.answer import life_answer
from writeamp.drives.counters.rated import rating_of
from writeamp.drives.devices.reading import read_place
from writeamp.drives.live.estimate import WearEstimate, estimate
from writeamp.drives.live.result import LiveWear, Writer, writers_of
from writeamp.drives.live.settings import LiveSettings
from writeamp.errors import WriteampError
from writeamp.files.temporary import temporary_folder
from writeamp.recorder.disk import Disk, mount_of
from writeamp.recorder.functions import recorded_disk
from writeamp.recorder.recording import BlockRecording
from writeamp.text import Caution
from writeamp.traces.trace import SECTOR_BYTES

# Size of the recorded requests above which the oldest are removed.
_MOST_BYTES = 64 << 20
# Share of the bytes in one second, above that of a steady load, from which on it is noted.
_BURST = 0.1


class LiveRecording:
    """Recording of a disk from its start until the end of a `with` block."""

    def __init__(
        self, device: str, settings: LiveSettings, check: Callable[[], None] = lambda: None
    ) -> None:
        """Check the device and the file system.

        Args:
            device: disk or partition.
            settings: see `LiveSettings`.
            check: called while files are read; may raise to stop that.

        Raises:
            WriteampError: not Linux or not root, or the device or file system is not usable.
        """
        self._disk: Disk = recorded_disk(device)
        if os.geteuid() != 0:
            raise WriteampError("watching a disk needs root, which may read the kernel's events")
        self._mount = None if settings.files is None else mount_of(settings.files, self._disk)
        self._settings = settings
        self._check = check
        self._undo = ExitStack()
        self._notes: list[str] = []
        self._is_over = False
        self._wear: WearEstimate | None = None

    def __enter__(self) -> LiveRecording:
        """Begin to record."""
        with ExitStack() as undo:
            folder = undo.enter_context(temporary_folder())
            self._recording = BlockRecording(
                self._disk,
                self._mount,
                Path(folder) / "live.parquet",
                undo,
                check=self._check,
                most_bytes=_MOST_BYTES,
            )
            self._recording.start()
            undo.callback(self.stop)
            self._undo = undo.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """End the recording, and remove its files."""
        self._undo.close()

    def check(self) -> None:
        """Check that the recording works.

        Raises:
            WriteampError: it has failed.
        """
        self._recording.check()

    def stop(self) -> None:
        """End the recording; readings then have all requests.

        Raises:
            WriteampError: the recording has failed.
        """
        if not self._is_over:
            self._is_over = True
            self._recording.stop()

    def reading(self, *, is_full: bool = True) -> LiveWear:
        """Return the writers so far, and WA by simulation.

        Args:
            is_full: whether WA is estimated; otherwise that of the last full reading is returned.

        Raises:
            WriteampError: the recording has failed, or the profile is invalid.
        """
        self.check()
        if is_full:
            self._wear = self._estimate()
        disk, counts = self._disk, self._recording.rows.counts
        duration_s = self._recording.duration_s
        if not self._is_over:
            duration_s = (time.monotonic_ns() - self._recording.began_ns) / 1e9
        rating = rating_of(disk.model, disk.disk_bytes, self._settings.rated_tbw)
        return LiveWear(
            device=disk.name,
            model=disk.model,
            capacity_bytes=disk.sectors * SECTOR_BYTES,
            duration_s=duration_s,
            whole=Writer("all", counts.bytes["write"], duration_s),
            processes=writers_of(counts.processes, duration_s),
            files=None if self._mount is None else writers_of(counts.files, duration_s),
            estimate=self._wear,
            rated_tbw=rating.rated_tbw,
            rated_source=rating.rated_source,
            counters_wa=self._counters_wa,
            notes=tuple(self._notes),
        )

    def _estimate(self) -> WearEstimate | None:
        frames: list[pl.DataFrame] = list(self._recording.parts.frames())
        wear = estimate(
            frames,
            self._disk.sectors * SECTOR_BYTES,
            profile=self._settings.profile,
            op=self._settings.op,
            used_share=self._used_share(),
        )
        if wear is not None:
            self._notes = [Caution(text) for text in (*wear.notes, *burst_notes(frames))]
        return wear

    def _used_share(self) -> float | None:
        if self._mount is None:
            return None
        facts = os.statvfs(self._mount.point)
        return 1 - facts.f_bfree / facts.f_blocks if facts.f_blocks else None

    @cached_property
    def _counters_wa(self) -> float | None:
        """Return WA since new by the drive's own counters; None if it has none or no tool reads."""
        try:
            return life_answer(read_place(self._disk.path)[-1]).wa
        except WriteampError:
            return None


def burst_notes(frames: Iterable[pl.DataFrame]) -> list[str]:
    """Return a sentence if a burst of writes makes the rates of a recording uncertain.

    Args:
        frames: rows with `timestamp_ns`, `op` and `length` in bytes; some row is a write.
    """
    written = pl.concat(
        frame.filter(pl.col("op").cast(pl.String) == "write")
        .group_by(second=pl.col("timestamp_ns") // 1_000_000_000)
        .agg(pl.col("length").cast(pl.Int64).sum())
        for frame in frames
    )
    lengths = written.group_by("second").agg(pl.col("length").sum())["length"].to_numpy()
    seconds = int(written["second"].max() or 0) + 1  # type: ignore[arg-type]
    share = lengths.max() / lengths.sum()
    if share - 1 / seconds <= _BURST:
        return []
    return [
        f"{share:.0%} of the bytes were written within one second. The kernel writes data that no "
        "program syncs in bursts, about every 30 s. A longer --for makes the rates less uncertain"
    ]
