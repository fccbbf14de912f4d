"""Families of drives from a user's file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import in_process
from smart_documents import ata

MINE = """
[[family]]
name = "Mine"
models = '^ACME 1'
host = [{ id = 241, unit = "32 MiB" }]
flash = [{ id = 233, unit = "GiB" }]
source = "writeamp measure calibrate"
"""


def test_a_family_of_the_users_file_gives_wa_where_the_table_knows_no_unit(tmp_path: Path) -> None:
    drive = tmp_path / "drive.json"
    drive.write_text(json.dumps(ata("ACME 100", {241: 32_000, 233: 2_500})))
    families = tmp_path / "mine.toml"
    families.write_text(MINE)
    without = json.loads(in_process.run("measure counters", f"{drive} --json").out)
    assert without["wa"] is None
    assert "--families" in without["reason"]
    told = in_process.run("measure counters", f"{drive} --families {families} --json")
    assert json.loads(told.out)["wa"] == pytest.approx(2_500 / 1_000, rel=1e-3)
    again = json.loads(in_process.run("measure counters", f"{drive} --json").out)
    assert again["wa"] is None, "the file holds for one command"


def test_a_family_of_the_users_file_goes_before_that_of_the_table(tmp_path: Path) -> None:
    drive = tmp_path / "drive.json"
    drive.write_text(json.dumps(ata("CT500MX500SSD1", {241: 32_000, 233: 2_500, 246: 9, 247: 1})))
    families = tmp_path / "mine.toml"
    families.write_text(MINE.replace("^ACME 1", "^CT500MX500"))
    told = json.loads(
        in_process.run("measure counters", f"{drive} --families {families} --json").out
    )
    assert told["wa"] == pytest.approx(2.5, rel=1e-3)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (MINE.replace("source =", "sauce ="), "unknown key 'sauce'"),
        ("a = " + "[" * 5000, "nested too deeply"),
        (MINE.replace('name = "Mine"\n', ""), "family 1: lacks name"),
        (MINE.replace("'^ACME 1'", "'^ACME ('"), "no regular expression"),
        (MINE.replace("32 MiB", "33 MiB"), "unknown unit '33 MiB'"),
        (MINE.replace("id = 241", "id = 1000"), "1 to 255"),
        (MINE.replace("id = 241", "number = 241"), "such as { id"),
        (MINE.replace("[{ id = 241", "[7, { id = 241"), "such as { id"),
        (MINE.replace('"Mine"', "7"), "name must be text"),
        ("[family]\nname = 1\n", "[[family]] tables"),
        ("family = [", "cannot read the families"),
        ("", "[[family]] tables"),
    ],
)
def test_a_file_that_is_not_of_families_is_refused(tmp_path: Path, text: str, words: str) -> None:
    drive, families = tmp_path / "drive.json", tmp_path / "mine.toml"
    drive.write_text(json.dumps(ata("ACME 100", {241: 32_000})))
    families.write_text(text)
    assert words in in_process.refusal("measure counters", f"{drive} --families {families}")
