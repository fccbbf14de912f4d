"""The check of crates that the gate runs: licence expressions, and what it complains of."""

from __future__ import annotations

import sys

import pytest

from places import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from check_crates import built_in, complaints, permits

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
        ([GOOD | {"source": "git+https://example.org/itoa"}], ["comes from git"]),
        ([GOOD, GOOD | {"version": "0.9.0"}], ["itoa", "2 versions"]),
    ],
)
def test_every_crate_that_breaks_a_rule_is_named(
    packages: list[dict[str, str | None]], words: list[str]
) -> None:
    found = complaints(packages, ALLOWED)
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
