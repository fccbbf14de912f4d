"""Layouts in time: which of them keep all dies at work, and what is said of the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import writeamp as wa

CHANNELS = """
timed = true
[geometry]
channels = 8
blocks_per_plane = 64
pages_per_block = 16
erase_unit = "{erase_unit}"
[management]
op = 0.3
layout = "{layout}"
[timing]
read_us = 50
program_us = 300
erase_us = 2000
"""


def timed(device: str, workload: str, **settings: Any) -> wa.TimedResult:
    found = wa.simulate(device, workload, timed=True, **settings)
    assert isinstance(found, wa.TimedResult)
    return found


@pytest.mark.parametrize(
    ("layout", "erase_unit", "said"),
    [
        ("flat", "block", "writes and collects on one die at a time"),
        ("striped", "block", "collects on one die at a time"),
        ("striped-per-lun", "block", None),
        ("static", "block", None),
        ("flat", "superblock", None),
    ],
)
def test_a_layout_that_leaves_dies_idle_says_so(
    layout: str, erase_unit: str, said: str | None, tmp_path: Path
) -> None:
    profile = tmp_path / "four.toml"
    profile.write_text(CHANNELS.format(layout=layout, erase_unit=erase_unit))
    found = timed(str(profile), "random:bs=4k", writes=200)
    notes = [note for note in found.notes if "die" in note]
    if said is None:
        assert not notes
    else:
        (note,) = notes
        assert said in note
        assert "8 dies" in note


def test_throughput_grows_with_dies_where_each_collects_and_hardly_where_one_does(
    tmp_path: Path,
) -> None:
    def iops(layout: str) -> float:
        profile = tmp_path / f"{layout}.toml"
        profile.write_text(CHANNELS.format(layout=layout, erase_unit="block"))
        return timed(str(profile), "random:bs=4k,qd=32", writes=20_000).iops["write"]

    assert iops("striped-per-lun") > 1.5 * max(iops("flat"), iops("striped"))
