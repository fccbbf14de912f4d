"""Checks of the gate: licences of crates, floors of their rooms, and the form of long tests."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from forms import asks_for_the_whole
from places import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from check_crates import built_in, permits
from check_crates import complaints as crate_complaints
from check_floors import complaints as floor_complaints
from check_floors import crates_apart, imports_of, source_of

ALLOWED = {"MIT", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"}
GOOD = {
    "name": "itoa",
    "version": "1.0.0",
    "license": "MIT",
    "source": "registry+https://github.com/rust-lang/crates.io-index",
}


@pytest.mark.parametrize(
    ("expression", "permitted"),
    [
        ("MIT", True),
        ("GPL-3.0", False),
        ("GPL-3.0 OR MIT", True),
        ("Apache-2.0/MIT", True),
        ("MIT AND GPL-3.0", False),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", True),
        ("GPL-3.0 OR MIT AND Unicode-3.0", True),
        ("MIT AND (GPL-3.0 OR GPL-2.0)", False),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("MIT WITH LLVM-exception", False),
    ],
)
def test_a_licence_expression_is_met_by_the_allowed_ones_alone(
    expression: str, permitted: bool
) -> None:
    assert permits(expression, ALLOWED) is permitted


@pytest.mark.parametrize(
    ("packages", "words"),
    [
        ([GOOD], []),
        ([GOOD | {"source": None, "license": "secret"}], []),
        ([GOOD | {"license": "GPL-3.0"}], ["itoa 1.0.0", "GPL-3.0", "not allowed"]),
        ([GOOD | {"license": None}], ["not allowed"]),
        ([GOOD | {"source": "git+https://example.org/itoa"}], ["source is git"]),
        ([GOOD, GOOD | {"version": "0.9.0"}], ["itoa", "2 versions"]),
    ],
)
def test_every_crate_that_breaks_a_rule_is_named(
    packages: list[dict[str, str | None]], words: list[str]
) -> None:
    found = crate_complaints(packages, ALLOWED)
    assert len(found) == bool(words)
    for word in words:
        assert word in found[0]


def test_what_only_tests_and_benches_need_is_not_built_in() -> None:
    def needs(package: str, kinds: list[str | None]) -> dict[str, object]:
        return {"pkg": package, "dep_kinds": [{"kind": kind} for kind in kinds]}

    metadata = {
        "packages": [{"id": name} for name in ("ours", "libm", "cc", "criterion", "regex")],
        "workspace_members": ["ours"],
        "resolve": {
            "nodes": [
                {
                    "id": "ours",
                    "deps": [
                        needs("libm", [None, "dev"]),
                        needs("cc", ["build"]),
                        needs("criterion", ["dev"]),
                    ],
                },
                {"id": "criterion", "deps": [needs("regex", [None])]},
                {"id": "libm", "deps": []},
                {"id": "cc", "deps": []},
                {"id": "regex", "deps": []},
            ]
        },
    }
    assert [package["id"] for package in built_in(metadata)] == ["ours", "libm", "cc"]


WORKSPACE = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))["workspace"]
FLOORS = WORKSPACE["metadata"]["floors"]

ROOMS = {
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
    assert floor_complaints(folder.name, imports_of(source_of(folder)), FLOORS[folder.name]) == []


def test_every_crate_of_the_workspace_has_floors() -> None:
    assert crates_apart(WORKSPACE["members"], FLOORS) == []


def test_a_crate_without_floors_and_one_that_is_gone_are_found() -> None:
    assert crates_apart(["crates/attic", "crates/ground"], {"ground": [], "roof": []}) == [
        "attic: has no layers in Cargo.toml",
        "roof: is not in the workspace",
    ]


def test_tests_and_a_module_with_those_inside_it_may_know_each_other(tmp_path: Path) -> None:
    assert floor_complaints("x", imports_of(crate(tmp_path, ROOMS)), ["attic", "ground"]) == []


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        (
            {"ground.rs": "use crate::attic::Attic;"},
            "x: ground imports attic, which is not in a lower layer",
        ),
        ({"ground.rs": "fn f() -> crate::attic::Attic {}"}, "x: ground imports attic"),
        ({"ground.rs": "use super::{attic::{self}, lib};"}, "x: ground imports attic"),
        ({"ground.rs": "use crate::Stone;"}, "x: ground imports from the root"),
        ({"cellar.rs": "use crate::ground::Stone;"}, "module cellar has no layer"),
        (
            {"attic/box.rs": "use super::shelf::A;", "attic/shelf.rs": "use crate::attic::box::B;"},
            "x: attic::box -> attic::shelf -> attic::box",
        ),
    ],
)
def test_what_leads_up_or_in_a_circle_is_found(
    files: dict[str, str], complaint: str, tmp_path: Path
) -> None:
    found = floor_complaints("x", imports_of(crate(tmp_path, ROOMS | files)), ["attic", "ground"])
    assert any(complaint in one for one in found), found


def test_a_room_that_is_gone_is_told(tmp_path: Path) -> None:
    found = floor_complaints("x", imports_of(crate(tmp_path, ROOMS)), ["roof", "attic", "ground"])
    assert found == ["x: module roof does not exist"]


@pytest.mark.parametrize(
    ("value", "is_whole"),
    [(None, False), ("", False), ("0", False), ("1", True), ("yes", True), ("00", True)],
)
def test_anything_but_nothing_and_zero_asks_for_the_long_form(
    value: str | None, is_whole: bool
) -> None:
    assert asks_for_the_whole(value) is is_whole
