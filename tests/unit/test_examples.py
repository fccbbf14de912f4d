"""`writeamp examples`: copies of the shipped files, in a clone and from a wheel."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import writeamp
from in_process import document, refusal, run
from writeamp.files import examples

ROOT = Path(__file__).parents[2]


def test_every_example_is_copied_with_a_line_on_it(tmp_path: Path) -> None:
    folder = tmp_path / "examples"
    done = run("examples", str(folder))
    assert (done.status, done.err) == (0, "")
    shipped = [path for path in (ROOT / "examples").rglob("*") if path.is_file()]
    names = {str(path.relative_to(ROOT)) for path in shipped if "__pycache__" not in path.parts}
    assert {
        str(path.relative_to(tmp_path)) for path in folder.rglob("*") if path.is_file()
    } == names
    first, *lines = done.out.splitlines()
    assert first == f"{len(names)} files were written to {folder}."
    assert len(lines) == len(names)
    assert all(": " in line for line in lines)
    copy = folder / "sqlite-upserts.parquet"
    assert copy.read_bytes() == (ROOT / "examples" / copy.name).read_bytes()
    assert document("examples", str(folder))["files"][0]["written"] is False


def test_a_file_that_differs_is_kept_and_nothing_is_written(tmp_path: Path) -> None:
    own = tmp_path / "op_by_manager.toml"
    own.write_text("mine", "utf-8")
    refusal("examples", str(tmp_path), str(own), "exists and differs", "another folder")
    assert [own] == list(tmp_path.iterdir())
    refusal("examples", str(own), "Not a directory")


def test_an_installed_package_has_the_examples_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "writeamp"
    package.mkdir(parents=True)
    monkeypatch.setattr(writeamp, "__file__", str(package / "__init__.py"))
    with pytest.raises(writeamp.WriteampError, match="has no examples"):
        examples.examples_folder()
    shutil.copytree(ROOT / "examples", package / "_examples")
    assert len(examples.copy_examples(tmp_path / "copy")) > 20
