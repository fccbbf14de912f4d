"""Write CITATION.cff, for code hosts and reference managers, from `writeamp.citations`."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from repository_links import ROOT, repository

from writeamp.citations import AUTHOR, PAPERS, TITLE, CitedPaper

MESSAGE = (
    "If you use writeamp, cite it, and the papers behind the verbs that you use: `writeamp --cite` "
    "prints both."
)


def generated() -> dict[Path, str]:
    """Return the file with its text: YAML whose texts are quoted as in JSON."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    crates = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))["workspace"]["package"]
    document = {
        "cff-version": "1.2.0",
        "message": MESSAGE,
        "type": "software",
        "title": TITLE,
        "authors": [{"name": AUTHOR}],
        "version": crates["version"],
        "license": project["license"].split(" OR "),
        "repository-code": repository(),
        "keywords": project["keywords"],
        "references": [_reference(paper) for paper in PAPERS],
    }
    lines = "".join(f"{key}:{_yaml(value)}\n" for key, value in document.items())
    return {ROOT / "CITATION.cff": lines}


def _reference(paper: CitedPaper) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "type": "conference-paper" if paper.published_in else "article",
        "title": paper.title,
        "authors": [
            {"given-names": first, "family-names": family} for first, family in paper.authors
        ],
        "year": paper.year,
    }
    if paper.published_in:
        fields["collection-title"] = paper.published_in
    if paper.pages:
        fields["start"], fields["end"] = paper.pages.split("-")
    if paper.doi:
        fields["doi"] = paper.doi
    if paper.arxiv:
        fields["url"] = f"https://arxiv.org/abs/{paper.arxiv}"
    return fields


def _yaml(value: Any) -> str:
    """Return what follows a key: a text on its line, or the items of a list on lines below."""
    if not isinstance(value, list):
        return f" {json.dumps(value)}"
    return "".join(f"\n  - {_item(item)}" for item in value)


def _item(item: Any) -> str:
    if not isinstance(item, dict):
        return json.dumps(item)
    return "\n    ".join(f"{key}: {json.dumps(value)}" for key, value in item.items())
