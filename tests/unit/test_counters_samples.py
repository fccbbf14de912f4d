"""Published documents of real drives, where at hand: each has its answer or a reason."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from places import SHARED
from smart_documents import answer_to, text_of_ata, verdict
from writeamp.drives.counters.answer import life_answer
from writeamp.drives.counters.reading import read_snapshot
from writeamp.drives.counters.result import DriveCounters

SAMPLES = SHARED / "smart"
MORE = SAMPLES / "more"
pytestmark = pytest.mark.skipif(
    not MORE.is_dir(), reason="documents of real drives are not beside this repository"
)


def answer(name: str) -> DriveCounters:
    return life_answer(read_snapshot(MORE / name))


def documents() -> list[Path]:
    """Return all JSON documents of drives but those that are kept with an expected answer."""
    found = [path for path in sorted(SAMPLES.rglob("*.json")) if path.parent != MORE]
    return [path for path in found if isinstance(json.loads(path.read_text()), dict)]


def test_twenty_nine_documents_have_both_counters_and_all_others_a_reason() -> None:
    found = [life_answer(read_snapshot(path)) for path in documents()]
    assert len(found) == 201
    with_wa = [one for one in found if one.wa is not None]
    makers = [one.facts.family.split()[0] for one in with_wa]
    assert {maker: makers.count(maker) for maker in makers} == {
        "Intel": 19,
        "Micron": 8,
        "Phison": 2,
    }
    found_wa = [one.wa for one in with_wa if one.wa is not None]
    assert median(found_wa) == pytest.approx(2.05, abs=0.05)
    assert min(found_wa) == pytest.approx(1.04, abs=0.01)
    assert max(found_wa) == pytest.approx(9.85, abs=0.01)
    assert all(one.reason for one in found if one.wa is None)


def test_no_document_of_an_nvme_drive_has_wa() -> None:
    nvme = [path for path in documents() if "nvme_smart_health" in path.read_text()]
    assert len(nvme) >= 50
    for path in nvme:
        found = life_answer(read_snapshot(path))
        assert found.wa is None
        assert "no counter of flash writes" in found.reason or "not reported" in found.reason


MEASURED = [
    ("seagate-barracuda120-1tb-2022.json", 1.7550, "bytes"),
    ("seagate-barracuda120-1tb-2025.json", 1.9987, "bytes"),
    ("wd-green-240-G2.json", 6.292, "tlc+slc"),
    ("wd-blue-500-G2.json", 1.773, "tlc+slc"),
    ("crucial-bx500-2tb.json", 2.8892, "pages"),
    ("crucial-mx500-1tb-M3CR046-pages62k.json", 2.632, "pages"),
    ("crucial-mx500-pages46k.json", 1.7195, "pages"),
    ("crucial-mx-a.json", 2.0776, "pages"),
    ("micron-m5x0-high.json", 9.414, "pages"),
    ("seagate-ironwolf110-240.json", 1.1543, "bytes"),
    ("intel-520-180.json", 1.2506, "bytes"),
    ("intel-53x-compressing.json", 0.7868, "bytes"),
    ("swissbit-x7x-nodb.json", 1.0978, "bytes"),
]


@pytest.mark.parametrize(("name", "wa", "definition"), MEASURED)
def test_wa_of_a_real_drive_is_as_published(name: str, wa: float, definition: str) -> None:
    found = answer(name)
    assert found.kind == "measured"
    assert found.wa == pytest.approx(wa, rel=1e-3)
    assert found.wa_definition == definition
    assert found.wa_low <= found.wa <= found.wa_high


REFUSED = [
    ("ocz-vector-256.json", "its unit is another"),
    ("innodisk-3tg6-p.json", "the flash write counter (attribute 233, 245) is missing"),
    ("kingston-a400-480-phison.json", "59 erases"),
    ("smartmontools578-before.json", "calibrate"),
    ("smartmontools578-after.json", "calibrate"),
    ("hpe-sas-ssd.json", "SCSI"),
    ("wd-red-sn700-used111.txt", "no counter of flash writes"),
]


@pytest.mark.parametrize(("name", "reason"), REFUSED)
def test_a_trap_is_refused_with_its_reason(name: str, reason: str) -> None:
    found = answer(name)
    assert (found.wa, found.kind) == (None, "none")
    assert reason in found.reason


@pytest.mark.parametrize(
    ("name", "wa_low", "counted"),
    [("sandisk-plus-a.json", 0.592, "0.59"), ("smi-tlc-below-one.json", 0.204, "0.2")],
)
def test_a_counter_of_a_part_is_a_lower_bound(name: str, wa_low: float, counted: str) -> None:
    found = answer(name)
    assert (found.wa, found.kind) == (None, "lower-bound")
    assert found.wa_low == pytest.approx(wa_low, abs=1e-3)
    assert f"leaves out part of the flash (it counts {counted} times the host" in found.reason


def test_bounds_stand_where_a_number_does_not() -> None:
    pro = answer("samsung-850pro-128.json")
    assert (pro.kind, pro.wa) == ("estimated", None)
    assert pro.bounds == (pytest.approx(23.53, abs=0.01), pytest.approx(25.26, abs=0.01))


@pytest.mark.parametrize(
    ("name", "check", "said"),
    [
        ("seagate-barracuda120-1tb-2025.json", "device statistics", "ok"),
        ("seagate-barracuda120-1tb-2025.json", "flash counters", "ok"),
        ("seagate-barracuda120-1tb-2025.json", "names", "ok"),
        ("wd-green-240-G2.json", "erases x capacity", "ok"),
        ("crucial-mx500-pages46k.json", "page size", "doubt"),
        ("crucial-mx500-1tb-M3CR046-pages62k.json", "page size", "ok"),
        ("innodisk-3tg6-p.json", "percentage used", "doubt"),
        ("innodisk-3tg6-p.json", "device statistics", "ok"),
        ("seagate-ironwolf110-240.json", "erased bytes", "doubt"),
        ("seagate-ironwolf110-240.json", "erases x capacity", "ok"),
    ],
)
def test_a_check_says_what_is_known_of_the_drive(name: str, check: str, said: str) -> None:
    assert verdict(answer(name), check) == said


@pytest.mark.parametrize(
    ("name", "used"),
    [
        ("innodisk-3tg6-p.json", 0),
        ("crucial-mx-a.json", 51),
        ("wd-blue-500-G2.json", 2),
        ("wd-green-240-G2.json", None),
        ("wd-red-sn700-used111.txt", 111),
        ("hpe-sas-ssd.json", 3),
        ("intel-53x-compressing.json", 7),
    ],
)
def test_the_life_used_is_not_inverted(name: str, used: float | None) -> None:
    assert answer(name).facts.percentage_used == used


def test_half_filled_blocks_of_a_small_drive_are_doubted() -> None:
    (path,) = SAMPLES.rglob("*KINGSTON_SA400M8120G*.json")
    found = life_answer(read_snapshot(path))
    assert found.wa is not None
    assert verdict(found, "erases x capacity") == "doubt"


def ata_documents() -> list[Path]:
    return [
        path
        for path in sorted(SAMPLES.rglob("*.json"))
        if '"ata_smart_attributes"' in path.read_text()
    ]


@pytest.mark.parametrize("is_brief", [True, False])
def test_every_document_of_an_ata_drive_has_one_answer_as_json_and_as_text(
    *, is_brief: bool
) -> None:
    paths = ata_documents()
    assert len(paths) > 100
    for path in paths:
        log = json.loads(path.read_text())
        assert _said(text_of_ata(log, is_brief=is_brief)) == _said(log), path


def _said(document: Any) -> dict[str, Any]:
    found = answer_to(document)
    told = found.to_dict()
    return {
        key: told[key]
        for key in told
        # Hours stand in a log of their own in JSON, and in attribute 9 in text.
        if key not in {"source", "reason", "power_on_hours", "taken_at", "checks", "notes"}
    } | {"checks": [one for one in told["checks"] if one["name"] != "host against hours"]}
