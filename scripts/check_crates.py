"""Check licences, sources and versions of linked crates against deny.toml.

These are the most important rules of `cargo deny`, for machines without it. The script prints a
line for each violation, and then exits with status 1.
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
    """Return whether allowed licences satisfy an expression (SPDX, or older, with slashes)."""
    words = re.sub(r"\s+WITH\s+", "\0", expression.replace("/", " OR "))
    tokens = re.findall(r"[()]|[^\s()]+", words)

    def any_of() -> bool:
        met = all_of()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            met |= all_of()
        return met

    def all_of() -> bool:
        met = term()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            met &= term()
        return met

    def term() -> bool:
        if (token := tokens.pop(0)) != "(":
            return token.replace("\0", " WITH ") in allowed
        met = any_of()
        tokens.pop(0)
        return met

    return any_of()


def built_in(metadata: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the packages that the workspace needs, without those for tests and benches only."""
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
    """Return a sentence for each rule that a package breaks."""
    sentences = []
    outside = [package for package in packages if package["source"] is not None]
    for package in outside:
        name = f"{package['name']} {package['version']}"
        if not package["license"] or not permits(package["license"], allowed):
            sentences.append(f"{name}: licence {package['license']} is not allowed by deny.toml")
        if not package["source"].endswith(REGISTRY):
            sentences.append(f"{name}: source is {package['source']}; use the crates.io registry")
    for name, versions in Counter(package["name"] for package in outside).items():
        if versions > 1:
            sentences.append(f"{name}: {versions} versions are linked; use one")
    return sentences


def main() -> None:
    allowed = set(tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]["allow"])
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features"]
    metadata = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    sentences = complaints(built_in(json.loads(metadata)), allowed)
    for complaint in sentences:
        print(complaint, file=sys.stderr)
    sys.exit(bool(sentences))


if __name__ == "__main__":
    main()
