"""Check that first lines of docstrings and doc comments are short and name the object.

A first line has at most `MOST` characters, and does not begin like a question ("How a drive ages")
or with a pronoun ("Those that wait"). The rule also applies to private objects and tests. The
script prints each violation as `file:line: sentence`, and then exits with status 1.

Doc comments of Rust are found line by line by their marks, so that doc comments in macros are
included. Similar lines in multi-line strings are mistaken for doc comments.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Folders with sources, for trees without git, such as an unpacked sdist.
FOLDERS = ("crates", "python", "papers", "tests", "scripts", "benches", "examples", "fuzz")
PYTHON = {".py", ".pyi"}
SUFFIXES = PYTHON | {".rs"}

# Limit of characters in a first line, without indentation and mark.
MOST = 90
# Forbidden first words; whole words only, so that "Whereabouts" is allowed.
_QUESTION = re.compile(
    r"(?:What|Whatever|Which|Whichever|Who|Whoever|Whose|How|Where|Wherever|When|Whenever|Why"
    r"|The same|That which|Those (?:that|which|who)|Someone|Somebody)\b",
    re.IGNORECASE,
)
_DOC_COMMENT = re.compile(r"\s*(///(?!/)|//!)(.*)")
HAS_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def first_lines(text: str, suffix: str) -> Iterator[tuple[int, str]]:
    """Give number and text of the first line of each docstring or doc comment of a file."""
    return _of_python(text) if suffix in PYTHON else _of_rust(text)


def fault_of(line: str) -> str | None:
    """Return a sentence on the fault of a first line, or None."""
    if not line:
        return "the first line is empty; name the object"
    if begins := _QUESTION.match(line):
        return f"the first line begins with {begins[0]!r}; name the object: {line}"
    if len(line) > MOST:
        return f"the first line has {len(line)} characters; at most {MOST} are allowed: {line}"
    return None


def complaints(files: Iterable[Path], root: Path = ROOT) -> Iterator[str]:
    """Give a sentence for each first line that breaks the rule."""
    for path in files:
        for number, line in first_lines(path.read_text(encoding="utf-8"), path.suffix):
            if fault := fault_of(line):
                yield f"{path.relative_to(root).as_posix()}:{number}: {fault}"


def sources(root: Path = ROOT) -> list[Path]:
    """Return the files to check: tracked by git or, without git, all in `FOLDERS`."""
    if (root / ".git").exists() and (git := shutil.which("git")):
        patterns = [f"*{suffix}" for suffix in SUFFIXES]
        command = [git, "ls-files", "-z", "--", *patterns]
        tracked = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
        files = {root / name for name in tracked.stdout.split("\0") if name}
        # A tracked file may be deleted in the work tree.
        return sorted(path for path in files if path.is_file())
    every = (path for folder in FOLDERS for path in (root / folder).rglob("*"))
    return sorted(
        path
        for path in every
        if path.suffix in SUFFIXES and "target" not in path.relative_to(root).parts
    )


def _of_python(text: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, HAS_DOCSTRING) and (doc := ast.get_docstring(node)) is not None:
            yield node.body[0].lineno, doc.partition("\n")[0].rstrip()


def _of_rust(text: str) -> Iterator[tuple[int, str]]:
    mark_before = None
    for number, line in enumerate(text.splitlines(), start=1):
        match = _DOC_COMMENT.match(line)
        mark = match[1] if match else None
        if match and mark != mark_before:
            yield number, match[2].strip()
        mark_before = mark


def main() -> None:
    sentences = list(complaints(sources()))
    for complaint in sentences:
        print(complaint, file=sys.stderr)
    sys.exit(bool(sentences))


if __name__ == "__main__":
    main()
