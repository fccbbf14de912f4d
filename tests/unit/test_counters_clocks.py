"""Times of texts in zones that are not known: differences, order, and doubts."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from smart_documents import ata, snapshot_in, text_of_ata
from writeamp.drives.counters.answer import interval_answer
from writeamp.drives.counters.clocks import common_clock
from writeamp.drives.counters.reading import snapshots_of
from writeamp.drives.counters.result import DriveCounters
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.drives.fleets.answering import newest
from writeamp.drives.histories.result import snapshots_by_drive
from writeamp.drives.histories.watching import watch_once
from writeamp.drives.lifetime.of_history import lifetime_of_history
from writeamp.errors import WriteampError

DAY_S = 86_400


def document(asctime: str, wear: int = 0, hours: int | None = None) -> dict[str, Any]:
    log = ata(
        "INTEL SSDSC2KB480G8", {225: 10**6 * (wear + 1), 233: (0, 100 - wear), 243: 2 * 10**6}
    )
    log["ata_smart_attributes"]["table"] = [
        one for one in log["ata_smart_attributes"]["table"] if one["id"] != 9
    ]
    return log | {"local_time": {"asctime": asctime}, "power_on_time": {"hours": hours}}


def snapshot(asctime: str, wear: int = 0, hours: int | None = None) -> Snapshot:
    return snapshot_in(document(asctime, wear, hours))


def interval(first: str, last: str, hours: tuple[int, int] | None = None) -> DriveCounters:
    before, after = hours or (None, None)
    return interval_answer(snapshot(first, 0, before), snapshot(last, 1, after))


@pytest.mark.parametrize(
    "zone",
    [
        "PDT",
        "EST",
        "AEST",
        "BRT",
        "CST",
        "IST",
        "-03",
        "Pacific Daylight Time",
        "RTZ 2 (\ufffd\ufffd)",
    ],
)
def test_times_in_one_zone_are_as_far_apart_as_they_say(zone: str) -> None:
    found = interval(f"Mon Jun  1 10:00:00 2026 {zone}", f"Tue Jun  9 10:00:00 2026 {zone}", (5, 9))
    assert (found.days, found.is_powered_on) == (8.0, False)
    assert not [one for one in found.checks if one.name == "time"]
    other = interval(f"Tue Jun  9 10:00:00 2026 {zone}", f"Mon Jun  1 10:00:00 2026 {zone}")
    assert "wrong order" in other.reason


def test_a_text_and_json_have_one_local_time() -> None:
    text = text_of_ata(document("Mon Jun  1 10:00:00 2026 PDT"))
    text = text.replace(
        "=== START OF INFORMATION SECTION ===",
        "=== START OF INFORMATION SECTION ==="
        "\nLocal Time is:    Mon Jun  1 10:00:00 2026 Pacific Daylight Time",
    )
    found = snapshot_in(text)
    assert found.facts.taken_at is None
    assert found.facts.local_time == (1_780_308_000.0, "PACIFIC DAYLIGHT TIME")


@pytest.mark.parametrize(
    ("first", "last", "hours"),
    [
        ("PST", "PDT", 1),
        ("Pacific Standard Time", "Pacific Daylight Time", 1),
        ("BRT", "BRST", 1),
        ("UTC", "PDT", 14),
        ("PDT", "AEST", 26),
    ],
)
def test_times_in_two_zones_are_known_to_some_hours(first: str, last: str, hours: int) -> None:
    days = (f"Mon Jan  5 10:00:00 2026 {first}", f"Mon Jun  1 10:00:00 2026 {last}")
    found = interval(*days)
    assert found.days == 147
    assert any("unknown time zone" in one and f"{hours} h" in one for one in found.warnings)
    short = (f"Mon Jan  5 10:00:00 2026 {first}", f"Mon Jan  5 10:30:00 2026 {last}")
    # The order of these two is not known, and power-on hours tell it.
    assert interval(*short).days is None
    assert "unknown time zone" in interval(*short).warnings[0]
    by_hours = interval(*short, (24, 48))
    assert (by_hours.days, by_hours.is_powered_on) == (1, True)
    stopped = interval("Mon Jun  1 10:00:00 2026 PDT", "Tue Jun  9 10:00:00 2026 XYZ", (0, 0))
    assert (stopped.days, stopped.is_powered_on) == (8, False)


def test_lives_and_fleets_go_by_the_order_of_one_zone(tmp_path: Path) -> None:
    later, sooner = (
        snapshot(f"{day} 10:00:00 2026 PDT", wear)
        for day, wear in (("Tue Jun  9", 30), ("Mon Jun  1", 20))
    )
    found = lifetime_of_history([later, sooner])
    assert found.host_bytes_a_day == pytest.approx(10 * 10**6 * 2**25 / 8)
    assert not found.warnings
    assert newest([later, sooner]) == [later]
    zones = [
        snapshot(f"Mon Jun  1 10:00:00 2026 {name}", 20, at)
        for name, at in (("PDT", 5), ("XYZ", 9))
    ]
    assert "h: times are power-on hours" in " ".join(lifetime_of_history(zones).warnings)
    with pytest.raises(WriteampError, match="unknown time zone"):
        lifetime_of_history([later, snapshot("Tue Jun  9 11:00:00 2026 XYZ", 30)])
    with pytest.raises(WriteampError, match="several moments, 192 hours apart"):
        snapshots_of("a", {
            name: json.dumps(document(f"{day} 10:00:00 2026 PDT")).encode()
            for name, day in (("a.json", "Mon Jun  1"), ("b.json", "Tue Jun  9"))
        })  # fmt: skip


def test_a_history_keeps_the_differences_of_one_zone_and_is_never_behind_its_files(
    tmp_path: Path,
) -> None:
    db = tmp_path / "history.sqlite"
    for day, changed in ((1, 30), (9, 31)):
        path = tmp_path / "smart.json"
        path.write_text(json.dumps(document(f"Mon Jun  {day} 10:00:00 2026 PDT", day)))
        os.utime(path, (1_780_000_000 + changed * DAY_S, 1_780_000_000 + changed * DAY_S))
        watch_once([path], db)
    ((first, last),) = snapshots_by_drive(db).values()
    assert (first.facts.taken_at, last.facts.taken_at) == (
        1_780_000_000 + 23 * DAY_S, 1_780_000_000 + 31 * DAY_S
    )  # fmt: skip


def test_what_says_no_time_has_no_clock() -> None:
    assert common_clock([]).seconds == ()
    silent = snapshot("Mon Jun 31 10:00:00 2026 PDT").facts
    assert silent.local_time is None
    assert common_clock([silent, snapshot("Mon Jun  1 10:00:00 2026 PDT").facts]).seconds == ()
