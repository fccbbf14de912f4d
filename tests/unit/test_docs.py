"""Pages of docs/ held to the code: versions, options, files and packages that they name."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import in_process
from places import ROOT
from writeamp.registry import engine_entries

PAGES = sorted([*(ROOT / "docs").glob("*.md"), *(ROOT / "papers/docs").glob("*.md")])
# Where the files are that the maps name.
SOURCES = ("crates", "python", "papers", "tests", "scripts", "docs")
# In names of files that readers write.
NEW = ("NAME", "fifo_skip")
# The verbs that have the options of the glossary.
OPTIONED = ("simulate", "endurance", "predict", "meanfield")


def test_the_page_of_placements_says_where_each_comes_from() -> None:
    page = (ROOT / "docs" / "placements.md").read_text("utf-8")
    sources = page[page.index("| name | source |") :].split("\n\n")[0]
    assert all(f"`{one.name}`" in sources for one in engine_entries("managers"))


# Pages whose first command needs what nobody can ship, or a file that stands above it on the page.
OF_THEIR_READERS = {"real-drives.md", "virtual-ssd-counters.md", "sweeps.md"}
INPUT = re.compile(r"\b[\w./-]+\.(?:csv|json|parquet|sqlite|toml|trace|txt|vcd)\b")
OUTPUT = re.compile(r"--(?:out|plot|save-config|rb-capture) \S+")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_begins_with_files_that_are_shipped(page: Path) -> None:
    if page.name in OF_THEIR_READERS:
        return
    first = re.search(r"^(?:\$ )?writeamp .*", page.read_text("utf-8"), re.MULTILINE)
    read = INPUT.findall(OUTPUT.sub("", first[0])) if first else []
    assert [name for name in read if not (ROOT / name).exists()] == []


def test_the_options_of_the_glossary_are_options() -> None:
    glossary = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    known = " ".join(in_process.run(verb, "--help").out for verb in OPTIONED)
    named = set(re.findall(r"--[a-z][a-z-]*[a-z]", glossary))
    assert named
    assert named <= set(re.findall(r"--[a-z][a-z-]*[a-z]", known))


def test_the_pages_name_the_oldest_rust_that_cargo_takes() -> None:
    package = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))["workspace"]["package"]
    oldest = package["rust-version"]
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        assert set(re.findall(r"\b1\.\d\d\b", page.read_text("utf-8"))) == {oldest}, page.name
    pinned = tomllib.loads((ROOT / "rust-toolchain.toml").read_text("utf-8"))["toolchain"]
    assert [int(part) for part in pinned["channel"].split(".")][:2] >= [
        int(part) for part in oldest.split(".")
    ]


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_the_files_that_a_map_names_exist(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    named = set(re.findall(r"`([\w./-]+\.(?:rs|py|pyi|toml|md))`", text))
    missing = [
        one
        for one in named
        if not any(new in one for new in NEW) and not any(holds(top, one) for top in SOURCES)
    ]
    assert named
    assert missing == []
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    assert [one for one in links if not (ROOT / one).exists()] == []


def holds(top: str, name: str) -> bool:
    """Return whether a file, named from a folder within, is in a folder of the repository."""
    return (ROOT / name).exists() or any((ROOT / top).rglob(name))


def test_the_map_has_every_package_of_the_core() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    head = "| package | responsible for | independent of |\n|---|---|---|\n| `__main__`"
    table = text[text.index(head) :]
    named = {
        name
        for row in table.split("\n\n")[0].splitlines()[2:]
        for name in re.findall(r"`(\w+)`", row.split("|")[1])
    }
    layers = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    [floors] = [
        one["layers"]
        for one in layers["tool"]["importlinter"]["contracts"]
        if one.get("containers") == ["writeamp"]
    ]
    parts = {"drives", "learn"}
    assert named == {room.strip() for floor in floors for room in floor.split("|")} - parts
