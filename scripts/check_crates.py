"""Check licences, sources and versions of the crates that are built in, against deny.toml.

The rules of `cargo deny` that matter most, for machines that do not have it: the gate is never
without them. It prints a line for each crate that breaks one, and then ends with status 1.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
REGISTRY = "rust-lang/crates.io-index"


def permits(expression: str, allowed: set[str]) -> bool:
    """Return whether a licence expression (SPDX, or the older form with slashes) can be met."""
    words = re.sub(r"\s+WITH\s+", "\0", expression.replace("/", " OR "))
    tokens = re.findall(r"[()]|[^\s()]+", words)

    def any_of() -> bool:
        met = all_of()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            met |= all_of()
        return met

    def all_of() -> bool:
        met = one()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            met &= one()
        return met

    def one() -> bool:
        if (token := tokens.pop(0)) != "(":
            return token.replace("\0", " WITH ") in allowed
        met = any_of()
        tokens.pop(0)
        return met

    return any_of()


def built_in(metadata: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the packages that the workspace's own need for more than their tests and benches."""
    needs = {
        node["id"]: [
            dependency["pkg"]
            for dependency in node["deps"]
            if any(kind["kind"] != "dev" for kind in dependency["dep_kinds"])
        ]
        for node in metadata["resolve"]["nodes"]
    }
    reached, waiting = set(), list(metadata["workspace_members"])
    while waiting:
        if (package := waiting.pop()) not in reached:
            reached.add(package)
            waiting += needs[package]
    return [package for package in metadata["packages"] if package["id"] in reached]


def complaints(packages: list[dict[str, Any]], allowed: set[str]) -> list[str]:
    """Return a sentence for every rule that a package breaks."""
    found = []
    outside = [package for package in packages if package["source"] is not None]
    for package in outside:
        name = f"{package['name']} {package['version']}"
        if not package["license"] or not permits(package["license"], allowed):
            found.append(f"{name}: its licence ({package['license']}) is not allowed by deny.toml")
        if not package["source"].endswith(REGISTRY):
            found.append(f"{name}: comes from {package['source']}, not from the crates' registry")
    for name, versions in Counter(package["name"] for package in outside).items():
        if versions > 1:
            found.append(f"{name}: {versions} versions of it are built in; one is enough")
    return found


def main() -> None:
    allowed = set(tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]["allow"])
    asked = ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features"]
    told = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = complaints(built_in(json.loads(told)), allowed)
    for complaint in found:
        print(complaint, file=sys.stderr)
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
