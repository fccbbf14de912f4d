"""First lines of docstrings and doc comments: the house keeps the rule, faults are found."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from places import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from check_first_lines import MOST, complaints, fault_of, sources

MODULE = '"""Drives of a test."""\n'


def found_in(folder: Path, name: str, text: str) -> list[str]:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return list(complaints([path], folder))


def test_every_first_line_of_the_house_names_its_thing() -> None:
    assert list(complaints(sources())) == []


@pytest.mark.parametrize(
    ("name", "text", "place", "complaint"),
    [
        ("a.py", '"""How a drive ages."""\n', 1, "begins with 'How'"),
        ("a.py", f'{MODULE}def _f():\n    """Which page it is."""\n', 3, "begins with 'Which'"),
        ("a.py", f'{MODULE}def f():\n  def g():\n    """the same, twice"""\n', 4, "'the same'"),
        ("a.py", f'{MODULE}class C:\n    async def f():\n        """When."""\n', 4, "'When'"),
        ("a.py", f'{MODULE}class C:\n    """\n    Whoever waits.\n    """\n', 3, "'Whoever'"),
        ("a.pyi", f'{MODULE}class C:\n    """Those that wait."""\n', 3, "'Those that'"),
        ("a.py", f'"""{"x" * (MOST + 1)}\n\nShort.\n"""\n', 1, f"has {MOST + 1} characters"),
        ("a.py", '"""   """\n', 1, "is empty"),
        ("a.rs", "//! What a drive is.\n", 1, "begins with 'What'"),
        (
            "a.rs",
            "mod m {\n    fn f() {\n        /// Why.\n        fn g() {}\n    }\n}\n",
            3,
            "Why",
        ),
        ("a.rs", "macro_rules! m {\n    () => {\n        /// Where.\n    };\n}\n", 3, "'Where'"),
        (
            "a.rs",
            "struct S {\n    /// A page.\n    a: u8,\n    /// Who.\n    b: u8,\n}\n",
            4,
            "Who",
        ),
        ("a.rs", "enum E {\n    /// Someone asked.\n    A,\n}\n", 2, "'Someone'"),
        ("a.rs", "//! A file.\n/// Whose it is.\nfn f() {}\n", 2, "'Whose'"),
        ("a.rs", f"    /// {'é' * (MOST + 1)}\n", 1, f"has {MOST + 1} characters"),
    ],
)
def test_a_fault_is_found(name: str, text: str, place: int, complaint: str, tmp_path: Path) -> None:
    (found,) = found_in(tmp_path, name, text)
    assert found.startswith(f"{name}:{place}: the first line ")
    assert complaint in found


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", f"{MODULE}# What is no docstring.\n"),
        ("a.py", f'{MODULE}def f():\n    """Return `what` was asked, and who did."""\n'),
        ("a.py", f'{MODULE}def f():\n    return "What is it?"\n'),
        ("a.py", f'"""{"x" * MOST}\n\n{"y" * 99}\n"""\n'),
        ("a.py", '"""Drives.\n\nWhat they are.\n"""\n'),
        ("a.rs", "/// A page.\n/// What it holds, and where.\nfn f() {}\n"),
        ("a.rs", "//// What is no doc comment.\n// How neither.\nfn f() {}\n"),
        ("a.rs", f"        /// {'é' * MOST}\n"),
    ],
)
def test_a_clean_file_passes(name: str, text: str, tmp_path: Path) -> None:
    assert found_in(tmp_path, name, text) == []


@pytest.mark.parametrize(
    "line", ["Whereabouts of pages.", "Whole blocks.", "However many: all.", "Whom it serves."]
)
def test_words_that_only_begin_like_a_question_pass(line: str) -> None:
    assert fault_of(line) is None


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_sources_are_those_that_git_tracks_or_all_in_the_folders(tmp_path: Path) -> None:
    names = ("crates/a/src/lib.rs", "python/a.pyi", "tests/deep/a.py", "fuzz/target/b.rs", "x/c.py")
    for name in (*names, "scripts/notes.md"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    assert sources(tmp_path) == sorted(tmp_path / name for name in names[:3])
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "x/c.py", "tests"], cwd=tmp_path, check=True)
    assert sources(tmp_path) == [tmp_path / "tests/deep/a.py", tmp_path / "x/c.py"]
    (tmp_path / "x/c.py").unlink()
    assert sources(tmp_path) == [tmp_path / "tests/deep/a.py"]
