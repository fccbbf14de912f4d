"""Windows of twins: measured, kept in a file as they are, and read from elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import writeamp as wa
from twins import CHAIN, PAGES, windows
from writeamp.devices.policy import Policy
from writeamp.learn.twin.chain import chain_of
from writeamp.learn.twin.driving import RangesHost, drive_chain
from writeamp.learn.twin.measuring import measure
from writeamp.learn.twin.windows import (
    SavedWindows,
    Windows,
    read_windows,
    windows_of_csv,
)


def test_the_file_of_windows_tells_nothing_but_what_counters_say(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    windows().write(path)
    found = read_windows(path)
    assert found.wa == pytest.approx(windows().wa)
    assert b"sepgc" not in path.read_bytes()
    assert b"greedy" not in path.read_bytes()
    assert set(found.frame().columns) == {"repeat", "window", "host_bytes", "flash_bytes", "chain"}
    columns = ("repeat", "window", "host_bytes", "flash_bytes")
    for missing_parts in (1, 4):  # a part of the last window, and all of it
        cut = replace(found, **{name: getattr(found, name)[:-missing_parts] for name in columns})
        cut.write(path)
        with pytest.raises(wa.WriteampError, match=r"lacks windows \[6\] of 6"):
            read_windows(path)
    path.write_bytes(b"no parquet")
    with pytest.raises(wa.WriteampError, match="is not a file of windows"):
        read_windows(path)


class ToldHost(RangesHost):
    """A host whose drive writes twice what it is asked, and which may be interrupted."""

    def __init__(self, ends_after: int = 1000) -> None:
        self.ends_after = ends_after
        self.discarded = 0
        self.written = 0.0
        self.offsets: list[np.ndarray] = []

    def discard(self) -> None:
        self.discarded += 1

    def write(self, offsets: np.ndarray, lengths: np.ndarray, done: Callable[[int], None]) -> None:
        if len(self.offsets) == self.ends_after:
            raise KeyboardInterrupt
        self.offsets.append(offsets)
        self.written += float(lengths.sum())
        done(int(lengths.sum()))

    def read_counters(self) -> tuple[float, float]:
        return self.written, 2 * self.written


def test_a_driven_chain_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    chain = replace(
        CHAIN, phases=(*CHAIN.phases, *chain_of(1, chunks=True, capacity_bytes=1).phases[1:])
    )
    path = tmp_path / "t.parquet"
    whole, first, second = ToldHost(), ToldHost(5), ToldHost()
    drive_chain(whole, SavedWindows.at(tmp_path / "whole.parquet", chain, ["x"]), seed=3)
    with pytest.raises(KeyboardInterrupt):
        drive_chain(first, SavedWindows.at(path, chain, ["x"]), seed=3)
    with pytest.raises(wa.WriteampError, match=r"lacks windows \[\d, .*to continue"):
        read_windows(path)
    with pytest.raises(wa.WriteampError, match="an unfinished measurement of another drive"):
        SavedWindows.at(path, chain, ["y"])
    drive_chain(second, SavedWindows.at(path, chain, ["x"]), seed=3)
    assert (first.discarded, second.discarded) == (1, 0)
    found, expected = [*first.offsets, *second.offsets], whole.offsets
    assert all(np.array_equal(a, b) for a, b in zip(found[:5], expected[:5], strict=True))
    # What was cut off is drawn anew: to write the same once more would be a loop.
    assert [one.size for one in found] == pytest.approx([one.size for one in expected], rel=0.01)
    assert not np.array_equal(found[5], expected[5])
    told = read_windows(path)
    assert told.wa == pytest.approx([1] * chain.windows)
    assert told.host_bytes == pytest.approx(read_windows(tmp_path / "whole.parquet").host_bytes)
    spans = np.diff([0, *(part.end_pages for part in chain.parts(PAGES))]) * 4096
    assert told.host_bytes[1:] == pytest.approx(spans, abs=2**20)
    assert sum(told.host_bytes) == pytest.approx(chain.written_bytes, rel=0.02)
    # One that is whole may be replaced.
    assert not SavedWindows.at(path, chain, ["y"]).rows


def test_windows_that_are_damaged_are_not_measured_anew_unasked(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    windows().write(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(wa.WriteampError, match=r"cannot be read as windows.*remove it"):
        SavedWindows.at(path, CHAIN, ["x"])
    path.write_bytes(b"something else, which --out replaces")
    assert not SavedWindows.at(path, CHAIN, ["x"]).rows


def test_repeats_that_were_measured_are_kept(tmp_path: Path) -> None:
    drive = wa.device(logical_pages=PAGES, pages_per_block=16, op=0.2)
    policy = Policy.of("single", "greedy", None)

    def measured(repeats: int, progress: Callable[[int, int], None] | None = None) -> Windows:
        kept = SavedWindows.at(tmp_path / "t.parquet", CHAIN, ["drive"])
        return measure(drive, policy, CHAIN, repeats=repeats, saved=kept, progress=progress)

    def interrupted(done: int, whole: int) -> None:
        if done > 0.6 * whole:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measured(2, interrupted)
    begun: list[int] = []
    found = measured(2, lambda done, whole: begun.append(done))
    assert begun[0] > found.host_bytes.sum() / 4096 / 2
    again = measure(drive, policy, CHAIN, repeats=2)
    assert np.array_equal(found.flash_bytes, again.flash_bytes)


def csv(path: Path, rows: list[tuple[float, float]]) -> Path:
    path.write_text("host_bytes,flash_bytes\n" + "".join(f"{a},{b}\n" for a, b in rows))
    return path


def test_windows_may_be_read_elsewhere(tmp_path: Path) -> None:
    size = PAGES * 4096
    usual = [(size, 1.1 * size), *((size * w, 2 * size * w) for w in (0.25, 0.5) * 3)]
    path = tmp_path / "windows.csv"
    found = windows_of_csv(csv(path, usual), CHAIN, None)
    assert found.sequential_factor == pytest.approx(1.1)
    assert found.wa == pytest.approx([2 / 1.1] * 6)
    assert found.noise is None
    assert windows_of_csv(csv(path, usual[1:]), CHAIN, None).sequential_factor == 1
    assert windows_of_csv(csv(path, usual * 2), CHAIN, None).noise is not None
    counters = np.cumsum(usual, axis=0).tolist()
    with pytest.raises(wa.WriteampError, match="in each window, not the counters"):
        windows_of_csv(csv(path, counters), CHAIN, None)
    with pytest.raises(wa.WriteampError, match="host bytes; the plan needs 7"):
        windows_of_csv(csv(path, usual[:4]), CHAIN, None)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(wa.WriteampError, match="columns host_bytes and flash_bytes"):
        windows_of_csv(path, CHAIN, None)
