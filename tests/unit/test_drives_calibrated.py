"""Units of counters, learned from a known amount that is written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

import in_process
from stand_in_drives import drive, tools
from writeamp.drives.counters.facts import CounterFacts
from writeamp.drives.devices.calibration import calibration_of

MIB, GIB, GB = 2**20, 2**30, 10**9
WRITE = "--write 24MiB --settle 100ms"


def facts(**counts: int) -> CounterFacts:
    return CounterFacts("x", raws=tuple(counts.items()))


@pytest.fixture
def sata(tmp_path: Path) -> Iterator[Path]:
    """Give a drive of an unknown family, whose attribute 241 counts MiB written to a folder."""
    (tmp_path / "mounted").mkdir()
    with tools(tmp_path, "smartctl"):
        yield drive(
            tmp_path, "sda", model="UNKNOWN", attributes={"241": 1000, "9": 5, "242": 77},
            counts={"241": [str(tmp_path / "mounted"), MIB]},
        )  # fmt: skip


def test_a_unit_is_learned_by_a_file_that_is_removed(sata: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mounted"
    found = in_process.document("measure calibrate", f"{sata} --in {folder} {WRITE}")
    (counter,) = found["counters"]
    assert (counter["label"], counter["unit"]) == ("attribute 241", "1 MiB")
    assert not list(folder.iterdir())


def test_a_file_on_another_drive_is_found_by_what_the_kernel_sent(
    sata: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "mounted"
    with patch("writeamp.drives.devices.source.bytes_sent_to", lambda _device: 1000):
        done = in_process.run("measure calibrate", f"{sata} --in {folder} {WRITE}")
    assert (done.status, done.out) == (2, "")
    assert "another drive" in done.err
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    ("counts", "unit", "words"),
    [
        (100, "GiB", ""),
        (3200, "32 MiB", ""),
        (209_715_200, "512 B", ""),
        (107, "GB", ""),
        (150, None, "no known unit fits"),
        (3, None, "write at least"),
        (1, None, "write at least"),
    ],
)
def test_a_unit_is_given_only_where_one_fits(counts: int, unit: str | None, words: str) -> None:
    before, after = facts(a=7, time=3), facts(a=7 + counts, time=3)
    (found,) = calibration_of(before, after, 100 * GIB, is_exact=True).counters
    assert found.unit == unit
    assert words in found.reason
    assert found.bytes_per_count_low <= 100 * GIB / counts


def test_gb_and_gib_are_not_told_apart_by_few_counts_or_beside_other_writers() -> None:
    for counts, size, is_exact in ((11, 11 * GIB, True), (110, 100 * GIB, False)):
        found = calibration_of(facts(a=0), facts(a=counts), size, is_exact=is_exact)
        assert found.counters[0].unit is None
        assert "GB" in found.counters[0].reason
        assert "GiB" in found.counters[0].reason


def test_two_snapshots_and_what_was_written_between_them_are_enough(tmp_path: Path) -> None:
    for name, raw in (("before", 5000), ("after", 5330)):
        table = [{"id": 241, "name": "", "value": 90, "raw": {"value": raw}}]
        log = {"device": {"protocol": "ATA"}, "ata_smart_attributes": {"table": table}}
        (tmp_path / f"{name}.json").write_text(json.dumps(log))
    files = f"{tmp_path}/before.json {tmp_path}/after.json"
    found = in_process.document("measure calibrate", f"{files} --written 10GiB")
    assert [one["unit"] for one in found["counters"]] == ["32 MiB"]
    done = in_process.run("measure calibrate", files)
    assert (done.status, "--written" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("/dev/no-such", ["/dev/no-such"]),
        ("{0}/sda --in {0}/nowhere", ["nowhere"]),
        ("{0}/sda", ["mounted", "--in"]),
        ("{0}/sda --in {0} --write 900PB", ["free", "--write"]),
        ("{0}/sda --write much", ["--write", "much"]),
        ("a b c", ["3 targets"]),
    ],
)
def test_what_cannot_be_calibrated_is_refused(
    sata: Path, tmp_path: Path, arguments: str, words: list[str]
) -> None:
    assert sata.exists()
    done = in_process.run("measure calibrate", arguments.format(tmp_path))
    assert (done.status, done.out) == (2, "")
    assert all(one in done.err for one in words), done.err
