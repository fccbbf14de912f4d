"""Documents of several drives and moments: Prometheus' and Backblaze's."""

from __future__ import annotations

import pytest

from drive_logs import BACKBLAZE, EXPORTER_TEXT, LOGS, matrix
from writeamp.drives.counters.answer import interval_answer, life_answer
from writeamp.drives.counters.document import Document
from writeamp.drives.counters.reading import snapshots_in

MIB32 = 2**25


def test_raw_attributes_of_an_exporter_are_read_by_the_drives_family() -> None:
    drives = snapshots_in(Document("x", EXPORTER_TEXT.encode()))
    found = [life_answer(one) for one in drives]
    assert [one.wa for one in found] == [1.5, None]
    assert found[0].host is not None
    assert found[0].host.nominal == 60_000 * MIB32


def test_bytes_of_an_exporter_are_known_within_its_versions_mistakes() -> None:
    _, nvme = snapshots_in(Document("x", EXPORTER_TEXT.encode()))
    (counter,) = nvme.facts.counters
    amount = counter.amount()
    assert amount.low <= 2 * 10**12 / 8
    assert amount.high >= 2 * 10**12 * 1.024
    assert "versions differ" in life_answer(nvme).reason


def test_a_range_has_a_snapshot_a_drive_and_moment() -> None:
    drives = snapshots_in(Document("x", LOGS["range"]))
    assert [one.facts.taken_at for one in drives] == [1.7e9, 1.7e9 + 86400]
    found = interval_answer(*drives)
    assert found.days == 1
    assert found.host is not None
    assert found.host.nominal == 2000 * 512_000


def test_series_of_other_machines_are_other_drives() -> None:
    metric = {"__name__": "nvme_data_units_written_total", "device": "nvme0"}
    both = LOGS["range"].decode().replace(
        '"result": [', '"result": [' + matrix(metric | {"instance": "b"}, (1.7e9, "5"))[
            len('{"status": "success", "data": {"resultType": "matrix", "result": [') : -3
        ] + ", "
    )  # fmt: skip
    assert len(snapshots_in(Document("x", both.encode()))) == 3


def test_rows_of_backblaze_are_days_of_a_drive() -> None:
    first, last = snapshots_in(Document("x", BACKBLAZE.encode()))
    assert life_answer(first).wa == 1.5
    found = interval_answer(first, last)
    assert (found.wa, found.days) == (3.0, 1.0)


@pytest.mark.parametrize("row", ["", "2024-01-01,A", '"'])
def test_rows_that_are_cut_short_are_left_out(row: str) -> None:
    assert len(snapshots_in(Document("x", (BACKBLAZE + row).encode()))) == 2
