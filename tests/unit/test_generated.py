"""Generated files are those that `make generate` writes, and their tables are on some page."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from places import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from generate import GENERATORS, missing, stale
from page_tables import TABLE, TABLES

TABLE_MARK = "<!-- table of "


@pytest.mark.parametrize("name", GENERATORS)
def test_a_generated_file_is_as_its_source_has_it(name: str) -> None:
    if program := missing(name):
        pytest.skip(f"{program} is not installed")
    texts = GENERATORS[name]()
    assert texts
    assert [str(path.relative_to(ROOT)) for path in stale(texts)] == [], "run make generate"


def test_a_file_that_is_missing_or_differs_is_stale(tmp_path: Path) -> None:
    same, other, absent = (tmp_path / name for name in ("same", "other", "absent"))
    same.write_text("one\n", "utf-8")
    other.write_text("one", "utf-8")
    assert stale(dict.fromkeys((same, other, absent), "one\n")) == [other, absent]


def test_every_table_stands_on_a_page_between_two_marks() -> None:
    texts = [page.read_text("utf-8") for page in (ROOT / "docs").glob("*.md")]
    found = [mark[2] for text in texts for mark in TABLE.finditer(text)]
    assert len(found) == sum(text.count(TABLE_MARK) for text in texts)
    assert set(found) == set(TABLES)
