"""Public texts of drives that were read wrongly once, each with its right answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from in_process import run
from places import ROOT

DRIVES = ROOT / "tests" / "data" / "cases" / "drives"
PARTIAL = [("12-sandisk-plus-openwrt.txt", 1.02), ("12b-smi-no-246.txt", 1.12)]


def json_of(verb: str, arguments: object) -> dict[str, Any]:
    ended = run(verb, f"{arguments} --json")
    assert ended.status == 0, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


def shown(verb: str, arguments: object) -> str:
    """Return what a verb prints, without the frames and the line breaks of tables."""
    return " ".join(run(verb, str(arguments)).out.replace("│", " ").split())


@pytest.mark.parametrize(("name", "wa_low"), PARTIAL)
def test_a_counter_of_a_part_of_the_flash_is_a_lower_bound(name: str, wa_low: float) -> None:
    fleet = json_of("measure fleet", DRIVES / name)
    for found in (json_of("measure counters", DRIVES / name), *fleet["drives"]):
        assert (found["class"], found["wa"], found["wa_high"]) == ("lower-bound", None, None)
        assert found["wa_low"] == pytest.approx(wa_low, abs=0.006)
        assert f"at least {wa_low}" in found["reason"]
    assert [(one["with_wa"], one["wa"]) for one in fleet["models"]] == [(0, None)]


def test_a_lower_bound_is_none_in_text_history_metrics_and_answers(tmp_path: Path) -> None:
    path = DRIVES / "12-sandisk-plus-openwrt.txt"
    for verb in ("measure counters", "doctor"):
        assert "at least 1.02" in shown(verb, path)
    db, metrics = tmp_path / "history.sqlite", tmp_path / "drive.prom"
    run("measure watch", f"{path} --db {db} --once")
    (kept,) = json_of("measure history", f"--db {db} --prometheus {metrics}")["drives"]
    assert kept["life"]["class"] == "lower-bound"
    assert "host_written_bytes{" in metrics.read_text()
    assert "write_amplification{" not in metrics.read_text()


def test_an_interval_and_a_life_by_a_counter_of_a_part_keep_the_bound(tmp_path: Path) -> None:
    later = tmp_path / "later.txt"
    text = (DRIVES / "12-sandisk-plus-openwrt.txt").read_text().replace("Apr 13", "May 13")
    text = (
        text.replace("136\n", "336\n")
        .replace("131\n", "231\n")
        .replace("-       9 20 9", "-       20")
    )
    later.write_text(text)
    both = f"{DRIVES / '12-sandisk-plus-openwrt.txt'} {later}"
    found = json_of("measure diff", both)
    assert (found["class"], found["wa"], found["wa_low"]) == ("lower-bound", None, 199 / 101)
    assert "at least 1.97" in shown("doctor", both)
