"""The floors of the crates: imports that lead up and circles are found, and there are none."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from places import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from check_floors import complaints, crates_apart, imports_of, source_of

WORKSPACE = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))["workspace"]
FLOORS = WORKSPACE["metadata"]["floors"]

GOOD = {
    "lib.rs": "pub mod attic;\npub mod ground;\n",
    "attic/mod.rs": "mod shelf;\nuse crate::ground::{self, Stone};\n",
    "attic/shelf.rs": "use super::Attic;\n",
    "ground.rs": "#[cfg(test)]\nmod tests {\n    use crate::attic::Attic;\n}\n",
}


def crate(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.mark.parametrize("member", WORKSPACE["members"])
def test_every_room_imports_downwards(member: str) -> None:
    folder = ROOT / member
    assert complaints(folder.name, imports_of(source_of(folder)), FLOORS[folder.name]) == []


def test_every_crate_of_the_workspace_has_floors() -> None:
    assert crates_apart(WORKSPACE["members"], FLOORS) == []


def test_a_crate_without_floors_and_one_that_is_gone_are_found() -> None:
    assert crates_apart(["crates/attic", "crates/ground"], {"ground": [], "roof": []}) == [
        "attic: has no floors in Cargo.toml",
        "roof: is not in the workspace",
    ]


def test_tests_and_a_module_with_those_inside_it_may_know_each_other(tmp_path: Path) -> None:
    assert complaints("x", imports_of(crate(tmp_path, GOOD)), ["attic", "ground"]) == []


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        ({"ground.rs": "use crate::attic::Attic;"}, "x: ground imports attic, which is no floor"),
        ({"ground.rs": "fn f() -> crate::attic::Attic {}"}, "x: ground imports attic"),
        ({"ground.rs": "use super::{attic::{self}, lib};"}, "x: ground imports attic"),
        ({"ground.rs": "use crate::Stone;"}, "x: ground imports from the root"),
        ({"cellar.rs": "use crate::ground::Stone;"}, "room cellar is on no floor"),
        (
            {"attic/box.rs": "use super::shelf::A;", "attic/shelf.rs": "use crate::attic::box::B;"},
            "x: attic::box -> attic::shelf -> attic::box",
        ),
    ],
)
def test_what_leads_up_or_in_a_circle_is_found(
    files: dict[str, str], complaint: str, tmp_path: Path
) -> None:
    found = complaints("x", imports_of(crate(tmp_path, GOOD | files)), ["attic", "ground"])
    assert any(complaint in one for one in found), found


def test_a_room_that_is_gone_is_told(tmp_path: Path) -> None:
    found = complaints("x", imports_of(crate(tmp_path, GOOD)), ["roof", "attic", "ground"])
    assert found == ["x: there is no room roof"]
